#include "sim/engine/disk.h"

#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/stored_state.h"
#include "node/protocol/mail/signer.h"

namespace ostraka::sim {

using protocol::Record;
using protocol::RecordKind;

namespace {

bool SameRecord(const Record& a, const Record& b) {
  if (!a.blob || !b.blob) return !a.blob && !b.blob && a.value == b.value;
  return a.blob == b.blob || a.blob->data == b.blob->data;
}

}  // namespace

void Disk::DropBelow(RecordKind kind, const protocol::Bytes& height) {
  records_.erase(records_.lower_bound({kind, {}}), records_.lower_bound({kind, height}));
}

void Disk::Apply(const protocol::Store& store) {
  for (const Record& stored : store.records) {
    const Record record = protocol::HeldInMemory(stored);
    const auto [place, fresh] = records_.try_emplace({record.kind, record.key}, record);
    const bool last_counts = record.kind == RecordKind::kResult ||
                             record.kind == RecordKind::kStatePart ||
                             record.kind == RecordKind::kState;
    if (last_counts) place->second = record;
    OSTRAKA_CHECK(fresh || SameRecord(place->second, record));
    if (record.kind == RecordKind::kBlock) {
      DropBelow(RecordKind::kSlot, protocol::FirstSlotKept(record.key));
    }
    if (record.kind == RecordKind::kStatePart) {
      const std::uint64_t height = protocol::PlaceOfStatePart(record.key)->first;
      DropBelow(RecordKind::kStatePart, protocol::StatePartKey(height, 0));
      records_.erase(
          records_.lower_bound({RecordKind::kStatePart, protocol::StatePartKey(height + 1, 0)}),
          records_.upper_bound(
              {RecordKind::kStatePart, protocol::StatePartKey(UINT64_MAX, UINT32_MAX)}));
    }
    if (record.kind != RecordKind::kState) continue;
    const std::uint64_t height = protocol::HeightOfBlockKey(record.key);
    DropBelow(RecordKind::kStatePart, protocol::StatePartKey(height + 1, 0));
    DropBelow(RecordKind::kState, record.key);
    DropBelow(RecordKind::kBlock, record.key);
    DropBelow(RecordKind::kResult, record.key);
  }
}

std::shared_ptr<const protocol::Restored> Disk::Restored() const {
  if (records_.empty()) return nullptr;
  auto restored = std::make_shared<protocol::Restored>();
  for (const auto& [key, record] : records_) {
    switch (key.first) {
      case RecordKind::kState:
        restored->state = record;
        break;
      case RecordKind::kBlock:
        restored->blocks.push_back(record);
        break;
      case RecordKind::kSlot:
        restored->slots.push_back(record);
        break;
      case RecordKind::kResult:
        restored->results.push_back(record);
        break;
      case RecordKind::kMember:
        restored->member = true;
        break;
      case RecordKind::kAsks:
        restored->asks_since = protocol::HeightOfBlockKey(record.key);
        break;
      case RecordKind::kFork:
        restored->fork = std::string(record.value.begin(), record.value.end());
        break;
      case RecordKind::kHandover:
        restored->handover = record;  // keys ascend
        break;
      case RecordKind::kStatePart:
        restored->state_parts.push_back(record);
        break;
      case RecordKind::kEvidence:
        break;
    }
  }
  return restored;
}

}  // namespace ostraka::sim
