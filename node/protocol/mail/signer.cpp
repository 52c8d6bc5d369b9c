#include "node/protocol/mail/signer.h"

#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

void AppendBigEndian(base::Bytes& out, std::uint64_t value, int byte_count) {
  for (int i = byte_count - 1; i >= 0; --i) {
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

std::uint64_t ReadBigEndian(base::ByteView bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

base::Bytes SlotKey(const wire::Slot& slot) {
  base::Bytes key;
  AppendBigEndian(key, slot.step, 8);
  AppendBigEndian(key, static_cast<std::uint64_t>(slot.phase), 1);
  AppendBigEndian(key, static_cast<std::uint64_t>(slot.type), 1);
  AppendBigEndian(key, slot.draw, 4);
  AppendBigEndian(key, slot.iteration, 4);
  AppendBigEndian(key, slot.incarnation, 4);
  return key;
}

base::Bytes BlockKey(bool genesis, std::uint64_t step) {
  base::Bytes key;
  AppendBigEndian(key, genesis ? 0 : step + 1, 8);
  return key;
}

// A slot's key begins with its step. The last step's own frames are for members still in it.
base::Bytes FirstSlotKept(const base::Bytes& block_key) {
  const std::uint64_t height = HeightOfBlockKey(block_key);
  base::Bytes key;
  AppendBigEndian(key, height == 0 ? 0 : height - 1, 8);
  return key;
}

std::uint64_t HeightOfBlockKey(const base::Bytes& key) {
  OSTRAKA_CHECK(key.size() == sizeof(std::uint64_t));
  return ReadBigEndian(key);
}

base::Bytes ResultKey(std::uint64_t step, std::uint32_t column) {
  base::Bytes key = BlockKey(false, step);
  AppendBigEndian(key, column, 4);
  return key;
}

base::Bytes StatePartKey(std::uint64_t height, std::uint32_t part) {
  base::Bytes key;
  AppendBigEndian(key, height, 8);
  AppendBigEndian(key, part, 4);
  return key;
}

std::optional<std::pair<std::uint64_t, std::uint32_t>> PlaceOfStatePart(const base::Bytes& key) {
  if (key.size() != 12) return std::nullopt;
  return std::pair{ReadBigEndian(base::ByteView(key).first(8)),
                   static_cast<std::uint32_t>(ReadBigEndian(base::ByteView(key).subspan(8)))};
}

std::optional<std::pair<std::uint64_t, std::uint32_t>> PlaceOfResult(const base::Bytes& key) {
  const auto place = PlaceOfStatePart(key);
  if (!place || place->first == 0) return std::nullopt;  // the genesis block applies nothing
  return std::pair{place->first - 1, place->second};
}

Store Signer::Prepare(StoreId id, std::vector<Draft> drafts) {
  std::erase_if(drafts, [this](const Draft& draft) {
    return !said_.insert(SlotKey(draft.envelope.slot)).second;
  });
  Store store;
  store.id = id;
  store.records.reserve(drafts.size());
  for (const Draft& draft : drafts) {
    OSTRAKA_CHECK(draft.envelope.sender == key_->id());
    store.records.push_back(
        {RecordKind::kSlot, SlotKey(draft.envelope.slot), *wire::EncodeUnsigned(draft.envelope)});
  }
  const bool fresh = pending_.emplace(id, std::move(drafts)).second;
  OSTRAKA_CHECK(fresh);
  return store;
}

std::optional<std::vector<SignedDraft>> Signer::Release(StoreId id) {
  auto node = pending_.extract(id);
  if (node.empty()) return std::nullopt;
  std::vector<SignedDraft> released;
  released.reserve(node.mapped().size());
  for (Draft& draft : node.mapped()) {
    released.push_back(
        {wire::Seal(std::move(draft.envelope), *key_), std::move(draft.blob), std::move(draft.to)});
  }
  return released;
}

base::StatusOr<std::vector<wire::SignedEnvelope>> Signer::Restore(
    const std::vector<Record>& records) {
  std::vector<wire::SignedEnvelope> messages;
  for (const Record& record : records) {
    ASSIGN_OR_RETURN(wire::Envelope envelope, wire::OpenUnsigned(record.value));
    if (envelope.sender != key_->id() || SlotKey(envelope.slot) != record.key) {
      return base::InvalidArgument(
          "a stored slot is not of this key, or not the one it is filed under");
    }
    said_.insert(record.key);
    messages.push_back(wire::Seal(std::move(envelope), *key_));
  }
  return messages;
}

void Signer::ForgetBefore(std::uint64_t step) {
  base::Bytes first;
  AppendBigEndian(first, step, 8);
  said_.erase(said_.begin(), said_.lower_bound(first));
}

void Draft::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, envelope, blob, to); }

void Signer::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, pending_, said_); }

}  // namespace ostraka::protocol
