// The schedule of a seal's slow path: iterations of four steps, their leaders, and two rules that
// bring members together again that have drifted apart.
//
// In a timely network equal step lengths suffice: members pass the gate (seal_gate.h) within
// Delta/4 of each other and keep that distance. After a partition they may be anywhere, so:
//   - STATUS lasts until Q members are seen in this iteration or a later one, and then long enough
//     to hear them all. No member runs ahead alone.
//   - A member that sees more members ahead than can be faulty enters their iteration at once
//     (Enter; the caller counts). No member stays behind.
// In a timely network neither rule has an effect: all honest STATUSes come within 5/4 Delta, and
// the members ahead are ahead by at most Delta.
//
// Promises [C: CHECKed]:
//   T1  The iteration never falls. [C]
//   T2  It is 0 in kEchoed and kClosed, and at least 1 from kStatus to kLock. [C]
//   T3  The schedule never shifts: each step begins when the one before was due, not when the timer
//       fired. After a late timer (a suspended process, a busy machine) a VOTE or LOCK is not sent
//       when others no longer wait for it (IsLate). STATUS, PROPOSE and CLOSE are sent however
//       late: they are true at any time and certify nothing. Others wait for a STATUS and a CLOSE
//       without end, and a PROPOSE counts only for members that it reaches before they vote.
//
// May not know: messages, members, the gate.
//
// Memory: a few numbers.
//
// What an attacker can do here: nothing by itself. The owner counts members before Gathered and
// Enter.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/time.h"
#include "node/protocol/seal/seal_io.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

// Step length of iteration k >= 1: 2 Delta, doubled from k = 3 on, at most kMaxStep (but never less
// than 2 Delta).
inline constexpr base::Duration kMaxStep = base::Seconds(30);
base::Duration StepLength(base::Duration delta, std::uint32_t iteration);
// Four steps: STATUS, PROPOSE, VOTE, LOCK.
base::Duration IterationLength(base::Duration delta, std::uint32_t iteration);
// From the gate to STATUS of iteration 1. A STATUS that waited for a quorum lasts that much less
// than a step after it came: enough to hear all.
base::Duration RestLength(base::Duration delta);

// A permutation of `unmuted`, drawn from `seed`, phase and draw. Iteration k >= 1 is led by
// leaders[(k - 1) mod size].
std::vector<PeerId> LeadersOf(const Digest& seed, const wire::Slot& seal_slot,
                              const std::vector<PeerId>& unmuted);

class SealClock {
 public:
  // kEchoed: until CLOSE is due. kClosed: until the gate is passed. kRest: from the gate to the
  // first iteration; after a restart, until the iteration of the last own message would be over.
  enum class Step : std::uint8_t {
    kIdle,
    kEchoed,
    kClosed,
    kRest,
    kStatus,
    kPropose,
    kVote,
    kLock,
  };

  explicit SealClock(base::Duration delta) : delta_(delta) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // The own ECHO is sent now, and CLOSE is due at `close`. Ignored unless the clock is idle.
  void Echoed(base::Time now, CloseTime close);
  // The own CLOSE was sent before a restart. Ignored in kRest and later.
  void Closed(base::Time now);
  // The gate is passed: STATUS of iteration 1 begins 3/2 Delta later. Ignored in an iteration.
  void Passed(base::Time now);
  // Skips all steps up to `iteration`; the next iteration begins at `until` or with Enter.
  // REQUIRES: `iteration` is not before the current one.
  void Rest(std::uint32_t iteration, base::Time until);
  // Begins STATUS of `iteration`. REQUIRES: `iteration` is later than the current one.
  void Enter(std::uint32_t iteration, base::Time now);
  // Q members are in the current iteration or a later one. Only the first call in a STATUS counts.
  void Gathered(base::Time now);
  // If the current step is over by `now`: begins the next one as of the time it was due, and
  // returns true.
  bool Advance(base::Time now);
  // The current step began more than Delta/2 ago: its VOTE or LOCK would arrive after others have
  // stopped waiting for it, so it must not be sent.
  bool IsLate(base::Time now) const;
  void Stop() { step_ = Step::kIdle; }

  Step step() const { return step_; }
  std::uint32_t iteration() const { return iteration_; }
  // When the current step began; in kRest: when it ends.
  base::Time began() const { return began_; }
  bool gathered() const { return gathered_.has_value(); }
  // End of the current step; nullopt: idle, closed, or in STATUS until Gathered.
  std::optional<base::Time> due() const;

  void CheckInvariants() const;  // aborts if K2 is broken

 private:
  void Begin(Step step, base::Time now);

  base::Duration delta_;
  Step step_ = Step::kIdle;
  std::uint32_t iteration_ = 0;
  base::Time began_;
  base::Time until_;  // kEchoed, kRest: when they end
  std::optional<base::Time> gathered_;
};

}  // namespace ostraka::protocol
