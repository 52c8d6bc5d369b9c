#include "proofs/evidence/kinds.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "crypto/commitment.h"
#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/wire/block.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "proofs/evidence/judges.h"

namespace ostraka::evidence::internal {
namespace {

using wire::EvidenceFile;
using wire::MessageType;
using wire::Phase;
using wire::Slot;

// The COMMIT slot of the step that a message belongs to.
Slot CommitSlotOf(const Slot& of_step) {
  Slot commit = of_step;
  commit.phase = Phase::kA;
  commit.type = MessageType::kCommit;
  commit.draw = 0;
  commit.iteration = 0;
  return commit;
}

Objections CheckEquivocation(const EvidenceFile& file, const Frames& frames) {
  if (frames[0].envelope.slot != file.slot || frames[1].envelope.slot != file.slot) {
    return NotProven("the messages are not both of the slot that the file names");
  }
  if (frames[0].digest == frames[1].digest) return NotProven("both frames carry the same message");
  if (frames[1].digest < frames[0].digest) {
    return Malformed("the frames must be in the order of their digests");
  }
  return std::nullopt;
}

// Checks two frames: the COMMIT of a step, and a message of `type` that the file names.
Objections CheckAgainstCommit(const EvidenceFile& file, const Frames& frames, MessageType type) {
  const std::string name = wire::MessageTypeName(type);
  if (file.slot.type != type || frames[1].envelope.slot != file.slot) {
    return NotProven("the second message is not the " + name + " that the file names");
  }
  if (frames[0].envelope.slot != CommitSlotOf(file.slot)) {
    return NotProven("the first message is not the commit of the same step");
  }
  return std::nullopt;
}

Objections CheckFalseReveal(const EvidenceFile& file, const Frames& frames) {
  if (auto objection = CheckAgainstCommit(file, frames, MessageType::kReveal)) return objection;
  // An unreadable COMMIT commits to nothing, and no peer relies on its coins.
  const auto* commit = frames[0].As<wire::Commit>();
  if (commit == nullptr) return NotProven(frames[0].WhyUnreadable());
  // A signed, unreadable REVEAL opens nothing. No honest peer signs one: each protocol version has
  // one encoding, and every decoder accepts it.
  const auto* reveal = frames[1].As<wire::Reveal>();
  if (reveal == nullptr) return std::nullopt;
  if (crypto::VerifyOpening(file.accused, file.slot.step, file.slot.draw, commit->coin_count,
                            commit->coins_root, reveal->opening)) {
    return NotProven("the revealed coin is the one that was committed to");
  }
  return std::nullopt;
}

// The accused does not state the number of parts, so the file cannot name it. An honest PART lies
// under its COMMIT for the true number; a false one must not lie under it for any number.
Objections CheckFalsePart(const EvidenceFile& file, const Frames& frames) {
  if (auto objection = CheckAgainstCommit(file, frames, MessageType::kPart)) return objection;
  const auto* commit = frames[0].As<wire::Commit>();
  if (commit == nullptr) return NotProven(frames[0].WhyUnreadable());
  const auto* part = frames[1].As<wire::Part>();
  if (part == nullptr) return NotProven(frames[1].WhyUnreadable());
  // A validator's COMMIT promises no gradient, and a validator sends no PART.
  if (!commit->gradient_root) return std::nullopt;
  const std::size_t index = file.slot.iteration;
  for (std::size_t parts = index + 1; parts <= wire::kMaxParts; ++parts) {
    if (crypto::VerifyMerklePath(*commit->gradient_root, part->root, index, parts, part->path)) {
      return NotProven("the part lies under its commit");
    }
  }
  return std::nullopt;
}

Objections CheckUnreadable(const EvidenceFile& file, const Frames& frames) {
  if (frames[0].envelope.slot != file.slot) {
    return NotProven("the message is not of the slot that the file names");
  }
  if (frames[0].IsReadable()) return NotProven("the body can be read");
  return std::nullopt;
}

// Impossible for any part length and tau, which the accused does not state: directions are unit
// vectors, so |<z, D>| <= |D| <= norm; one part in 2^40 is allowed for rounding. For a missing
// aggregate only the size is stated; protocol version 1 had none, and it reads as 0.
bool IsImpossible(const wire::ColumnNumbers& numbers) {
  if (!std::isfinite(numbers.size) || numbers.size < 0) return true;
  if (numbers.missing) return false;
  if (!std::isfinite(numbers.norm) || numbers.norm < 0) return true;
  const double bound = numbers.norm * (1 + 0x1.0p-40);
  return std::any_of(numbers.s.begin(), numbers.s.end(),
                     [&](double s) { return !std::isfinite(s) || std::abs(s) > bound; });
}

Objections CheckImpossibleNumbers(const EvidenceFile& file, const Frames& frames) {
  if (file.slot.type != MessageType::kProof || frames[0].envelope.slot != file.slot) {
    return NotProven("the message is not the proof that the file names");
  }
  const auto* proof = frames[0].As<wire::Proof>();
  if (proof == nullptr) return NotProven(frames[0].WhyUnreadable());
  if (!std::any_of(proof->columns.begin(), proof->columns.end(), IsImpossible)) {
    return NotProven("every column's numbers are possible");
  }
  return std::nullopt;
}

// The seal of a slow-path message, without its leader iteration.
Slot SealOf(Slot slot) {
  slot.type = MessageType::kEcho;
  slot.iteration = 0;
  return slot;
}

Objections CheckBrokenLock(const EvidenceFile& file, const Frames& frames) {
  const Slot& lock_slot = frames[0].envelope.slot;
  const Slot& vote_slot = frames[1].envelope.slot;
  if (file.slot.type != MessageType::kVote || vote_slot != file.slot) {
    return NotProven("the second message is not the vote that the file names");
  }
  if (lock_slot.type != MessageType::kLock || SealOf(lock_slot) != SealOf(vote_slot) ||
      lock_slot.iteration >= vote_slot.iteration) {
    return NotProven("the first message is not a lock of an earlier iteration of the same seal");
  }
  const auto* lock = frames[0].As<wire::Lock>();
  if (lock == nullptr) return NotProven(frames[0].WhyUnreadable());
  const auto* vote = frames[1].As<wire::SealVote>();
  if (vote == nullptr) return NotProven(frames[1].WhyUnreadable());
  // A LOCK of iteration k has rank k + 1, and the voter's lock only rises.
  if (vote->rank > lock_slot.iteration) return NotProven("the vote respects the lock");
  return std::nullopt;
}

// An honest member's STATUS states its lock, or the vector that it echoed.
Objections CheckFalseStatus(const EvidenceFile& file, const Frames& frames) {
  const wire::Envelope& word = frames[0].envelope;
  const wire::Envelope& status = frames[1].envelope;
  if (file.slot.type != MessageType::kStatus || status.slot != file.slot) {
    return NotProven("the second message is not the status that the file names");
  }
  if (SealOf(word.slot) != SealOf(status.slot) || word.entry != status.entry) {
    return NotProven("the messages are not of the same seal");
  }
  const auto* body = frames[1].As<wire::SealStatus>();
  if (body == nullptr) return NotProven(frames[1].WhyUnreadable());
  if (word.slot.type == MessageType::kEcho) {
    const auto* echo = frames[0].As<wire::Echo>();
    if (echo == nullptr) return NotProven(frames[0].WhyUnreadable());
    if (body->rank > 0) return NotProven("the status states a lock, not an echo");
    if (body->value == echo->vector) return NotProven("the status names what was echoed");
    return std::nullopt;
  }
  if (word.slot.type != MessageType::kLock || word.slot.iteration >= status.slot.iteration) {
    return NotProven("the first message is no echo, and no lock of an earlier iteration");
  }
  const auto* lock = frames[0].As<wire::Lock>();
  if (lock == nullptr) return NotProven(frames[0].WhyUnreadable());
  // A LOCK of iteration k has rank k + 1, and its signer's lock only rises.
  if (body->rank > word.slot.iteration) return NotProven("the status respects the lock");
  return std::nullopt;
}

// Cases in which a PROOF votes against `accused`; with a run, in such a way that it may be banned.
std::set<wire::CaseId> CasesAgainst(const PeerId& accused, const wire::Proof& proof,
                                    const KnownRun* run) {
  std::set<wire::CaseId> cases;
  for (const wire::Vote& vote : proof.votes) {
    if ((run == nullptr ? CondemnedBy(vote) : BannedBy(vote, *run)) == accused) {
      cases.insert(vote.about);
    }
  }
  return cases;
}

// Those of all frames.
base::StatusOr<std::set<wire::CaseId>> CommonCases(const PeerId& accused, const Frames& frames,
                                                   const KnownRun* run) {
  std::optional<std::set<wire::CaseId>> common;
  for (const wire::SignedEnvelope& frame : frames) {
    const auto* proof = frame.As<wire::Proof>();
    if (proof == nullptr) return base::InvalidArgument(frame.WhyUnreadable());
    const auto cases = CasesAgainst(accused, *proof, run);
    if (!common) common = cases;
    std::erase_if(*common, [&](const wire::CaseId& id) { return !cases.contains(id); });
  }
  return common.value_or(std::set<wire::CaseId>{});
}

// All frames vote against the accused in one case. Verify checks who the voters are.
Objections CheckVerdict(const EvidenceFile& file, const Frames& frames) {
  const Slot last{file.slot.run_id, 0, file.slot.step, Phase::kC, MessageType::kProof, 0, 0};
  if (file.slot != last) return NotProven("the file names no proof's slot");
  std::uint64_t newest = 0;
  for (const wire::SignedEnvelope& frame : frames) {
    Slot slot = frame.envelope.slot;
    newest = std::max(newest, slot.step);
    slot.step = last.step;
    if (slot != last) return NotProven("a frame is no proof of the run");
    if (frame.envelope.sender == file.accused) return NotProven("the accused is no judge");
  }
  const auto common = CommonCases(file.accused, frames, nullptr);
  if (!common.ok()) return NotProven(base::MessageOf(common.status()));
  if (newest != last.step) return NotProven("the file names another step than its last vote's");
  if (common->empty()) return NotProven("the proofs do not all vote against it in one case");
  return CheckOrder(frames);
}

// The COMMIT names a gradient and the parameters that it is due at, and builds on the block. Verify
// checks the gradient itself.
Objections CheckGradient(const EvidenceFile& file, const Frames& frames) {
  const wire::Envelope& commit = frames[0].envelope;
  if (file.slot.type != MessageType::kCommit || commit.slot != file.slot) {
    return NotProven("the message is not the commit that the file names");
  }
  const auto block = wire::DecodeBlock(file.block);
  if (!block.ok()) return Malformed(base::MessageOf(block.status()));
  const std::uint64_t next = block->genesis ? 0 : block->step + 1;
  if (commit.slot.step != next || commit.entry != wire::DigestOfBlock(file.block)) {
    return NotProven("the commit does not build on the block");
  }
  const auto* body = frames[0].As<wire::Commit>();
  if (body == nullptr) return NotProven(frames[0].WhyUnreadable());
  if (!body->gradient_root || !body->parameters_root) {
    return NotProven("the commit names no gradient, or not at which parameters");
  }
  return std::nullopt;
}

// The block bans the accused, and the frames name it as their parent. Verify checks who the signers
// are.
Objections CheckSealedBan(const EvidenceFile& file, const Frames& frames) {
  const auto block = wire::DecodeBlock(file.block);
  if (!block.ok()) return Malformed(base::MessageOf(block.status()));
  const bool bans = std::any_of(block->removals.begin(), block->removals.end(), [&](const auto& r) {
    return r.peer == file.accused && wire::IsBan(r.kind);
  });
  const Slot sealed{file.slot.run_id, 0, block->step, Phase::kC, MessageType::kProof, 0, 0};
  if (block->genesis || !bans) return NotProven("the block does not ban the accused");
  if (file.slot != sealed) return NotProven("the file names another slot than the block's seal c");
  return CheckBuilding(frames, file.slot.run_id, *block);
}

}  // namespace

Objections Malformed(std::string reason) {
  return Objection{Outcome::kMalformed, std::move(reason)};
}
Objections NotProven(std::string reason) {
  return Objection{Outcome::kNotProven, std::move(reason)};
}

std::size_t FramesOf(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::kUnreadable:
    case EvidenceKind::kImpossibleNumbers:
    case EvidenceKind::kSealedBan:
    case EvidenceKind::kVerdict:
    case EvidenceKind::kGradient:
      return 1;
    case EvidenceKind::kEquivocation:
    case EvidenceKind::kFalseReveal:
    case EvidenceKind::kFalsePart:
    case EvidenceKind::kBrokenLock:
    case EvidenceKind::kFalseStatus:
      return 2;
  }
  OSTRAKA_CHECK(false);  // the decoder refuses other kinds
}

