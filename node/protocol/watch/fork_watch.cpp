#include "node/protocol/watch/fork_watch.h"

#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

using base::SharedBytes;
using wire::MessageType;

constexpr std::size_t kRivalsOfOne = 8;     // frames of one member in one seal
constexpr std::ptrdiff_t kFirstRivals = 4;  // the first of these, which are never displaced

std::vector<SharedBytes> FramesOf(const Signers& signers) {
  std::vector<SharedBytes> frames;
  for (const auto& [signer, frame] : signers) frames.push_back(frame);
  return frames;
}

}  // namespace

void ForkWatch::Remember(const SealKey& seal, Decision decision) {
  Watched& watched = seals_[seal];
  message_bytes_ -= watched.decision.messages.bytes();
  crypto::Hasher hasher(crypto::kDomainFingerprint);
  decision.HashInto(hasher);
  watched = {std::move(decision), {}, {}, hasher.Finish()};
  message_bytes_ += watched.decision.messages.bytes();
  // Rivals that came before the decision here are part of the other branch's proof.
  for (const SharedBytes& frame : watched.decision.messages.Frames()) {
    const auto message = wire::Open(frame);
    if (message.ok() && IsRival(*message)) KeepRival(watched, *message);
  }
  if (seal.step >= kWatchedSteps) ForgetBefore(seal.step - kWatchedSteps + 1);
  ForgetMessages();
  CheckInvariants();
}

void ForkWatch::CheckInvariants() const {
  std::size_t bytes = 0;
  for (const auto& [seal, watched] : seals_) {
    bytes += watched.decision.messages.bytes();
    CheckRivals(watched);
  }
  OSTRAKA_CHECK(bytes == message_bytes_);
  OSTRAKA_CHECK(message_bytes_ <= kMessageBytes);
}

void ForkWatch::CheckRivals(const Watched& watched) {
  std::size_t kept = 0;
  for (const auto& [group, signers] : watched.rivals) {
    OSTRAKA_CHECK(group.value != watched.decision.value && !signers.empty());
    kept += signers.size();
  }
  for (const auto& [signer, groups] : watched.said) {
    OSTRAKA_CHECK(watched.decision.unmuted.contains(signer) && groups.size() <= kRivalsOfOne);
    kept -= groups.size();
  }
  OSTRAKA_CHECK(kept == 0);
}

void ForkWatch::ForgetBefore(std::uint64_t step) {
  while (!seals_.empty() && seals_.begin()->first.step < step) {
    message_bytes_ -= seals_.begin()->second.decision.messages.bytes();
    seals_.erase(seals_.begin());
  }
  for (auto& [member, steps] : asked_) steps.erase(steps.begin(), steps.lower_bound(step));
}

void ForkWatch::ForgetMessages() {
  for (auto it = seals_.begin(); it != seals_.end() && message_bytes_ > kMessageBytes; ++it) {
    SealTranscript& messages = it->second.decision.messages;
    message_bytes_ -= messages.bytes();
    messages = {};
  }
}

std::optional<ForkWatch::Group> ForkWatch::GroupOf(const wire::SignedEnvelope& message) {
  if (const auto* echo = message.As<wire::Echo>()) {
    return Group{MessageType::kEcho, 0, echo->vector};
  }
  if (const auto* lock = message.As<wire::Lock>()) {
    return Group{MessageType::kLock, message.envelope.slot.iteration, lock->value};
  }
  return std::nullopt;
}

bool ForkWatch::IsRival(const wire::SignedEnvelope& message) const {
  const wire::Envelope& envelope = message.envelope;
  const auto watched = seals_.find(SealKeyOf(envelope.slot));
  if (watched == seals_.end()) return false;
  const Decision& decision = watched->second.decision;
  if (envelope.entry != decision.parent || !decision.unmuted.contains(envelope.sender))
    return false;
  const auto group = GroupOf(message);
  return group && group->value != decision.value;
}

// The first kFirstRivals rivals of a signer stay. Beyond kRivalsOfOne a new one displaces that of
// the later ones whose group is smallest. Attack: eight LOCKs of arbitrary values, sent at once
// after the decision, kept a colluder's true LOCK out of every proof, and the split was never
// found.
const Signers& ForkWatch::KeepRival(Watched& watched, const wire::SignedEnvelope& message) {
  const auto group = GroupOf(message);
  OSTRAKA_CHECK(group);
  const PeerId& sender = message.envelope.sender;
  Signers& signers = watched.rivals[*group];
  if (!signers.try_emplace(sender, message.frame).second) return signers;
  std::vector<Group>& said = watched.said[sender];
  if (said.size() >= kRivalsOfOne) {
    const auto least = std::min_element(
        said.begin() + kFirstRivals, said.end(), [&](const Group& a, const Group& b) {
          return watched.rivals.at(a).size() < watched.rivals.at(b).size();
        });
    const auto dropped = watched.rivals.find(*least);
    dropped->second.erase(sender);
    if (dropped->second.empty()) watched.rivals.erase(dropped);
    said.erase(least);
  }
  said.push_back(*group);
  return signers;
}

std::optional<Fork> ForkWatch::Note(const wire::SignedEnvelope& message) {
  const SealKey key = SealKeyOf(message.envelope.slot);
  const auto found = seals_.find(key);
  OSTRAKA_CHECK(found != seals_.end());
  const auto& [decision, rivals, said, decided] = found->second;
  const Signers& signers = KeepRival(found->second, message);
  const bool lock = message.envelope.slot.type == MessageType::kLock;
  if (signers.size() < (lock ? decision.quorum : decision.unmuted.size())) return std::nullopt;
  std::vector<SharedBytes> others = decision.messages.Frames();
  for (const auto& [other, rival_signers] : rivals) {
    if (&rival_signers == &signers) continue;
    for (const auto& [signer, frame] : rival_signers) others.push_back(frame);
  }
  return Fork{key,
              decision.parent,
              decision.unmuted,
              decision.certificate,
              FramesOf(signers),
              std::move(others)};
}

const Digest* ForkWatch::ParentOf(const SealKey& seal) const {
  const auto watched = seals_.find(seal);
  return watched == seals_.end() ? nullptr : &watched->second.decision.parent;
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
  std::vector<SharedBytes> messages;
  for (auto it = seals_.lower_bound({step, wire::Phase::kGenesis, 0});
       it != seals_.end() && it->first.step == step; ++it) {
    const Decision& decision = it->second.decision;
    frames.insert(frames.end(), decision.certificate.begin(), decision.certificate.end());
    for (SharedBytes& frame : decision.messages.Frames()) messages.push_back(std::move(frame));
  }
  frames.insert(frames.end(), messages.begin(), messages.end());
  return frames;
}

std::size_t ForkWatch::rival_count() const {
  std::size_t count = 0;
  for (const auto& [seal, watched] : seals_) {
    for (const auto& [group, signers] : watched.rivals) count += signers.size();
  }
  return count;
}

void SealKey::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, step, phase, draw); }

void Decision::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, parent, value, unmuted, quorum, certificate, messages);
}

void Fork::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, seal, parent, unmuted, ours, theirs, others);
}

void ForkWatch::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, seals_, asked_, message_bytes_);
}

}  // namespace ostraka::protocol
