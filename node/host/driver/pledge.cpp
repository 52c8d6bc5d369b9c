#include "node/host/driver/pledge.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/wire/codec.h"

namespace ostraka::host {
namespace {

using protocol::RecordKind;
using wire::MessageType;

// Of a record that says what is signed next; nullopt of any other.
std::optional<wire::Slot> SlotOf(const protocol::Record& record) {
  if (record.kind != RecordKind::kSlot) return std::nullopt;
  const auto envelope = wire::OpenUnsigned(record.value);
  return envelope.ok() ? std::optional(envelope->slot) : std::nullopt;
}

}  // namespace

void Pledge::Restore(const protocol::Restored& restored) {
  for (const protocol::Record& record : restored.slots) {
    if (const auto slot = SlotOf(record)) Note(*slot);
  }
}

void Pledge::Asked(const protocol::Store& store) {
  for (const protocol::Record& record : store.records) {
    if (const auto slot = SlotOf(record)) asked_[store.id].push_back(*slot);
  }
  CheckInvariants();
}

void Pledge::Stored(protocol::StoreId id) {
  const auto asked = asked_.extract(id);
  if (asked.empty()) return;
  for (const wire::Slot& slot : asked.mapped()) Note(slot);
}

void Pledge::Note(const wire::Slot& slot) {
  std::optional<std::uint64_t>* newest = nullptr;
  if (slot.type == MessageType::kCommit) newest = &commit_;
  if (slot.type == MessageType::kReveal) newest = &reveal_;
  if (slot.type == MessageType::kProof) newest = &proof_;
  if (newest != nullptr) *newest = std::max(newest->value_or(slot.step), slot.step);
}

void Pledge::CheckInvariants() const {
  for (const auto& [id, slots] : asked_) OSTRAKA_CHECK(!slots.empty());  // L2
}

Owed Pledge::OwedIn(const protocol::Progress& progress) const {
  if (!progress.at_work || commit_ != progress.step) return Owed::kNothing;
  if (reveal_ != commit_) return Owed::kCoin;
  return proof_ != commit_ ? Owed::kProof : Owed::kEcho;
}

}  // namespace ostraka::host
