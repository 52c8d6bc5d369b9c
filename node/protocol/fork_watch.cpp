#include "node/protocol/fork_watch.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

using base::SharedBytes;
using wire::MessageType;

constexpr std::ptrdiff_t kRivalsOfOne = 8;  // frames of one member in one seal

std::vector<SharedBytes> FramesOf(const Signers& signers) {
  std::vector<SharedBytes> frames;
  for (const auto& [signer, frame] : signers) frames.push_back(frame);
  return frames;
}

}  // namespace

void ForkWatch::Remember(const SealKey& seal, Decision decision) {
  seals_[seal] = {std::move(decision), {}};
  if (seal.step < kWatchedSteps) return;
  const std::uint64_t oldest = seal.step - kWatchedSteps + 1;
  std::erase_if(seals_, [&](const auto& entry) { return entry.first.step < oldest; });
  for (auto& [member, steps] : asked_) {
    steps.erase(steps.begin(), steps.lower_bound(oldest));
  }
}

std::optional<ForkWatch::Group> ForkWatch::GroupOf(const wire::Envelope& envelope) {
  if (envelope.slot.type == MessageType::kEcho) {
    const auto echo = wire::DecodeEcho(envelope.body);
    if (!echo.ok()) return std::nullopt;
    return Group{MessageType::kEcho, 0, echo->vector};
  }
  if (envelope.slot.type == MessageType::kLock) {
    const auto lock = wire::DecodeLock(envelope.body);
    if (!lock.ok()) return std::nullopt;
    return Group{MessageType::kLock, envelope.slot.iteration, lock->value};
  }
  return std::nullopt;
}

bool ForkWatch::IsRival(const wire::Envelope& envelope) const {
  const auto watched = seals_.find(SealKeyOf(envelope.slot));
  if (watched == seals_.end()) return false;
  const Decision& decision = watched->second.decision;
  if (envelope.entry != decision.entry || !decision.awake.contains(envelope.sender)) return false;
  const auto group = GroupOf(envelope);
  return group && group->value != decision.value;
}

std::optional<Fork> ForkWatch::Note(const wire::SignedEnvelope& message) {
  const SealKey key = SealKeyOf(message.envelope.slot);
  const auto found = seals_.find(key);
  const auto group = GroupOf(message.envelope);
  OSTRAKA_CHECK(found != seals_.end() && group);
  auto& [decision, rivals] = found->second;
  const auto kept = std::count_if(rivals.begin(), rivals.end(), [&](const auto& entry) {
    return entry.second.contains(message.envelope.sender);
  });
  if (kept >= kRivalsOfOne) return std::nullopt;
  Signers& signers = rivals[*group];
  signers.try_emplace(message.envelope.sender, message.frame);
  const std::size_t enough =
      group->type == MessageType::kLock ? decision.quorum : decision.awake.size();
  if (signers.size() < enough) return std::nullopt;
  return Fork{key, decision.certificate, FramesOf(signers)};
}

const Digest* ForkWatch::EntryOf(const SealKey& seal) const {
  const auto watched = seals_.find(seal);
  return watched == seals_.end() ? nullptr : &watched->second.decision.entry;
}

bool ForkWatch::MayAsk(const PeerId& member, std::uint64_t step) {
  if (!seals_.contains({step, wire::Phase::kA, 0})) return false;
  const std::uint64_t newest = seals_.rbegin()->first.step;
  const auto [asked, first] = asked_[member].try_emplace(step, newest);
  if (!first && newest < asked->second + kAskAgainAfter) return false;
  asked->second = newest;
  return true;
}

std::vector<SharedBytes> ForkWatch::ProofsOf(std::uint64_t step) const {
  std::vector<SharedBytes> frames;
  for (auto it = seals_.lower_bound({step, wire::Phase::kGenesis, 0});
       it != seals_.end() && it->first.step == step; ++it) {
    const auto& certificate = it->second.decision.certificate;
    frames.insert(frames.end(), certificate.begin(), certificate.end());
  }
  return frames;
}

std::size_t ForkWatch::rival_count() const {
  std::size_t count = 0;
  for (const auto& [seal, watched] : seals_) {
    for (const auto& [group, signers] : watched.rivals) count += signers.size();
  }
  return count;
}

std::vector<std::pair<SharedBytes, SharedBytes>> DoubleSignedIn(const Fork& fork) {
  std::map<std::pair<PeerId, wire::Slot>, SharedBytes> ours;
  for (const SharedBytes& frame : fork.ours) {
    const wire::Envelope envelope = wire::Open(frame)->envelope;
    ours.emplace(std::make_pair(envelope.sender, envelope.slot), frame);
  }
  std::vector<std::pair<SharedBytes, SharedBytes>> pairs;
  for (const SharedBytes& frame : fork.theirs) {
    const wire::Envelope envelope = wire::Open(frame)->envelope;
    const auto other = ours.find({envelope.sender, envelope.slot});
    if (other != ours.end()) pairs.emplace_back(other->second, frame);
  }
  return pairs;
}

}  // namespace ostraka::protocol
