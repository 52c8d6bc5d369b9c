#include "node/protocol/mail/journal.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/stored_state.h"
#include "node/protocol/mail/inbox.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;

namespace {

Record StateRecord(const wire::Block& block, const ModelState& state) {
  auto blob = std::make_shared<crypto::Blob>();  // without a root: it is for the own store only
  blob->source = StateSource(state);
  return {RecordKind::kState,
          BlockKey(block.genesis, block.step),
          {},
          std::move(blob),
          std::make_shared<crypto::DiskCopy>()};
}

}  // namespace

std::optional<Journal::Own> Journal::SayAgain(const Draft& draft) {
  if (!signer_.Said(draft.envelope.slot) || draft.blob == nullptr) return std::nullopt;
  const PeerId& self = signer_.id();
  const Inbox::Place place = Inbox::PlaceOf(draft.envelope.slot);
  for (Sent& sent : sent_) {
    if (Inbox::PlaceOf(sent.slot) != place) continue;
    auto opened = wire::Open(sent.frame);
    OSTRAKA_CHECK(opened.ok());  // sealed here, or read when it was restored
    if (opened->digest != wire::DigestOf(draft.envelope)) continue;  // not the same bytes again
    sent.blob = draft.blob;
    sent.to = draft.to;
    for (const PeerId& peer : draft.to) {
      if (peer != self) turn_.Do(Send{peer, sent.frame, sent.blob});
    }
    if (std::find(draft.to.begin(), draft.to.end(), self) == draft.to.end()) return std::nullopt;
    return Own{wire::Share(std::move(opened).value()), draft.blob};
  }
  return std::nullopt;
}

std::optional<StoreId> Journal::Prepare(std::vector<Draft> drafts) {
  Store store = signer_.Prepare(next_store_++, std::move(drafts));
  const StoreId id = store.id;
  if (store.records.empty()) {
    signer_.Release(id);
    return std::nullopt;
  }
  turn_.Do(std::move(store));
  return id;
}

std::optional<Journal::Own> Journal::Say(SignedDraft draft) {
  bool to_self = false;
  for (const PeerId& peer : draft.to) {
    if (peer == signer_.id()) {
      to_self = true;
    } else {
      turn_.Do(Send{peer, draft.message.frame, draft.blob});
    }
  }
  Keep(draft.message, draft.blob, std::move(draft.to));
  if (!to_self) return std::nullopt;
  return Own{wire::Share(std::move(draft.message)), std::move(draft.blob)};
}

void Journal::Repeat(const PeerId& to) const {
  for (const Sent& sent : sent_) {
    const bool wanted = std::find(sent.to.begin(), sent.to.end(), to) != sent.to.end();
    if (wanted && !(sent.bulk && sent.blob == nullptr)) {
      turn_.Do(Send{to, sent.frame, sent.blob});
    }
  }
}

base::StatusOr<std::vector<wire::SignedEnvelope>> Journal::Restore(const std::vector<Record>& slots,
                                                                   const Digest& run_id,
                                                                   const std::vector<PeerId>& to) {
  ASSIGN_OR_RETURN(std::vector<wire::SignedEnvelope> own, signer_.Restore(slots));
  for (const wire::SignedEnvelope& message : own) {
    if (message.envelope.slot.run_id != run_id) {
      return base::InvalidArgument("a slot of another run");
    }
    Keep(message, nullptr, to);
  }
  return own;
}

void Journal::Keep(const wire::SignedEnvelope& message, SharedBlob blob, std::vector<PeerId> to) {
  const MessageType type = message.envelope.slot.type;
  const bool bulk = type == MessageType::kPart || type == MessageType::kResult;
  sent_.push_back({message.envelope.slot, message.frame, std::move(blob), std::move(to), bulk});
}

void Journal::ForgetBefore(std::uint64_t step) {
  while (!sent_.empty() && sent_.front().slot.step < step) sent_.pop_front();
  signer_.ForgetBefore(step);
}

// --- storing ------------------------------------------------------------------------------------

void Journal::StoreOne(Record record) { turn_.Do(Store{next_store_++, {std::move(record)}}); }

Record Journal::RecordOf(bool genesis, std::uint64_t step, Bytes encoded) {
  return {RecordKind::kBlock, BlockKey(genesis, step), std::move(encoded)};
}

void Journal::StoreBlock(const wire::Block& block, Bytes encoded) {
  StoreOne(RecordOf(block.genesis, block.step, std::move(encoded)));
}

void Journal::StoreBlocks(std::vector<Record> blocks) {
  turn_.Do(Store{next_store_++, std::move(blocks)});
}

void Journal::StoreMembership(const wire::Block& block) {
  StoreOne({RecordKind::kMember, BlockKey(block.genesis, block.step), {}});
}

std::shared_ptr<const crypto::DiskCopy> Journal::StoreState(const wire::Block& block,
                                                            const ModelState& state) {
  Record record = StateRecord(block, state);
  auto copy = record.copy;
  StoreOne(std::move(record));
  return copy;
}

std::shared_ptr<const crypto::DiskCopy> Journal::StoreBlockAndState(const wire::Block& block,
                                                                    const ModelState& state) {
  Record record = StateRecord(block, state);
  auto copy = record.copy;
  turn_.Do(
      Store{next_store_++,
            {RecordOf(block.genesis, block.step, wire::EncodeBlock(block)), std::move(record)}});
  return copy;
}

void Journal::StoreStateParts(std::uint64_t height,
                              const std::map<std::uint64_t, SharedBlob>& parts) {
  std::vector<Record> records;
  for (const auto& [part, blob] : parts) {
    records.push_back(
        {RecordKind::kStatePart, StatePartKey(height, static_cast<std::uint32_t>(part)), {}, blob});
  }
  turn_.Do(Store{next_store_++, std::move(records)});
}

std::shared_ptr<const crypto::DiskCopy> Journal::StoreResult(std::uint64_t step,
                                                             std::uint32_t column,
                                                             const SharedBlob& blob) {
  const auto copy = std::make_shared<crypto::DiskCopy>();
  StoreOne({RecordKind::kResult, ResultKey(step, column), {}, blob, copy});
  return copy;
}

void Journal::StoreEvidence(const Bytes& file) {
  const Digest id = evidence::IdOf(file);
  StoreOne({RecordKind::kEvidence, Bytes(id.bytes.begin(), id.bytes.end()), file});
}

void Journal::StoreHandover(const wire::Block& block, const Bytes& file) {
  StoreOne({RecordKind::kHandover, BlockKey(block.genesis, block.step), file});
}

void Journal::StoreAsks(std::uint64_t step) {
  StoreOne({RecordKind::kAsks, BlockKey(false, step), {}});
}

void Journal::StoreForkLine(std::uint64_t step, const std::string& line, bool last) {
  Bytes key = BlockKey(false, step);
  key.push_back(last ? 1 : 0);
  StoreOne({RecordKind::kFork, std::move(key), Bytes(line.begin(), line.end())});
}

void Journal::CheckInvariants() const {
  OSTRAKA_CHECK(signer_.pending() < next_store_);  // J2: each waits for a store of its own
  for (const Sent& sent : sent_) {
    OSTRAKA_CHECK(sent.frame != nullptr && (sent.bulk || sent.blob == nullptr));  // J3
  }
}

void Journal::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, signer_, next_store_, sent_);
}

}  // namespace ostraka::protocol
