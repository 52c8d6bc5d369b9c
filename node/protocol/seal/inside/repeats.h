// When a member sends its own CLOSE or STATUS again, and whether it gets help (docs/seal.md, 3 and
// 6).
//
// While too few members have sent theirs, the own frame may have been lost: it is repeated once a
// step. Seen: a member that was killed in a seal and came back into its second iteration waited
// there for ever; the run had gone on without it, and nobody answered its STATUS. So with a repeat
// the owner also asks the others for their newest block ("unhelped").
//
// Promises [C: CHECKed]:
//   W1  Two repeats are at least a step apart, the first is a step after the wait began. [C: a
//       repeat was due]
//   W2  alone() is true from the first repeat of a wait to its end. (It is the count of repeats.)
//   W3  Every repeat of a STATUS counts as unhelped. Of a CLOSE they become rarer: the 1st, 2nd,
//       4th, 8th, 16th, and from there every 16th. Rationale: the gate may stay shut for all
//       members until the deadline of the phase.
//
// May not know: frames, members, what it waits for, except whether that is CLOSEs or STATUSes.
//
// Memory: two numbers.
//
// What an attacker can do here: withhold CLOSE or STATUS, and so make a member repeat its own.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>

#include "crypto/hash_into.h"
#include "node/base/time.h"

namespace ostraka::protocol {

class SealRepeats {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // This member has waited for a quorum since `began`. Returns true if the own frame is due again;
  // the next time is then `step` later.
  bool TakeDue(base::Time now, base::Time began, base::Duration step);
  // Record one resend. Returns true if it counts towards alone().
  bool OnRepeat(bool close);
  // The wait has ended, or another one begins.
  void Stop();

  bool alone() const { return count_ > 0; }
  std::optional<base::Time> next() const { return next_; }

 private:
  std::optional<base::Time> next_;
  std::uint32_t count_ = 0;
};

}  // namespace ostraka::protocol
