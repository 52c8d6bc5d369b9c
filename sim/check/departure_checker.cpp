#include "sim/check/departure_checker.h"

#include <algorithm>
#include <string>

#include "node/wire/codec.h"

namespace ostraka::sim {
namespace {

// The step in progress, the one in which its last work is judged, and a gradient case with the
// cover case that follows from it.
constexpr std::uint64_t kMostBlocks = 2 + 8 + 3 + 1;
constexpr std::size_t kFewestMembers = 3;

bool Has(const std::vector<base::PeerId>& peers, const base::PeerId& peer) {
  return std::find(peers.begin(), peers.end(), peer) != peers.end();
}

}  // namespace

base::Status DepartureChecker::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (const auto* done = Observed<protocol::StepDone>(action)) return OnBlock(*done->block);
  const auto said = speech_.Hear(peer, action);
  if (!said.ok() || *said == nullptr) return base::OkStatus();  // another checker's
  const wire::Envelope& envelope = (*said)->envelope;
  if (envelope.slot.type != wire::MessageType::kCommit) return base::OkStatus();
  const auto commit = wire::Decode<wire::Commit>(envelope.body);
  if (commit.ok() && commit->leaving) said_.try_emplace(envelope.sender, envelope.slot.step);
  return base::OkStatus();
}

base::Status DepartureChecker::OnBlock(const wire::Block& block) {
  if (block.genesis || HeightOf(block) <= height_) return base::OkStatus();
  height_ = HeightOf(block);
  RETURN_IF_ERROR(CheckLeft(block));
  RETURN_IF_ERROR(CheckLeaving(block));
  return CheckJoined(block);
}

base::Status DepartureChecker::CheckLeft(const wire::Block& block) {
  for (const base::PeerId& peer : block.left) {
    const std::string lets_go =
        "the block of step " + std::to_string(block.step) + " lets " + peer.Short() + " go, ";
    if (!listed_.contains(peer)) {
      return base::FailedPrecondition(lets_go + "which no block before it lists as leaving");
    }
    if (Has(block.members, peer) || Has(block.leaving, peer)) {
      return base::FailedPrecondition(lets_go + "and keeps it");
    }
    const auto returned = returned_.find(peer);
    if (returned == returned_.end() || block.step >= returned->second + kBarred) continue;
    barred_until_[peer] = block.step + kBarred;
  }
  return base::OkStatus();
}

base::Status DepartureChecker::CheckLeaving(const wire::Block& block) {
  std::erase_if(listed_, [&](const auto& entry) { return !Has(block.leaving, entry.first); });
  for (const base::PeerId& peer : block.leaving) {
    const std::uint64_t since = listed_.try_emplace(peer, block.step).first->second;
    const auto index = roster_.IndexOf(peer);
    if (!index || !roster_.IsHonest(*index)) continue;
    const std::string step = std::to_string(block.step);
    if (!said_.contains(peer)) {
      return base::FailedPrecondition("the block of step " + step + " lists honest " +
                                      Named(roster_, *index) + " as leaving, which never said so");
    }
    const bool may_go = block.closing == 0 && block.members.size() > kFewestMembers;
    if (may_go && block.step - since > kMostBlocks) {
      return base::FailedPrecondition(Named(roster_, *index) + " is leaving since step " +
                                      std::to_string(since) + ", and is not gone in step " + step);
    }
  }
  return base::OkStatus();
}

base::Status DepartureChecker::CheckJoined(const wire::Block& block) {
  for (const base::PeerId& peer : block.joined) {
    if (known_.contains(peer)) returned_[peer] = block.step;
    const auto barred = barred_until_.find(peer);
    if (barred == barred_until_.end() || block.step >= barred->second) continue;
    return base::FailedPrecondition("the block of step " + std::to_string(block.step) + " lets " +
                                    peer.Short() + " in, which is barred until step " +
                                    std::to_string(barred->second) +
                                    " for leaving too soon after a return");
  }
  known_.insert(block.members.begin(), block.members.end());
  known_.insert(block.left.begin(), block.left.end());
  return base::OkStatus();
}

}  // namespace ostraka::sim
