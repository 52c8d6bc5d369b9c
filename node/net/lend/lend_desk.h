// Which of the chunks that members ask this node for it lends (node/net/records/data_records.h).
//
// Promises:
//   D1  Of a member kAsksASecond questions a second are heard, after a burst of kAsksAtOnce; others
//       are not even answered.
//   D2  All members together borrow the rate, after a burst of kBurstSeconds of it and a chunk; one
//       of them a quarter of that.
//   D3  At most kMostBytes, or kMostChunks where that is more, are on their way at a time.
//
// May not know: links, disks, clocks.
// Memory: an entry for each member that has asked, until Forget.
// What an attacker can do here: as a member, borrow a quarter of the rate and nothing with it, so
// that others borrow less and ask the sources.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/net/records/token_bucket.h"

namespace ostraka::net {

class LendDesk {
 public:
  static constexpr double kAsksASecond = 32;
  static constexpr double kAsksAtOnce = 256;
  // Short: what is lent should come within the borrower's patience (chunk_exchange.h).
  static constexpr double kBurstSeconds = 1;
  static constexpr int kShareOneIn = 4;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20;
  static constexpr std::uint64_t kMostChunks = 4;

  // REQUIRES: bytes_per_second > 0.
  explicit LendDesk(std::uint64_t bytes_per_second)
      : rate_(static_cast<double>(bytes_per_second)), all_(rate_, rate_ * kBurstSeconds) {}

  // `peer` asks something.
  bool Hears(base::Time now, const base::PeerId& peer);
  // Whether Lends would say yes. REQUIRES: bytes > 0.
  bool WouldLend(base::Time now, const base::PeerId& peer, std::uint64_t bytes,
                 std::uint64_t on_their_way);
  // `peer` asks for `bytes`, while `on_their_way` are. True: it gets them, now. REQUIRES: bytes >
  // 0.
  bool Lends(base::Time now, const base::PeerId& peer, std::uint64_t bytes,
             std::uint64_t on_their_way);
  // It did not get them after all.
  void TakeBack(const base::PeerId& peer, std::uint64_t bytes);
  // It is no member any more.
  void Forget(const base::PeerId& peer) { askers_.erase(peer); }

 private:
  struct Asker {
    TokenBucket asks{kAsksASecond, kAsksAtOnce};
    TokenBucket bytes;
  };
  Asker& Of(const base::PeerId& peer);

  const double rate_;
  TokenBucket all_;
  std::map<base::PeerId, Asker> askers_;
};

}  // namespace ostraka::net
