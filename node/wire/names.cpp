#include "node/base/check.h"
#include "node/wire/block.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"

namespace ostraka::wire {
namespace {

template <typename Enum, std::size_t kCount>
const char* NameOf(Enum value, const char* const (&names)[kCount]) {
  const auto index = static_cast<std::size_t>(value);
  OSTRAKA_CHECK(index < kCount);  // decoders refuse other values
  return names[index];
}

}  // namespace

const char* PhaseName(Phase phase) {
  static constexpr const char* kNames[kPhaseCount] = {"genesis", "a", "b", "c"};
  return NameOf(phase, kNames);
}

const char* MessageTypeName(MessageType type) {
  static constexpr const char* kNames[kMessageTypeCount] = {
      "boot",   "commit", "part",    "aggregate", "result", "reveal", "proof",
      "echo",   "status", "propose", "vote",      "lock",   "rejoin", "pull",
      "vector", "block",  "chunk",   "close",     "forward"};
  return NameOf(type, kNames);
}

bool IsService(MessageType type) {
  switch (type) {
    case MessageType::kPull:
    case MessageType::kVector:
    case MessageType::kBlock:
    case MessageType::kChunk:
    case MessageType::kForward:
      return true;
    default:
      return false;
  }
}

bool MayBeSaidAnew(const Slot& slot) {
  return slot.phase == Phase::kGenesis || slot.type == MessageType::kRejoin;
}

const char* CaseKindName(CaseKind kind) {
  static constexpr const char* kNames[kCaseKindCount] = {"gradient", "numbers", "cover"};
  return NameOf(kind, kNames);
}

const char* CauseName(Cause cause) {
  static constexpr const char* kNames[kCauseCount] = {"old_text",
                                                      "absent",
                                                      "two_messages",
                                                      "other_parameters",
                                                      "malformed",
                                                      "false_reveal",
                                                      "evidence",
                                                      "foreign_sender",
                                                      "impossible_numbers",
                                                      "false_gradient",
                                                      "false_numbers",
                                                      "hid_numbers",
                                                      "false_accusation",
                                                      "false_naming",
                                                      "undecided_accusation",
                                                      "unshown_naming",
                                                      "unshown_cover",
                                                      "named_nobody",
                                                      "voided_columns",
                                                      "withheld_aggregate",
                                                      "withheld_echo",
                                                      "hasty_echo",
                                                      "unshown_echo",
                                                      "slow",
                                                      "left_out_part",
                                                      "withheld_part",
                                                      "claims_to_miss",
                                                      "withheld_from_one",
                                                      "too_many_disputes"};
  return NameOf(cause, kNames);
}

const char* RemovalKindName(RemovalKind kind) {
  static constexpr const char* kNames[kRemovalKindCount] = {"verdict", "evidence", "drop",
                                                            "eliminate"};
  return NameOf(kind, kNames);
}

bool IsBan(RemovalKind kind) {
  return kind == RemovalKind::kVerdict || kind == RemovalKind::kEvidence;
}

const char* ColumnFateName(ColumnFate fate) {
  static constexpr const char* kNames[kColumnFateCount] = {
      "applied",         "no_aggregate",    "bad_senders",
      "too_few_senders", "missing_numbers", "sum_check",
      "norm_check",      "size_check",      "blind"};
  return NameOf(fate, kNames);
}

const char* EvidenceKindName(EvidenceKind kind) {
  static constexpr const char* kNames[kEvidenceKindCount] = {
      "equivocation", "false_reveal", "unreadable",   "false_part", "impossible_numbers",
      "broken_lock",  "sealed_ban",   "false_status", "verdict",    "gradient"};
  return NameOf(kind, kNames);
}

}  // namespace ostraka::wire
