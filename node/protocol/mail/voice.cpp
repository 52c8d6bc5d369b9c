#include "node/protocol/mail/voice.h"

#include <utility>

#include "node/base/planted.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

wire::Slot ServiceSlot(std::uint64_t step, Phase phase, MessageType type) {
  return {.run_id = {},
          .incarnation = 0,
          .step = step,
          .phase = phase,
          .type = type,
          .draw = 0,
          .iteration = 0};
}

wire::Slot Voice::SlotOf(std::uint64_t step, Phase phase, MessageType type, std::uint32_t draw,
                         std::uint32_t iteration) const {
  return {.run_id = run_id_,
          .incarnation = 0,
          .step = step,
          .phase = phase,
          .type = type,
          .draw = draw,
          .iteration = iteration};
}

Draft Voice::MakeDraft(const wire::Slot& slot, const Digest& parent, Bytes body,
                       std::vector<PeerId> to, SharedBlob blob) const {
  return {wire::Envelope{slot, parent, self_, std::move(body)}, std::move(blob), std::move(to)};
}

void Voice::Prepare(std::vector<Draft> drafts) {
  for (const Draft& draft : drafts) {
    if (auto own = journal_.SayAgain(draft)) own_.push_back(*std::move(own));
  }
  const auto id = journal_.Prepare(std::move(drafts));
  if (!id || !base::Planted(base::Bug::kSignedBeforeStored)) return;
  auto released = journal_.Release(*id);
  for (SignedDraft& draft : *released) Say(std::move(draft));
}

void Voice::Prepare(Draft draft) {
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  Prepare(std::move(drafts));
}

void Voice::Say(SignedDraft draft) {
  if (auto own = journal_.Say(std::move(draft))) own_.push_back(*std::move(own));
}

std::optional<Journal::Own> Voice::NextOwn() {
  if (own_.empty()) return std::nullopt;
  Journal::Own own = std::move(own_.front());
  own_.pop_front();
  return own;
}

void Voice::SendService(const PeerId& to, wire::Slot slot, Bytes body, SharedBlob blob) const {
  slot.run_id = run_id_;
  const SharedBytes frame = wire::EncodeService({slot, Digest{}, self_, std::move(body)});
  turn_.Do(Send{to, frame, std::move(blob)});
}

void Voice::Ask(const PeerId& to, wire::Slot slot, const wire::Pull& pull) const {
  if (to == self_) return;
  slot.type = MessageType::kPull;
  slot.iteration = 0;
  SendService(to, slot, wire::Encode(pull));
}

void Voice::AskHeads(const std::vector<PeerId>& members, std::uint64_t step) const {
  for (const PeerId& member : members) {
    Ask(member, ServiceSlot(step, Phase::kC, MessageType::kPull), {.kind = wire::PullKind::kHead});
  }
}

void Voice::Suspect(const PeerId& peer, std::string check, std::string reason) const {
  turn_.Do(Observe{Suspicion{step_, peer, std::move(check), std::move(reason)}});
}

void Voice::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, step_, wishes_, own_); }

}  // namespace ostraka::protocol
