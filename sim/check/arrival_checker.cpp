#include "sim/check/arrival_checker.h"

#include <algorithm>
#include <string>

namespace ostraka::sim {

base::Status ArrivalChecker::OnAction(std::uint32_t peer, const protocol::Action& action) {
  // It has caught up with a block: from here on it can ask.
  const bool waits = roster_.Comes(peer) && !came_.contains(peer);
  if (const auto* done = Observed<protocol::StepDone>(action)) {
    if (waits) since_.try_emplace(peer, height_);
    return OnBlock(*done->block);
  }
  return base::OkStatus();
}

base::Status ArrivalChecker::OnJoined(std::uint32_t peer, std::uint64_t step) {
  const Entitlement& guest = guests_[peer - roster_.genesis];
  if (++used_[guest.group] <= guest.uses) return base::OkStatus();
  return base::FailedPrecondition("the block of step " + std::to_string(step) + " lets in " +
                                  Named(roster_, peer) + ", and what it shows lets in " +
                                  std::to_string(guest.uses));
}

// In a seat that was kept, or by what let it in before.
base::Status ArrivalChecker::OnReturned(std::uint32_t peer, std::uint64_t step) {
  const auto kept = seat_until_.extract(peer);
  returned_[peer] = step;
  if (kept.empty() || step < kept.mapped()) return base::OkStatus();
  const Entitlement& guest = guests_[peer - roster_.genesis];
  if (step < guest.ends_step) return base::OkStatus();
  return base::FailedPrecondition(
      "the block of step " + std::to_string(step) + " lets in " + Named(roster_, peer) +
      " again, whose seat is lost, by what has ended with step " + std::to_string(guest.ends_step));
}

void ArrivalChecker::OnLeft(std::uint32_t peer, std::uint64_t step) {
  const auto returned = returned_.find(peer);
  const bool is_barred = returned != returned_.end() && step < returned->second + kLeavesTooSoon;
  seat_until_[peer] = step + (is_barred ? kLeavesTooSoon : 0) + kSeatIsKept;
}

base::Status ArrivalChecker::CheckMembers(const wire::Block& block) const {
  std::uint32_t attackers = 0;
  for (const base::PeerId& id : block.members) {
    const auto peer = roster_.IndexOf(id);
    if (peer && roster_.Comes(*peer) && !came_.contains(*peer)) {
      return base::FailedPrecondition(Named(roster_, *peer) + " is a member, and came never in");
    }
    attackers += peer && !roster_.IsHonest(*peer) ? 1 : 0;
  }
  if (timely_ && attackers > block.thresholds.t_s) {
    return base::FailedPrecondition(
        "after the block of step " + std::to_string(block.step) + " " + std::to_string(attackers) +
        " of " + std::to_string(block.members.size()) + " members are attackers, which bear " +
        std::to_string(block.thresholds.t_s));
  }
  if (block.members.size() <= seats_) return base::OkStatus();
  return base::FailedPrecondition("there are " + std::to_string(block.members.size()) +
                                  " members, and " + std::to_string(seats_) + " seats");
}

base::Status ArrivalChecker::OnBlock(const wire::Block& block) {
  if (block.genesis || HeightOf(block) <= height_) return base::OkStatus();
  height_ = HeightOf(block);
  for (const base::PeerId& id : block.joined) {
    const auto peer = roster_.IndexOf(id);
    if (!peer) return base::FailedPrecondition("a block lets in a key that nobody has");
    since_.erase(*peer);
    if (!roster_.Comes(*peer)) continue;
    RETURN_IF_ERROR(came_.insert(*peer).second ? OnJoined(*peer, block.step)
                                               : OnReturned(*peer, block.step));
  }
  for (const base::PeerId& id : block.left) {
    const auto peer = roster_.IndexOf(id);
    if (peer && roster_.Comes(*peer)) OnLeft(*peer, block.step);
  }
  RETURN_IF_ERROR(CheckMembers(block));
  for (const auto& [peer, since] : since_) {
    if (!timely_ || !roster_.IsHonest(peer) || height_ < since + kBlocksToComeIn) continue;
    return base::FailedPrecondition(Named(roster_, peer) + " asks since the block of height " +
                                    std::to_string(since) + ", and is not let in");
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim
