#include "sim/setup/turnover.h"

#include <algorithm>

namespace ostraka::sim {
namespace {

// Of a run that has begun everywhere.
constexpr std::uint64_t kFirstTurnover = 3;

}  // namespace

Turnover::Turnover(const Roster& roster, std::vector<std::uint32_t> guests)
    : roster_(roster), guests_(guests.begin(), guests.end()), leaving_(roster.ids.size()) {
  for (std::uint32_t peer = 0; peer < roster.ids.size(); ++peer) {
    if (!roster.Comes(peer) && roster.IsHonest(peer)) in_.push_back(peer);
  }
}

void Turnover::OnStep(const StepRecord& record) {
  if (!roster_.IsHonest(record.peer)) return;
  for (const protocol::Action& action : record.actions) {
    if (const auto* done = Observed<protocol::StepDone>(action)) OnBlock(record, done->block);
    const auto* halted = Observed<protocol::Halted>(action);
    if (halted == nullptr || halted->why != protocol::Halted::Why::kLeft) continue;
    simulator_->ScheduleCrash(record.now, record.peer);  // it is gone for good
  }
}

void Turnover::OnBlock(const StepRecord& record, const std::shared_ptr<const wire::Block>& block) {
  if (head_ != nullptr && HeightOf(*block) <= HeightOf(*head_)) return;
  const bool first = head_ == nullptr || HeightOf(*head_) < kFirstTurnover;
  head_ = block;
  if (first && HeightOf(*block) >= kFirstTurnover) return StartNext(record.now);
  for (const base::PeerId& id : block->joined) {
    const auto peer = roster_.IndexOf(id);
    if (!peer || !roster_.Comes(*peer) || !roster_.IsHonest(*peer)) continue;
    in_.push_back(*peer);
    leaving_[in_.front()] = true;
    in_.pop_front();
    StartNext(record.now);
  }
}

void Turnover::StartNext(base::Time now) {
  if (guests_.empty()) return;
  simulator_->ScheduleRestart(now, guests_.front());
  guests_.pop_front();
}

}  // namespace ostraka::sim
