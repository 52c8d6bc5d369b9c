// How many nodes the network has, estimated from how dense the ends of our own lookups are, and
// whether a key is under attack.
//
// If the k nearest nodes to a random point reach as far as the share r of the space, the network
// has about (k - 1) / r nodes. One estimate is off by a quarter, and the test below by a factor of
// four; so few samples suffice, and a network that grows is measured soon. [An attacker that makes
// ids close to one key makes that place look denser. So only lookups of points that we drew
// ourselves are counted, and a key whose neighbourhood is far denser is under attack.]
//
// Promises:
//   N1 nodes() is the median of the last kSamples estimates, or the floor if that is larger.
//   N2 IsTooDense is true for a neighbourhood of kNearest nodes where fewer than kExpected should
//   be:
//      by chance once in 200,000 keys.
//
// May not know: addresses, messages.
// Memory: kSamples numbers.
// What an attacker can do here: colluders that answer only with each other make the network look
// smaller by their share, which makes IsTooDense true less often. Real nodes beyond a share that
// breaks lookups anyway are needed to hide an attack.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "crypto/hash_into.h"
#include "dht/wire/ids.h"

namespace ostraka::dht {

class NetworkSize {
 public:
  static constexpr std::size_t kNearest = 16;
  static constexpr std::size_t kSamples = 3;
  static constexpr double kExpected = 4;

  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, samples_, next_, floor_); }

  // The end of a lookup of `target`, a point that we drew. `nearest`: the live nodes found, nearest
  // first, at most kNearest.
  void Add(const Digest& target, const std::vector<Digest>& nearest) {
    if (nearest.empty()) return;
    double nodes = static_cast<double>(nearest.size());  // all there are
    if (nearest.size() >= kNearest) {
      nodes = static_cast<double>(kNearest - 1) / ShareWithin(target, nearest[kNearest - 1]);
    }
    if (samples_.size() < kSamples) {
      samples_.push_back(nodes);
    } else {
      samples_[next_] = nodes;
      next_ = (next_ + 1) % kSamples;
    }
  }

  // At least so many nodes are known.
  void SetFloor(std::size_t known) { floor_ = static_cast<double>(known); }

  double nodes() const {
    if (samples_.empty()) return floor_;
    std::vector<double> sorted = samples_;
    std::sort(sorted.begin(), sorted.end());
    return std::max(floor_, sorted[sorted.size() / 2]);
  }

  bool IsTooDense(const Digest& key, const std::vector<Digest>& nearest) const {
    if (nearest.size() < kNearest) return false;
    return nodes() * ShareWithin(key, nearest[kNearest - 1]) < kExpected;
  }

  // The distance (its top 64 bits) that should hold kNearest nodes.
  std::uint64_t Radius() const {
    const double share = static_cast<double>(kNearest) / std::max(nodes(), 1.0);
    return share >= 1 ? UINT64_MAX : static_cast<std::uint64_t>(share * kSpace);
  }

 private:
  static constexpr double kSpace = 18446744073709551616.0;  // 2^64
  static double ShareWithin(const Digest& center, const Digest& edge) {
    return (static_cast<double>(TopDistance(center, edge)) + 1) / kSpace;
  }

  std::vector<double> samples_;
  std::size_t next_ = 0;
  double floor_ = 0;
};

}  // namespace ostraka::dht