Objections CheckKind(const EvidenceFile& file, const Frames& frames) {
  switch (file.kind) {
    case EvidenceKind::kEquivocation:
      return CheckEquivocation(file, frames);
    case EvidenceKind::kFalseReveal:
      return CheckFalseReveal(file, frames);
    case EvidenceKind::kUnreadable:
      return CheckUnreadable(file, frames);
    case EvidenceKind::kFalsePart:
      return CheckFalsePart(file, frames);
    case EvidenceKind::kImpossibleNumbers:
      return CheckImpossibleNumbers(file, frames);
    case EvidenceKind::kBrokenLock:
      return CheckBrokenLock(file, frames);
    case EvidenceKind::kSealedBan:
      return CheckSealedBan(file, frames);
    case EvidenceKind::kFalseStatus:
      return CheckFalseStatus(file, frames);
    case EvidenceKind::kVerdict:
      return CheckVerdict(file, frames);
    case EvidenceKind::kGradient:
      return CheckGradient(file, frames);
  }
  OSTRAKA_CHECK(false);
}

Objections CheckBan(const EvidenceFile& file, const Frames& frames, const KnownRun& run) {
  const auto cases = CommonCases(file.accused, frames, &run);
  OSTRAKA_CHECK(cases.ok());  // CheckKind has read the frames
  if (!cases->empty()) return std::nullopt;
  return NotProven("in this run such votes suspend, and ban only who is found guilty twice");
}

