// How long after its own ECHO a member has a quorum of them, over its last seals: what it states in
// PROOF::lag_us, of which Delta is four times (NextDelta).
//
// Only a seal that its ECHOs decide says how long messages take. From each the lag of the slowest
// member that a quorum needs counts: t_s members may be slow at will.
// A lag counts as Delta / 2 at most, so one seal doubles Delta and no more. A longer one is an
// outage; a network that is slower for good doubles Delta step by step [an outage of 7 s made Delta
// 28 s for thirty steps, in which a member could be 90 s late in each seal and was charged 5 s
// (swarm seed 40965)].
//
// Memory: kLagsKept numbers. Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::protocol {

class EchoLags {
 public:
  static constexpr std::size_t kLagsKept = 100;

  // A seal was decided by equal ECHOs; how long after the own one each other member's came.
  // Nothing is noted if fewer came than a quorum needs beside the own one.
  void Note(const std::map<base::PeerId, base::Duration>& lags, std::size_t quorum,
            base::Duration delta);
  // p99 of those kept, by nearest rank, in microseconds; nullopt if there are none.
  std::optional<std::uint64_t> Microseconds() const;

 private:
  std::deque<std::uint64_t> kept_;  // oldest first
};

}  // namespace ostraka::protocol
