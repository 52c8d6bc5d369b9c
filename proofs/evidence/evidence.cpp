#include "proofs/evidence/evidence.h"

#include <memory>
#include <optional>
#include <utility>

#include "crypto/commitment.h"
#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/wire/codec.h"

namespace ostraka::evidence {
namespace {

using wire::MessageType;
using wire::Phase;
using wire::SignedEnvelope;
using wire::Slot;

// Every kind of version 1 is about two messages of one sender.
constexpr std::size_t kFrames = 2;

struct Frames {
  SignedEnvelope first;
  SignedEnvelope second;
};

// Why a file is not proven or malformed; nothing if the check passed.
struct Objection {
  Outcome outcome;
  std::string reason;
};
using Objections = std::optional<Objection>;

Objections Malformed(std::string reason) {
  return Objection{Outcome::kMalformed, std::move(reason)};
}
Objections NotProven(std::string reason) {
  return Objection{Outcome::kNotProven, std::move(reason)};
}

base::StatusOr<SignedEnvelope> OpenCopy(ByteView frame) {
  return wire::Open(std::make_shared<const Bytes>(frame.begin(), frame.end()));
}

Objections CheckEquivocation(const wire::EvidenceFile& file, const Frames& frames) {
  if (frames.first.envelope.slot != file.slot || frames.second.envelope.slot != file.slot) {
    return NotProven("the messages are not both of the slot that the file names");
  }
  if (frames.first.digest == frames.second.digest) {
    return NotProven("both frames carry the same message");
  }
  if (frames.second.digest < frames.first.digest) {
    return Malformed("the frames must be in the order of their digests");
  }
  return std::nullopt;
}

// The COMMIT slot that the coins of a REVEAL were committed in.
Slot CommitSlotOf(const Slot& reveal) {
  Slot commit = reveal;
  commit.phase = Phase::kA;
  commit.type = MessageType::kCommit;
  commit.draw = 0;
  commit.iteration = 0;
  return commit;
}

Objections CheckFalseReveal(const wire::EvidenceFile& file, const Frames& frames) {
  const wire::Envelope& commit_envelope = frames.first.envelope;
  const wire::Envelope& reveal_envelope = frames.second.envelope;
  if (file.slot.type != MessageType::kReveal || reveal_envelope.slot != file.slot) {
    return NotProven("the second message is not the REVEAL that the file names");
  }
  if (commit_envelope.slot != CommitSlotOf(file.slot)) {
    return NotProven("the first message is not the COMMIT of the same step");
  }
  // A COMMIT that nobody can read commits to nothing: nobody counts on its coins.
  const auto commit = wire::DecodeCommit(commit_envelope.body);
  if (!commit.ok()) return NotProven(base::MessageOf(commit.status()));
  // A signed REVEAL that nobody can read opens nothing. No honest peer signs one: there is one
  // encoding of each protocol version, and every decoder accepts it.
  const auto reveal = wire::DecodeReveal(reveal_envelope.body);
  if (!reveal.ok()) return std::nullopt;
  if (crypto::VerifyOpening(file.accused, file.slot.step, file.slot.draw, commit->coin_count,
                            commit->coins_root, reveal->opening)) {
    return NotProven("the revealed coin is the one that was committed to");
  }
  return std::nullopt;
}

Objections CheckKind(const wire::EvidenceFile& file, const Frames& frames) {
  switch (file.kind) {
    case EvidenceKind::kEquivocation:
      return CheckEquivocation(file, frames);
    case EvidenceKind::kFalseReveal:
      return CheckFalseReveal(file, frames);
  }
  return Malformed("unknown kind");
}

// Messages of which an honest peer may have signed two, having lost its store in between; and what
// nobody signs at all.
Objections CheckExempt(const Slot& slot) {
  if (slot.phase == Phase::kGenesis) {
    return NotProven("messages of the genesis seal are never evidence");
  }
  if (slot.type == MessageType::kRejoin) return NotProven("a REJOIN is never evidence");
  if (wire::IsService(slot.type)) return NotProven("a service is never evidence");
  return std::nullopt;
}

// What every kind asks of its frames, cheap checks first.
Objections CheckFrames(const wire::EvidenceFile& file, const Frames& frames,
                       crypto::Verifier& verifier) {
  if (frames.first.envelope.sender != file.accused ||
      frames.second.envelope.sender != file.accused) {
    return NotProven("the messages are not both of the accused");
  }
  if (auto objection = CheckExempt(file.slot)) return objection;
  if (auto objection = CheckKind(file, frames)) return objection;
  for (const SignedEnvelope* message : {&frames.first, &frames.second}) {
    if (!verifier.Verify(file.accused, message->digest, message->signature)) {
      return NotProven("a signature is not the accused's");
    }
  }
  return std::nullopt;
}

Objections CheckFile(const wire::EvidenceFile& file, crypto::Verifier& verifier) {
  if (!file.attachments.empty()) return Malformed("this kind has no attachments");
  if (file.frames.size() != kFrames) return Malformed("this kind has two frames");
  auto first = OpenCopy(file.frames[0]);
  if (!first.ok()) return Malformed("first frame: " + base::MessageOf(first.status()));
  auto second = OpenCopy(file.frames[1]);
  if (!second.ok()) return Malformed("second frame: " + base::MessageOf(second.status()));
  return CheckFrames(file, {*std::move(first), *std::move(second)}, verifier);
}

std::string ProvenReason(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::kEquivocation:
      return "signed two different messages for one slot";
    case EvidenceKind::kFalseReveal:
      return "revealed a coin that it had not committed to";
  }
  OSTRAKA_CHECK(false);  // the decoder refuses other kinds
}

// The file, if it proves what it claims: a maker never hands out an accusation that fails.
base::StatusOr<Bytes> MakeProven(const wire::EvidenceFile& file) {
  Bytes bytes = wire::EncodeEvidence(file);
  const Finding finding = Verify(bytes);
  if (finding.outcome != Outcome::kProven) return base::InvalidArgument(finding.reason);
  return bytes;
}

}  // namespace

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kProven:
      return "proven";
    case Outcome::kNotProven:
      return "not_proven";
    case Outcome::kMalformed:
      return "malformed";
    case Outcome::kMissingData:
      return "missing_data";
  }
  OSTRAKA_CHECK(false);
}

