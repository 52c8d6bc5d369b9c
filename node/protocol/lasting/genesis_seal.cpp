#include "node/protocol/lasting/genesis_seal.h"

#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/protocol/seal/seal.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

void GenesisSeal::OnWaiting(const PeerId& member) {
  if (IsMember(head_->members, member)) waiting_.insert(member);
}

const Inbox::Item* GenesisSeal::Held(MessageType type, const PeerId& member) const {
  const Inbox::Item* item = inbox_.Find({0, Phase::kGenesis, type, 0, 0}, member);
  return item != nullptr && item->message->envelope.entry.is_zero() ? item : nullptr;
}

bool GenesisSeal::Wants(const wire::Envelope& envelope) const {
  const bool boot = envelope.slot.type == MessageType::kBoot;
  return !echo_ || !(boot || HasEchoed(envelope.sender));
}

bool GenesisSeal::CountsIfRelayed(const wire::SignedEnvelope& message) const {
  const auto* echo = message.As<wire::Echo>();
  return echo != nullptr && echo_ && echo->vector == echo_->vector;
}

std::optional<wire::Echo> GenesisSeal::TryEcho() const {
  OSTRAKA_CHECK(!echo_);  // G1
  if (waiting_.size() + 1 < head_->members.size()) return std::nullopt;
  SealVector vector;
  for (const PeerId& member : head_->members) {
    const Inbox::Item* boot = Held(MessageType::kBoot, member);
    if (boot == nullptr) return std::nullopt;
    vector.push_back({SealEntry::State::kPresent, boot->message->digest});
  }
  return EchoOf(vector);
}

void GenesisSeal::OnOwnEcho(const wire::Echo& echo) {
  OSTRAKA_CHECK(!echo_ || echo_->vector == echo.vector);  // G3
  auto block = std::make_shared<Block>(*head_);
  const wire::Slot slot{.run_id = run_id_,
                        .incarnation = 0,
                        .step = 0,
                        .phase = Phase::kGenesis,
                        .type = MessageType::kEcho,
                        .draw = 0,
                        .iteration = 0};
  block->decision = DecisionDigest(slot, echo.vector, {});
  block->randomness =
      crypto::Hasher(crypto::kDomainGenesis).Update(run_id_).Update(block->decision).Finish();
  const Digest digest = wire::BlockDigest(*block);
  echo_ = {echo.vector, std::move(block), digest};
}

bool GenesisSeal::HasEchoed(const PeerId& member) const {
  const Inbox::Item* item = Held(MessageType::kEcho, member);
  if (item == nullptr) return false;
  const auto* echo = item->message->As<wire::Echo>();
  return echo != nullptr && echo->vector == echo_->vector;
}

std::size_t GenesisSeal::CountBegun(bool as_echoed) const {
  const auto& commits = inbox_.At({0, Phase::kA, MessageType::kCommit, 0, 0});
  return static_cast<std::size_t>(
      std::count_if(commits.begin(), commits.end(), [&](const auto& commit) {
        return IsOwnBlock(commit.second.message->envelope.entry) == as_echoed;
      }));
}

bool GenesisSeal::Begins() {
  if (!echo_) return false;
  if (CountBegun(true) > FaultBound(head_->thresholds)) return true;
  const std::vector<PeerId>& members = head_->members;
  while (echoed_prefix_ < members.size() && HasEchoed(members[echoed_prefix_])) ++echoed_prefix_;
  return echoed_prefix_ == members.size();
}

std::vector<base::SharedBytes> GenesisSeal::EchoesFor(const PeerId& to) const {
  std::vector<base::SharedBytes> frames;
  if (to == self_) return frames;
  for (const auto& [sender, item] : inbox_.At({0, Phase::kGenesis, MessageType::kEcho, 0, 0})) {
    if (sender != to && sender != self_) frames.push_back(item.message->frame);
  }
  return frames;
}

std::vector<GenesisSeal::Missing> GenesisSeal::MissingNow() const {
  std::vector<Missing> missing;
  for (const PeerId& member : head_->members) {
    if (echo_) {
      if (!HasEchoed(member)) missing.push_back({member, MessageType::kEcho});
    } else if (Held(MessageType::kBoot, member) == nullptr) {
      missing.push_back({member, MessageType::kBoot});
    }
  }
  if (echo_ || !missing.empty()) return missing;
  for (const PeerId& member : head_->members) {
    if (member != self_ && !waiting_.contains(member)) {
      missing.push_back({member, MessageType::kBlock});
    }
  }
  return missing;
}

void GenesisSeal::CheckInvariants() const {
  OSTRAKA_CHECK(waiting_.size() <= head_->members.size());
  OSTRAKA_CHECK(!echo_ || (echo_->block != nullptr && echo_->block->genesis));  // G3
}

void GenesisSeal::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, head_, waiting_, echo_);
}

}  // namespace ostraka::protocol
