// This node's own address as others see it: the last word of each of the last kMost answerers, one
// a prefix, and what most of them say.
//
// Promises:
//   O1  At most kMost votes, one of a narrow prefix, so that many nodes of one owner are one vote.
//   O2  `agreed` names at most one endpoint of IPv6 and one of IPv4, each the word of more than
//       half of the votes of its family. Ports do not count: a NAT gives each flow another.
//
// May not know: datagrams, keys, who is in the table.
// Memory: kMost votes.
// What an attacker can do here: answer from more than half of the prefixes that this node asked of
// late; then the node announces an address that is not its own, which costs others a dial.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "dht/wire/endpoint.h"
#include "node/base/check.h"

namespace ostraka::dht {

class Vantage {
 public:
  static constexpr std::size_t kMost = 16;

  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, votes_); }

  // `from` has answered, and says that our query came from `seen`.
  void OnAnswer(const Endpoint& from, const Endpoint& seen) {
    const Prefix voter = NarrowPrefix(from);
    std::erase_if(votes_, [&](const Vote& vote) {
      return vote.voter == voter && vote.seen.IsV4() == seen.IsV4();
    });
    if (votes_.size() == kMost) votes_.erase(votes_.begin());
    votes_.push_back({voter, seen});
    CheckInvariants();
  }

  // Of the last answer; kPublic before the first. What others may be told depends on it.
  Scope scope() const { return votes_.empty() ? Scope::kPublic : ScopeOf(votes_.back().seen); }

  // By O2, IPv6 first.
  std::vector<Endpoint> agreed() const {
    std::vector<Endpoint> endpoints;
    for (const bool v4 : {false, true}) {
      if (const auto endpoint = Majority(v4)) endpoints.push_back(*endpoint);
    }
    return endpoints;
  }

  void CheckInvariants() const {
    OSTRAKA_CHECK(votes_.size() <= kMost);  // O1
  }

 private:
  struct Vote {
    Prefix voter;
    Endpoint seen;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, voter, seen); }
  };

  std::optional<Endpoint> Majority(bool v4) const {
    std::size_t voters = 0;
    for (const Vote& vote : votes_) voters += vote.seen.IsV4() == v4 ? 1 : 0;
    // The newest of those that agree: its port is the one that is open now.
    for (auto vote = votes_.rbegin(); vote != votes_.rend(); ++vote) {
      if (vote->seen.IsV4() != v4) continue;
      const auto agree = std::count_if(votes_.begin(), votes_.end(), [&vote](const Vote& other) {
        return other.seen.address == vote->seen.address;
      });
      if (static_cast<std::size_t>(agree) * 2 > voters) return vote->seen;
    }
    return std::nullopt;
  }

  std::vector<Vote> votes_;  // oldest first
};

}  // namespace ostraka::dht