Finding Verify(ByteView file, crypto::Verifier& verifier) {
  const auto decoded = wire::DecodeEvidence(file);
  if (!decoded.ok()) {
    return {Outcome::kMalformed, {}, {}, {}, base::MessageOf(decoded.status())};
  }
  Objections objection = CheckFile(*decoded, verifier);
  if (objection && objection->outcome == Outcome::kMalformed) {
    return {Outcome::kMalformed, {}, {}, {}, std::move(objection->reason)};
  }
  if (objection) {
    return {objection->outcome, decoded->kind, decoded->accused, decoded->slot,
            std::move(objection->reason)};
  }
  return {Outcome::kProven, decoded->kind, decoded->accused, decoded->slot,
          ProvenReason(decoded->kind)};
}

Finding Verify(ByteView file) {
  crypto::PlainVerifier verifier;
  return Verify(file, verifier);
}

base::StatusOr<Bytes> MakeEquivocation(ByteView frame_a, ByteView frame_b) {
  ASSIGN_OR_RETURN(SignedEnvelope a, OpenCopy(frame_a));
  ASSIGN_OR_RETURN(SignedEnvelope b, OpenCopy(frame_b));
  if (b.digest < a.digest) std::swap(a, b);
  return MakeProven(
      {EvidenceKind::kEquivocation, a.envelope.sender, a.envelope.slot, {*a.frame, *b.frame}, {}});
}

base::StatusOr<Bytes> MakeFalseReveal(ByteView commit_frame, ByteView reveal_frame) {
  ASSIGN_OR_RETURN(const SignedEnvelope reveal, OpenCopy(reveal_frame));
  return MakeProven({EvidenceKind::kFalseReveal,
                     reveal.envelope.sender,
                     reveal.envelope.slot,
                     {Bytes(commit_frame.begin(), commit_frame.end()), *reveal.frame},
                     {}});
}

Digest IdOf(ByteView file) { return crypto::Hash(crypto::kDomainEvidence, file); }

}  // namespace ostraka::evidence
