#include "node/wire/fields.h"

#include <algorithm>
#include <bit>
#include <string>

#include "node/wire/canonical.h"

namespace ostraka::wire {
namespace {

using internal::Refuse;

// SEAL's slow path: STATUS, PROPOSE, VOTE and LOCK.
bool IsSlowPath(MessageType type) {
  return type == MessageType::kStatus || type == MessageType::kPropose ||
         type == MessageType::kVote || type == MessageType::kLock;
}

bool PhaseFits(MessageType type, Phase phase) {
  switch (type) {
    case MessageType::kBoot:
      return phase == Phase::kGenesis;
    case MessageType::kCommit:
    case MessageType::kPart:
    case MessageType::kAggregate:
    case MessageType::kResult:
      return phase == Phase::kA;
    case MessageType::kReveal:
      return phase == Phase::kB;
    case MessageType::kProof:
    case MessageType::kRejoin:
      return phase == Phase::kC;
    case MessageType::kStatus:
    case MessageType::kPropose:
    case MessageType::kVote:
    case MessageType::kLock:
    case MessageType::kClose:
      return phase != Phase::kGenesis;
    case MessageType::kEcho:
    case MessageType::kPull:
    case MessageType::kVector:
    case MessageType::kBlock:
    case MessageType::kChunk:
    case MessageType::kForward:
      return true;
  }
  return false;
}

base::Status CheckIteration(const Slot& slot) {
  if (IsSlowPath(slot.type)) {
    const bool counts = slot.iteration >= 1 && slot.iteration <= kMaxIterations;
    return counts ? base::OkStatus() : Refuse("slot", "no such leader iteration");
  }
  if (slot.type == MessageType::kPart || slot.type == MessageType::kResult) {
    if (slot.iteration >= kMaxParts) return Refuse("slot", "iteration is not a part's index");
    return base::OkStatus();
  }
  return slot.iteration == 0 ? base::OkStatus() : Refuse("slot", "iteration must be 0 here");
}

// Services are never evidence, so their bodies may be as large as a frame.
std::size_t MaxBody(MessageType type) {
  if (type == MessageType::kProof) return kMaxProofBodyBytes;
  return IsService(type) ? kMaxFrameBytes : kMaxSmallBodyBytes;
}

}  // namespace

base::Status Check(const Slot& slot) {
  if (!PhaseFits(slot.type, slot.phase)) return Refuse("slot", "no such message in this phase");
  // Only seal B has draws: its REVEALs, the seal messages about them, and services about them.
  if (slot.draw != 0 && slot.phase != Phase::kB) return Refuse("slot", "draw must be 0 here");
  return CheckIteration(slot);
}

base::Status Check(const Envelope& envelope) {
  const bool fits = envelope.body.size() <= MaxBody(envelope.slot.type);
  return fits ? base::OkStatus() : Refuse("body", "too long");
}

base::Status Check(const Revocation& revocation) {
  const bool own = !revocation.invite || revocation.invite->moderator == revocation.moderator;
  return own ? base::OkStatus() : Refuse("revoked invite", "is of another moderator");
}

base::Status Check(const ColumnNumbers& numbers) {
  if (!numbers.missing) return base::OkStatus();
  std::uint64_t bits = std::bit_cast<std::uint64_t>(numbers.norm);
  for (const double s : numbers.s) bits |= std::bit_cast<std::uint64_t>(s);
  if (bits == 0) return base::OkStatus();
  return Refuse("columns", "numbers of a missing column must be zero");
}

base::Status Check(const CaseId& id) {
  const bool named_once = id.kind != CaseKind::kGradient || id.column == 0;
  return named_once ? base::OkStatus() : Refuse("column", "must be 0 in a case about a gradient");
}

// A key is of the run or it is not, so nobody confirms it as both. Attack: a PROOF that names one
// key in both lists counts twice for it.
base::Status Check(const Proof& proof) {
  for (const Arrival& arrival : proof.arrivals) {
    if (std::binary_search(proof.joins.begin(), proof.joins.end(), arrival.peer)) {
      return Refuse("arrivals", "names a key of joins");
    }
  }
  return base::OkStatus();
}

base::Status Check(const Propose& propose) {
  if (propose.rank == 0) return base::OkStatus();
  const bool none = propose.statuses.empty() && propose.statuses_root.is_zero();
  return none ? base::OkStatus() : Refuse("statuses", "only with rank 0");
}

base::Status Check(const VectorEntry& entry) {
  constexpr std::uint8_t kPresent = 1;
  const bool one_form = entry.state == kPresent || entry.digest.is_zero();
  return one_form ? base::OkStatus() : Refuse("digests", "only of entries that are present");
}

base::Status Check(const Chunk& chunk) {
  return chunk.index < chunk.count ? base::OkStatus() : Refuse("index", "beyond the last chunk");
}

base::Status Check(const Reason& reason) {
  const std::string& text = reason.old_text;
  if (reason.cause != Cause::kOldText && !text.empty()) return Refuse("reason", "is a text");
  // It appears on terminals and in logs.
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
  return plain ? base::OkStatus() : Refuse("reason", "control character");
}

base::Status Check(const UsedInvite& invite) {
  const bool fits = invite.users.size() <= (invite.revoked ? 0 : invite.used);
  return fits ? base::OkStatus() : Refuse("users", "more than uses");
}

base::Status Check(const Thresholds& thresholds) {
  const bool fits = thresholds.t_s <= thresholds.n && thresholds.t_a <= thresholds.n;
  return fits ? base::OkStatus() : Refuse("thresholds", "more faults than members");
}

base::Status Check(const Block& block) {
  // A count of trained steps can be taken from every block that was read (TrainedSteps).
  if (block.closing > block.step + 1 || (block.genesis && block.closing > 0)) {
    return base::InvalidArgument("a block says that its run closes, and no run closes there");
  }
  std::size_t users = 0;
  for (const UsedInvite& invite : block.invites) users += invite.users.size();
  return users <= kMaxInviteUsers ? base::OkStatus() : Refuse("users", "too many");
}

// Attack: elements without content take no room in a file, so a small one can claim very many.
base::Status Check(const RecordedTensor& tensor) {
  return tensor.name.empty() ? Refuse("tensor", "without a name") : base::OkStatus();
}

base::Status Check(const RecordedRow& row) {
  return row.key.empty() ? Refuse("record", "without a key") : base::OkStatus();
}

}  // namespace ostraka::wire
