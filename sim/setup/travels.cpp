#include "sim/setup/travels.h"

#include <algorithm>
#include <map>
#include <string>

#include "node/base/check.h"

namespace ostraka::sim {
namespace {

// Of a run that has begun everywhere.
constexpr std::uint64_t kFirstHeight = 3;
// A key that was refused, or that nobody lets in, waits for so many blocks.
constexpr std::uint64_t kAsksAgain = 20;
constexpr std::uint64_t kMostOnTurn = 60;
constexpr base::Duration kProcessStarts = base::Milliseconds(50);

}  // namespace

Travels::Travels(const base::Rng& rng, const SimOptions& options, const Roster& roster)
    : rng_(rng), options_(options), roster_(roster) {
  const auto attack = FindAttack(options.attack);
  OSTRAKA_CHECK(attack.ok());  // CheckOptions
  const std::map<std::string, double> numbers = NumbersOf(*attack, options.attack_params);
  const auto every = numbers.find("every");
  if (every != numbers.end()) one_in_ = static_cast<std::uint64_t>(every->second);
  const auto away = numbers.find("away");
  if (away != numbers.end()) away_ = static_cast<std::uint64_t>(away->second);
  for (std::uint32_t peer = 0; peer < roster.ids.size(); ++peer) {
    if (Starts(peer)) waiting_.push_back({peer, kFirstHeight});
  }
}

bool Travels::IsAttacker(std::uint32_t peer) const {
  return roster_.byzantine[peer] && peer < options_.peers + options_.comes + options_.intruders;
}

bool Travels::Starts(std::uint32_t peer) const {
  return TakesTurns(options_.attack) && roster_.Comes(peer) && IsAttacker(peer);
}

bool Travels::MustLeave(std::uint32_t peer, std::uint64_t step) const {
  if (step < options_.attack_from_step) return false;
  if (TakesTurns(options_.attack) && !roster_.Comes(peer)) return false;
  return rng_.Fork("leaver", peer).Fork("step", step).Below(one_in_) == 0;
}

void Travels::OnStep(const StepRecord& record) {
  for (const protocol::Action& action : record.actions) {
    const auto* done = Observed<protocol::StepDone>(action);
    if (done != nullptr && roster_.IsHonest(record.peer)) OnBlock(record.now, *done->block);
    const auto* halted = Observed<protocol::Halted>(action);
    if (halted == nullptr || !IsAttacker(record.peer)) continue;
    const bool left = halted->why == protocol::Halted::Why::kLeft;
    if (left || halted->why == protocol::Halted::Why::kRefused) OnGone(record, left);
  }
}

void Travels::OnGone(const StepRecord& record, bool left) {
  const std::uint32_t peer = record.peer;
  simulator_->ScheduleCrash(record.now, peer);
  if (Starts(peer)) {
    const bool waits = left && ++departures_[peer] % 2 == 1;
    waiting_.push_back({peer, height_ + (waits ? away_ : kAsksAgain)});
    if (on_turn_ && on_turn_->peer == peer) on_turn_.reset();
  } else if (left) {
    simulator_->ScheduleRestart(record.now + kProcessStarts, peer);
  }
}

void Travels::OnBlock(base::Time now, const wire::Block& block) {
  if (HeightOf(block) <= height_) return;
  height_ = HeightOf(block);
  if (on_turn_ && height_ > on_turn_->from + kMostOnTurn &&
      !std::binary_search(block.members.begin(), block.members.end(),
                          roster_.ids[on_turn_->peer])) {
    simulator_->ScheduleCrash(now, on_turn_->peer);
    waiting_.push_back({on_turn_->peer, height_ + kAsksAgain});
    on_turn_.reset();
  }
  if (!on_turn_) StartNext(now);
}

void Travels::StartNext(base::Time now) {
  const auto next = std::find_if(waiting_.begin(), waiting_.end(),
                                 [&](const Traveller& turn) { return turn.from <= height_; });
  if (next == waiting_.end()) return;
  on_turn_ = Traveller{next->peer, height_};
  waiting_.erase(next);
  simulator_->ScheduleRestart(now + kProcessStarts, on_turn_->peer);
}

}  // namespace ostraka::sim
