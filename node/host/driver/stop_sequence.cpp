#include "node/host/driver/stop_sequence.h"

#include <algorithm>
#include <array>
#include <utility>

#include "node/base/check.h"

namespace ostraka::host {
namespace {

using Phase = StopSequence::Phase;

constexpr std::array<std::pair<Phase, Phase>, 7> kTransitions = {{
    {Phase::kRunning, Phase::kHalted},
    {Phase::kHalted, Phase::kFlushing},
    {Phase::kFlushing, Phase::kClosing},
    {Phase::kClosing, Phase::kEnded},
    // A library threw:
    {Phase::kRunning, Phase::kClosing},
    {Phase::kHalted, Phase::kClosing},
    // Interrupted while the Stores of an earlier outcome were awaited:
    {Phase::kHalted, Phase::kHalted},
}};

}  // namespace

const NodeOutcome& StopSequence::outcome() const {
  OSTRAKA_CHECK(outcome_.has_value());
  return *outcome_;
}

bool StopSequence::EndedNormally() const {
  if (!outcome_) return false;
  const NodeEnd end = outcome_->end;
  return end == NodeEnd::kFinished || end == NodeEnd::kBanned || end == NodeEnd::kLeft;
}

void StopSequence::Halt(NodeOutcome outcome) {
  if (phase_ != Phase::kRunning) return;
  outcome_ = std::move(outcome);
  Enter(Phase::kHalted);
}

void StopSequence::Interrupt(NodeOutcome outcome) {
  outcome_ = std::move(outcome);
  Enter(Phase::kHalted);
}

void StopSequence::AddToReason(const std::string& clause) {
  OSTRAKA_CHECK(phase_ == Phase::kHalted);
  outcome_->reason += clause;
}

void StopSequence::Break(NodeOutcome outcome) {
  outcome_ = std::move(outcome);
  Enter(Phase::kClosing);
}

bool StopSequence::MayFlush(bool stores_in_flight) const {
  return phase_ == Phase::kHalted && !(EndedNormally() && stores_in_flight);
}

void StopSequence::BeginFlush() { Enter(Phase::kFlushing); }

void StopSequence::Flushed() {
  OSTRAKA_CHECK(Ending());
  flushed_ = true;
}

bool StopSequence::MayClose(bool evaluation_awaited) const {
  if (phase_ != Phase::kFlushing || !flushed_) return false;
  return !evaluation_awaited || outcome_->end == NodeEnd::kInterrupted;
}

void StopSequence::BeginClose() { Enter(Phase::kClosing); }

void StopSequence::End() { Enter(Phase::kEnded); }

void StopSequence::Enter(Phase next) {
  const std::pair<Phase, Phase> wanted{phase_, next};
  OSTRAKA_CHECK(std::find(kTransitions.begin(), kTransitions.end(), wanted) != kTransitions.end());
  phase_ = next;
  CheckInvariants();
}

void StopSequence::CheckInvariants() const {
  OSTRAKA_CHECK(outcome_.has_value() == (phase_ != Phase::kRunning));
  OSTRAKA_CHECK(!flushed_ || Ending());
}

}  // namespace ostraka::host
