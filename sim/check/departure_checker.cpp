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
  const auto commit = wire::DecodeCommit(envelope.body);
  if (commit.ok() && commit->leaving) said_.try_emplace(envelope.sender, envelope.slot.step);
  return base::OkStatus();
}

base::Status DepartureChecker::OnBlock(const wire::Block& block) {
  if (block.genesis || HeightOf(block) <= height_) return base::OkStatus();
  height_ = HeightOf(block);
  const std::string step = "step " + std::to_string(block.step);
  for (const base::PeerId& peer : block.left) {
    if (!listed_.contains(peer)) {
      return base::FailedPrecondition("the block of " + step + " lets " + peer.Short() +
                                      " go, which no block before it lists as leaving");
    }
    if (Has(block.members, peer) || Has(block.leaving, peer)) {
      return base::FailedPrecondition("the block of " + step + " lets " + peer.Short() +
                                      " go, and keeps it");
    }
  }
  std::erase_if(listed_, [&](const auto& entry) { return !Has(block.leaving, entry.first); });
  for (const base::PeerId& peer : block.leaving) {
    const std::uint64_t since = listed_.try_emplace(peer, block.step).first->second;
    const auto index = roster_.IndexOf(peer);
    if (!index || !roster_.IsHonest(*index)) continue;
    if (!said_.contains(peer)) {
      return base::FailedPrecondition("the block of " + step + " lists honest " +
                                      Named(roster_, *index) + " as leaving, which never said so");
    }
    const bool may_go = block.closing == 0 && block.members.size() > kFewestMembers;
    if (may_go && block.step - since > kMostBlocks) {
      return base::FailedPrecondition(Named(roster_, *index) + " is leaving since step " +
                                      std::to_string(since) + ", and is not gone in " + step);
    }
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim
