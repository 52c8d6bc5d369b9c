// When a seal's slow path does what: iterations of four steps, who leads them, and how members that
// fell out of step come together again.
//
// Timely networks need no more than equal step lengths: members pass the gate (seal_gate.h) within
// Delta/4 of each other and stay so. After a partition they may be anywhere, so two rules bring
// them together:
//   - STATUS lasts until Q members are seen in this iteration or a later one, and then long enough
//     for them all to be heard. So nobody runs ahead alone.
//   - who sees more members ahead than can be faulty enters their iteration at once (Enter; the
//     caller counts). So nobody stays behind.
// In a timely network neither changes anything: all honest STATUSes come within 5/4 Delta, and the
// members ahead are ahead by at most Delta.
//
// The schedule never shifts: a timer that comes late (a process that was suspended, a busy machine)
// makes the member skip words, not say them later than the others count on (IsLate).
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "node/base/time.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

// Step length of iteration k >= 1: 2 Delta, doubled from k = 3 on, at most kMaxStep (but never less
// than 2 Delta).
inline constexpr base::Duration kMaxStep = base::Seconds(30);
base::Duration StepLength(base::Duration delta, std::uint32_t iteration);

// Who leads iteration k >= 1: leaders[(k - 1) mod size]. A permutation of the members that are not
// asleep, drawn from `seed`, phase and draw.
std::vector<PeerId> LeadersOf(const Digest& seed, const wire::Slot& seal_slot,
                              const std::vector<PeerId>& awake);

class SealClock {
 public:
  // kEchoed: until it is time to close. kClosed: until the gate is passed. kRest: from the gate to
  // the first iteration, or after a restart until the iteration spoken in is over.
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

  // The own ECHO is said: CLOSE is due 2 Delta later. Ignored unless the clock is idle.
  void Echoed(base::Time now);
  // The own CLOSE was said before a restart. Ignored after the gate.
  void Closed(base::Time now);
  // The gate is passed: STATUS of iteration 1 begins 3/2 Delta later. Ignored in an iteration.
  void Passed(base::Time now);
  // No step of `iteration` or before; the next one begins at `until` (or when Enter says so).
  void Rest(std::uint32_t iteration, base::Time until);
  // Begins STATUS of `iteration`. REQUIRES: it is later than the current one.
  void Enter(std::uint32_t iteration, base::Time now);
  // Q members are in the current iteration or a later one. Only the first call counts.
  void Gathered(base::Time now);
  // If the current step is over by `now`, begins the next one, at the time at which it was due, and
  // returns true.
  bool Advance(base::Time now);
  // The current step began so long ago that its word would come when others do not wait for it any
  // more: a VOTE or LOCK must not be said now.
  bool IsLate(base::Time now) const;
  void Stop() { step_ = Step::kIdle; }

  Step step() const { return step_; }
  std::uint32_t iteration() const { return iteration_; }
  base::Time began() const { return began_; }
  bool gathered() const { return gathered_.has_value(); }
  // End of the current step; nullopt: idle, closed, or in STATUS until Gathered.
  std::optional<base::Time> due() const;

 private:
  void Begin(Step step, base::Time now);

  base::Duration delta_;
  Step step_ = Step::kIdle;
  std::uint32_t iteration_ = 0;
  base::Time began_;
  base::Time rest_until_;
  std::optional<base::Time> gathered_;
};

}  // namespace ostraka::protocol
