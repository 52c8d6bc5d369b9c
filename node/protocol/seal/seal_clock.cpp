#include "node/protocol/seal/seal_clock.h"

#include <algorithm>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::protocol {

base::Duration StepLength(base::Duration delta, std::uint32_t iteration) {
  const base::Duration shortest = delta * 2;
  base::Duration length = shortest;
  for (std::uint32_t k = 3; k <= iteration && length < kMaxStep; ++k) length = length * 2;
  return std::max(shortest, std::min(length, kMaxStep));
}

base::Duration IterationLength(base::Duration delta, std::uint32_t iteration) {
  return StepLength(delta, iteration) * 4;
}

base::Duration RestLength(base::Duration delta) { return {delta.ns * 3 / 2}; }

std::vector<PeerId> LeadersOf(const Digest& seed, const wire::Slot& seal_slot,
                              const std::vector<PeerId>& unmuted) {
  const Digest key = crypto::Hasher(crypto::kDomainLeaders)
                         .Update(seed)
                         .UpdateU64(static_cast<std::uint64_t>(seal_slot.phase))
                         .UpdateU64(seal_slot.draw)
                         .Finish();
  crypto::Stream stream("seal leaders", key);
  std::vector<PeerId> leaders;
  leaders.reserve(unmuted.size());
  for (const std::uint32_t i : stream.Permutation(static_cast<std::uint32_t>(unmuted.size()))) {
    leaders.push_back(unmuted[i]);
  }
  return leaders;
}

void SealClock::Begin(Step step, base::Time now) {
  step_ = step;
  began_ = now;
  CheckInvariants();
}

void SealClock::CheckInvariants() const {
  const bool before = step_ == Step::kEchoed || step_ == Step::kClosed;
  OSTRAKA_CHECK(!before || iteration_ == 0);
  OSTRAKA_CHECK(step_ < Step::kStatus || iteration_ > 0);
}

void SealClock::Echoed(base::Time now, CloseTime close) {
  if (step_ != Step::kIdle) return;
  until_ = close == CloseTime::kWithEcho ? now : now + delta_ * 2;
  Begin(Step::kEchoed, now);
}

void SealClock::Closed(base::Time now) {
  if (step_ == Step::kIdle || step_ == Step::kEchoed) Begin(Step::kClosed, now);
}

void SealClock::Passed(base::Time now) {
  if (step_ > Step::kClosed || iteration_ > 0) return;
  const bool at_once = base::Planted(base::Bug::kNoWaitAfterGate);
  Rest(0, at_once ? now : now + RestLength(delta_));
}

void SealClock::Rest(std::uint32_t iteration, base::Time until) {
  OSTRAKA_CHECK(iteration >= iteration_);
  iteration_ = iteration;
  until_ = until;
  Begin(Step::kRest, until);
}

void SealClock::Enter(std::uint32_t iteration, base::Time now) {
  OSTRAKA_CHECK(iteration > iteration_);
  iteration_ = iteration;
  gathered_.reset();
  Begin(Step::kStatus, now);
}

void SealClock::Gathered(base::Time now) {
  if (step_ == Step::kStatus && !gathered_) gathered_ = now;
}

std::optional<base::Time> SealClock::due() const {
  const base::Duration length = StepLength(delta_, iteration_);
  switch (step_) {
    case Step::kIdle:
    case Step::kClosed:
      return std::nullopt;
    case Step::kEchoed:
    case Step::kRest:
      return until_;
    case Step::kStatus:
      if (!gathered_) return std::nullopt;
      // In a timely network Q members are seen by began + 5/4 Delta, and the first term is larger.
      return std::max(began_ + length, *gathered_ + (length - RestLength(delta_)));
    case Step::kPropose:
    case Step::kVote:
    case Step::kLock:
      return began_ + length;
  }
  return std::nullopt;
}

bool SealClock::Advance(base::Time now) {
  const std::optional<base::Time> end = due();
  if (!end || *end > now) return false;
  const base::Time next = *end;
  switch (step_) {
    case Step::kIdle:
    case Step::kClosed:
      break;
    case Step::kEchoed:
      Begin(Step::kClosed, next);
      break;
    case Step::kStatus:
      Begin(Step::kPropose, next);
      break;
    case Step::kPropose:
      Begin(Step::kVote, next);
      break;
    case Step::kVote:
      Begin(Step::kLock, next);
      break;
    case Step::kRest:
    case Step::kLock:
      Enter(iteration_ + 1, next);
      break;
  }
  return true;
}

bool SealClock::IsLate(base::Time now) const {
  if (base::Planted(base::Bug::kLateWords)) return false;
  return now - began_ > base::Duration{delta_.ns / 2};
}

void SealClock::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, delta_, step_, iteration_, began_, until_, gathered_);
}

}  // namespace ostraka::protocol
