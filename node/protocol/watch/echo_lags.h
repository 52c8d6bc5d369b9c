// The time from a member's own ECHO until it holds a quorum of ECHOs, over its last seals. The
// member states it in PROOF::lag_us; Delta is four times the sealed lag (NextDelta).
//
// Only a seal that was decided by its ECHOs measures message delays. It counts with the lag of the
// slowest member that a quorum needs, as up to t_s members may be slow at will.
//
// Promises [C: CHECKed]:
//   L1  At most kLagsKept lags are kept, the newest ones. [C]
//   L2  A lag counts as at most Delta / 2, so one seal at most doubles Delta. A longer lag is an
//       outage; in a network that became slower for good Delta doubles step by step. Rationale: an
//       outage of 7 s made Delta 28 s for thirty steps, in which a member could be 90 s late in
//       each seal and was charged 5 s (swarm seed 40965).
//
// May not know: seals, messages, what Delta follows.
//
// Memory: kLagsKept numbers.
//
// What an attacker can do here: t_s slow members change nothing; a seal that they make slow is not
// noted.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "crypto/hash_into.h"
#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::protocol {

class EchoLags {
 public:
  static constexpr std::size_t kLagsKept = 100;

  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // A seal was decided by equal ECHOs. `lags`: how long after the own ECHO that of each other
  // member came. Notes nothing if these and the own ECHO are no quorum.
  void Note(const std::map<base::PeerId, base::Duration>& lags, std::size_t quorum,
            base::Duration delta);
  // The 99th percentile of the kept lags, by nearest rank, in microseconds; nullopt without lags.
  std::optional<std::uint64_t> Microseconds() const;
  void CheckInvariants() const;  // aborts if L1 is broken

 private:
  std::deque<std::uint64_t> kept_;  // oldest first
};

}  // namespace ostraka::protocol
