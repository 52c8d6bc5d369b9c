// Tools of attacks on messages: reading an own frame, signing another in its place, and choosing
// victims.
//
// Thread safety: each object has one owner.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "crypto/sign.h"
#include "node/protocol/ground/machine.h"
#include "node/wire/codec.h"
#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

// Opens frames, and a broadcast (one frame sent many times) once only.
class FrameReader {
 public:
  // Null if the frame does not open (unprotected runs). Valid until the next call.
  const wire::SignedEnvelope* Open(const base::SharedBytes& frame) {
    if (frame != last_) {
      last_ = frame;
      auto opened = wire::Open(frame);
      message_ = opened.ok() ? std::optional(std::move(opened).value()) : std::nullopt;
    }
    return message_ ? &*message_ : nullptr;
  }
  // Null if `action` is no Send, or its frame does not open. Valid until the next call.
  const wire::SignedEnvelope* Read(const protocol::Action& action) {
    const auto* send = std::get_if<protocol::Send>(&action);
    return send ? Open(send->frame) : nullptr;
  }
  // The part in `action` if another member signed it: this peer shows it as an exhibit, or to
  // a member that follows. Else null. Valid until the next call.
  const wire::SignedEnvelope* ReadShownPart(const EditorTurn& turn,
                                            const protocol::Action& action) {
    const auto* send = std::get_if<protocol::Send>(&action);
    const wire::SignedEnvelope* message =
        send != nullptr && send->blob != nullptr ? Open(send->frame) : nullptr;
    const bool is_shown = message != nullptr &&
                          message->envelope.slot.type == wire::MessageType::kPart &&
                          message->envelope.sender != turn.self();
    return is_shown ? message : nullptr;
  }
  // The message in `action` if this peer signed it in `from_step` or later; else null. Null for
  // genesis too: an attack there only keeps the run from beginning. Valid until the next call.
  const wire::SignedEnvelope* ReadOwn(const EditorTurn& turn, const protocol::Action& action,
                                      std::uint64_t from_step) {
    const wire::SignedEnvelope* message = Read(action);
    const bool own = message && message->envelope.sender == turn.self() &&
                     !wire::IsService(message->envelope.slot.type) &&
                     message->envelope.slot.phase != wire::Phase::kGenesis &&
                     message->envelope.slot.step >= from_step;
    return own ? message : nullptr;
  }

 private:
  base::SharedBytes last_;
  std::optional<wire::SignedEnvelope> message_;
};

// `frame`, signed by `signer`, with `other` as its sender and so with an invalid signature.
inline base::SharedBytes InNameOf(const base::PeerId& other, const base::PeerId& signer,
                                  const base::SharedBytes& frame) {
  base::Bytes bytes = *frame;
  // The sender's id is 32 bytes somewhere in the frame.
  const auto place =
      std::search(bytes.begin(), bytes.end(), signer.bytes.begin(), signer.bytes.end());
  if (place != bytes.end()) std::copy(other.bytes.begin(), other.bytes.end(), place);
  return std::make_shared<const base::Bytes>(std::move(bytes));
}

// Signs other bodies for slots that the inner machine also fills, one body for each slot.
class Forger {
 public:
  explicit Forger(std::shared_ptr<const crypto::SigningKey> key) : key_(std::move(key)) {}

  bool Knows(const wire::Slot& slot) const { return forged_.contains(slot); }
  // `body` is used at the first call for a slot; later calls return that frame.
  const base::SharedBytes& Forge(const wire::SignedEnvelope& original, base::Bytes body) {
    const auto [place, is_new] = forged_.try_emplace(original.envelope.slot);
    if (is_new) {
      wire::Envelope envelope = original.envelope;
      envelope.body = std::move(body);
      place->second = wire::Seal(std::move(envelope), *key_).frame;
      while (forged_.size() > kRemembered) forged_.erase(forged_.begin());
    }
    return forged_.at(original.envelope.slot);
  }

 private:
  static constexpr std::size_t kRemembered = 64;  // frames that may still be requested
  std::shared_ptr<const crypto::SigningKey> key_;
  std::map<wire::Slot, base::SharedBytes> forged_;  // by step, oldest first
};

// Chooses honest members as victims, one choice for the whole coven and run.
class Victims {
 public:
  explicit Victims(const EditorOptions& options)
      : seed_(options.coven_seed), manifest_(options.manifest) {}

  // Victim number `index` modulo their number; nullopt if every member is in the coven.
  std::optional<base::PeerId> At(const EditorTurn& turn, std::uint64_t index = 0) const {
    std::vector<base::PeerId> honest;
    for (const protocol::Member& member : manifest_->members) {
      if (!turn.coven().Contains(member.id)) honest.push_back(member.id);
    }
    if (honest.empty()) return std::nullopt;
    return honest[(seed_ % honest.size() + index) % honest.size()];
  }
  // Victim number 0, or the first after it that holds a role in this step: an accusation of a
  // member that has left has no effect.
  std::optional<base::PeerId> InRole(const EditorTurn& turn) const {
    if (!turn.round()) return std::nullopt;
    const protocol::Roles& roles = turn.round()->roles;
    for (std::uint64_t index = 0; index < manifest_->members.size(); ++index) {
      const auto victim = At(turn, index);
      if (victim && (roles.IsWorker(*victim) || roles.AssignmentOf(*victim))) return victim;
    }
    return std::nullopt;
  }
  // A false naming of that victim; nullopt if nothing that is compared is of it.
  std::optional<protocol::JobResult> Named(const EditorTurn& turn,
                                           const protocol::CrossCheckSpec& spec) const {
    const auto victim = InRole(turn);
    const bool sent =
        victim && std::any_of(spec.claims.begin(), spec.claims.end(),
                              [&](const auto& claim) { return claim.peer == *victim; });
    if (!sent) return std::nullopt;
    return protocol::CrossCheckResult{{*victim}};
  }
  // True for every second member.
  bool InSecondHalf(const base::PeerId& peer) const {
    for (std::size_t i = 0; i < manifest_->members.size(); ++i) {
      if (manifest_->members[i].id == peer) return i % 2 == 1;
    }
    return false;
  }

 private:
  std::uint64_t seed_;
  std::shared_ptr<const protocol::Manifest> manifest_;
};

}  // namespace ostraka::sim