std::string ProvenReason(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::kEquivocation:
      return "signed two different messages for one slot";
    case EvidenceKind::kFalseReveal:
      return "revealed a coin that it had not committed to";
    case EvidenceKind::kUnreadable:
      return "signed a message that nobody can read";
    case EvidenceKind::kFalsePart:
      return "sent a part that is not under its commit";
    case EvidenceKind::kImpossibleNumbers:
      return "stated numbers that no gradient has";
    case EvidenceKind::kBrokenLock:
      return "voted against an earlier lock of its own";
    case EvidenceKind::kSealedBan:
      return "banned by a block that more members than can be at fault built on";
    case EvidenceKind::kFalseStatus:
      return "denied in a status what it had echoed or locked";
    case EvidenceKind::kVerdict:
      return "found guilty in one case by more members than can be at fault";
    case EvidenceKind::kGradient:
      return "signed a gradient that does not follow from its parameters and its batch";
  }
  OSTRAKA_CHECK(false);
}

}  // namespace ostraka::evidence::internal

namespace ostraka::evidence {

using wire::MessageType;

bool IsOwnWord(EvidenceKind kind) {
  return kind != EvidenceKind::kSealedBan && kind != EvidenceKind::kVerdict;
}

std::optional<PeerId> CondemnedBy(const wire::Vote& vote) {
  if (wire::Condemns(vote.verdict)) return vote.about.target;
  const bool has_accuser = vote.about.kind != wire::CaseKind::kCover;
  if (vote.verdict == wire::Verdict::kInnocent && has_accuser) return vote.about.accuser;
  return std::nullopt;
}

std::optional<PeerId> BannedBy(const wire::Vote& vote, const KnownRun& run) {
  const bool suspends = run.suspending.contains(vote.about.kind);
  if (suspends && vote.verdict != wire::Verdict::kTwice) return std::nullopt;
  return CondemnedBy(vote);
}

}  // namespace ostraka::evidence
