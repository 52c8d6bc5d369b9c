#include "proofs/evidence/evidence.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/wire/codec.h"
#include "proofs/evidence/judges.h"
#include "proofs/evidence/kinds.h"

namespace ostraka::evidence {
namespace {

using internal::Frames;
using internal::Malformed;
using internal::NotProven;
using internal::Objection;
using internal::Objections;
using wire::SignedEnvelope;
using wire::Slot;

base::StatusOr<SignedEnvelope> OpenCopy(ByteView frame) {
  return wire::Open(std::make_shared<const Bytes>(frame.begin(), frame.end()));
}

// Refuses messages of which an honest peer may have signed two after losing its store, and messages
// that no peer signs.
Objections CheckExempt(const Slot& slot) {
  if (slot.phase == wire::Phase::kGenesis) {
    return NotProven("messages of the genesis seal are never evidence");
  }
  if (slot.type == wire::MessageType::kRejoin) return NotProven("a REJOIN is never evidence");
  if (wire::IsService(slot.type)) return NotProven("a service is never evidence");
  return std::nullopt;
}

// What a reader brings to a file.
struct Reader {
  crypto::Verifier& verifier;
  std::span<const KnownRun> views = {};  // empty: no manifest
  const HonestRoot* honest = nullptr;
};

// Any view's members may judge what was done since: each has an honest one among its F + 1.
Objections CheckJudges(const wire::EvidenceFile& file, const Frames& frames,
                       std::span<const KnownRun> views) {
  if (IsOwnWord(file.kind)) return std::nullopt;
  if (views.empty()) {
    return Objection{Outcome::kMissingData,
                     std::to_string(frames.size()) +
                         " keys signed that it is guilty: the run's manifest "
                         "must say whose they are"};
  }
  if (views.front().run_id != file.slot.run_id)
    return NotProven("the evidence is of another run than the manifest");
  Objections objection;
  for (const KnownRun& view : views) {
    if (view.since > file.slot.step) continue;
    Objections of_view = internal::CheckSigners(frames, view);
    if (!of_view) {
      if (file.kind == EvidenceKind::kVerdict) return internal::CheckBan(file, frames, view);
      return std::nullopt;
    }
    if (!objection) objection = std::move(of_view);
  }
  return objection ? objection : NotProven("no view of the run is as old as its judges");
}

Objections MissingData(std::string reason) {
  return Objection{Outcome::kMissingData, std::move(reason)};
}

Objections CheckGradient(const wire::EvidenceFile& file, const Frames& frames,
                         const Reader& reader) {
  if (reader.views.empty() || reader.honest == nullptr) {
    return MissingData(
        "its gradient must be computed: that needs the run's manifest, its data and the parameters "
        "of the step");
  }
  if (reader.views.front().run_id != file.slot.run_id) {
    return NotProven("the evidence is of another run than the manifest");
  }
  auto block = wire::DecodeBlock(file.block);
  const auto* commit = frames[0].As<wire::Commit>();
  OSTRAKA_CHECK(block.ok() && commit != nullptr);  // CheckKind has read both
  const GradientClaim claim{file.accused, file.slot.step, *commit->parameters_root,
                            std::move(block).value()};
  const auto honest = (*reader.honest)(claim);
  if (!honest.ok()) return MissingData(base::MessageOf(honest.status()));
  if (!*honest) return NotProven("no gradient was due from the accused in that step");
  if (**honest == *commit->gradient_root) return NotProven("its gradient is the true one");
  return std::nullopt;
}

// Checks that all kinds share, cheap ones first.
Objections CheckFrames(const wire::EvidenceFile& file, const Frames& frames, const Reader& reader) {
  const auto is_accused = [&](const auto& f) { return f.envelope.sender == file.accused; };
  if (IsOwnWord(file.kind) && !std::all_of(frames.begin(), frames.end(), is_accused)) {
    return NotProven("the messages are not both of the accused");
  }
  if (auto objection = CheckExempt(file.slot)) return objection;
  if (auto objection = internal::CheckKind(file, frames)) return objection;
  for (const SignedEnvelope& message : frames) {
    if (base::Planted(base::Bug::kSignatureSkipped)) continue;
    if (!reader.verifier.Verify(message.envelope.sender, message.digest, message.signature)) {
      return NotProven("a signature is not its sender's");
    }
  }
  if (file.kind == EvidenceKind::kGradient) return CheckGradient(file, frames, reader);
  return CheckJudges(file, frames, reader.views);
}

Objections CheckFile(const wire::EvidenceFile& file, const Reader& reader) {
  if (!file.attachments.empty()) return Malformed("this kind has no attachments");
  const bool own_word = IsOwnWord(file.kind);
  const bool has_block =
      file.kind == EvidenceKind::kSealedBan || file.kind == EvidenceKind::kGradient;
  if (!has_block && !file.block.empty()) {
    return Malformed("this kind has no block");
  }
  const std::size_t frames_due = internal::FramesOf(file.kind);
  if (own_word ? file.frames.size() != frames_due : file.frames.size() < frames_due) {
    return Malformed("this kind has " + std::string(own_word ? "" : "at least ") +
                     std::to_string(frames_due) + (frames_due == 1 ? " frame" : " frames"));
  }
  Frames frames;
  for (const Bytes& bytes : file.frames) {
    auto opened = OpenCopy(bytes);
    if (!opened.ok()) {
      return Malformed("frame " + std::to_string(frames.size()) + ": " +
                       base::MessageOf(opened.status()));
    }
    frames.push_back(std::move(opened).value());
  }
  return CheckFrames(file, frames, reader);
}

Finding Judge(ByteView file, const Reader& reader) {
  const auto decoded = wire::DecodeEvidence(file);
  if (!decoded.ok()) {
    return {Outcome::kMalformed, {}, {}, {}, base::MessageOf(decoded.status())};
  }
  Objections objection = CheckFile(*decoded, reader);
  if (objection && objection->outcome == Outcome::kMalformed) {
    return {Outcome::kMalformed, {}, {}, {}, std::move(objection->reason)};
  }
  if (objection) {
    return {objection->outcome, decoded->kind, decoded->accused, decoded->slot,
            std::move(objection->reason)};
  }
  return {Outcome::kProven, decoded->kind, decoded->accused, decoded->slot,
          internal::ProvenReason(decoded->kind)};
}

// The file if it proves its claim: a maker never returns an accusation that fails to verify.
base::StatusOr<Bytes> MakeProven(const wire::EvidenceFile& file, const KnownRun* run) {
  Bytes bytes = wire::EncodeEvidence(file);
  crypto::PlainVerifier verifier;
  const std::span<const KnownRun> views =
      run == nullptr ? std::span<const KnownRun>() : std::span(run, 1);
  const Finding finding = Judge(bytes, {.verifier = verifier, .views = views});
  if (finding.outcome != Outcome::kProven) return base::InvalidArgument(finding.reason);
  return bytes;
}

// Makes a file of frames whose last one is the offence.
base::StatusOr<Bytes> MakeOf(EvidenceKind kind, const std::vector<ByteView>& frames) {
  ASSIGN_OR_RETURN(const SignedEnvelope offence, OpenCopy(frames.back()));
  wire::EvidenceFile file;
  file.kind = kind;
  file.accused = offence.envelope.sender;
  file.slot = offence.envelope.slot;
  for (const ByteView frame : frames) file.frames.emplace_back(frame.begin(), frame.end());
  return MakeProven(file, nullptr);
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
  return Judge(file, {.verifier = verifier});
}

Finding Verify(ByteView file) {
  crypto::PlainVerifier verifier;
  return Judge(file, {.verifier = verifier});
}

Finding VerifyInRun(ByteView file, const KnownRun& run) {
  crypto::PlainVerifier verifier;
  return Judge(file, {.verifier = verifier, .views = {&run, 1}});
}

Finding VerifyInViews(ByteView file, const Views& views) {
  OSTRAKA_CHECK(!views.empty());
  crypto::PlainVerifier verifier;
  return Judge(file, {.verifier = verifier, .views = views});
}

Finding VerifyByComputing(ByteView file, const Views& views, const HonestRoot& honest) {
  OSTRAKA_CHECK(!views.empty());
  crypto::PlainVerifier verifier;
  return Judge(file, {.verifier = verifier, .views = views, .honest = &honest});
}

base::StatusOr<Bytes> MakeEquivocation(ByteView frame_a, ByteView frame_b) {
  ASSIGN_OR_RETURN(SignedEnvelope a, OpenCopy(frame_a));
  ASSIGN_OR_RETURN(SignedEnvelope b, OpenCopy(frame_b));
  if (b.digest < a.digest) std::swap(a, b);
  return MakeOf(EvidenceKind::kEquivocation, {*a.frame, *b.frame});
}

base::StatusOr<Bytes> MakeFalseReveal(ByteView commit_frame, ByteView reveal_frame) {
  return MakeOf(EvidenceKind::kFalseReveal, {commit_frame, reveal_frame});
}

base::StatusOr<Bytes> MakeFalsePart(ByteView commit_frame, ByteView part_frame) {
  return MakeOf(EvidenceKind::kFalsePart, {commit_frame, part_frame});
}

base::StatusOr<Bytes> MakeUnreadable(ByteView frame) {
  return MakeOf(EvidenceKind::kUnreadable, {frame});
}

base::StatusOr<Bytes> MakeImpossibleNumbers(ByteView proof_frame) {
  return MakeOf(EvidenceKind::kImpossibleNumbers, {proof_frame});
}

base::StatusOr<Bytes> MakeBrokenLock(ByteView lock_frame, ByteView vote_frame) {
  return MakeOf(EvidenceKind::kBrokenLock, {lock_frame, vote_frame});
}

base::StatusOr<Bytes> MakeFalseStatus(ByteView word_frame, ByteView status_frame) {
  return MakeOf(EvidenceKind::kFalseStatus, {word_frame, status_frame});
}

base::StatusOr<Bytes> MakeSealedBan(const PeerId& accused, const wire::Block& block,
                                    const std::vector<base::SharedBytes>& commit_frames,
                                    const KnownRun& run) {
  wire::EvidenceFile file;
  file.kind = EvidenceKind::kSealedBan;
  file.accused = accused;
  file.block = wire::EncodeBlock(block);
  ASSIGN_OR_RETURN(file.frames, internal::JudgesOf(commit_frames, run));
  file.slot.run_id = run.run_id;
  file.slot.step = block.step;
  file.slot.phase = wire::Phase::kC;
  file.slot.type = wire::MessageType::kProof;
  return MakeProven(file, &run);
}

base::StatusOr<Bytes> MakeFalseGradient(ByteView commit_frame, ByteView block) {
  ASSIGN_OR_RETURN(const SignedEnvelope commit, OpenCopy(commit_frame));
  wire::EvidenceFile file;
  file.kind = EvidenceKind::kGradient;
  file.accused = commit.envelope.sender;
  file.slot = commit.envelope.slot;
  file.frames.emplace_back(commit_frame.begin(), commit_frame.end());
  file.block.assign(block.begin(), block.end());
  Bytes bytes = wire::EncodeEvidence(file);
  crypto::PlainVerifier verifier;
  const Finding finding = Judge(bytes, {.verifier = verifier});
  if (finding.outcome != Outcome::kMissingData) return base::InvalidArgument(finding.reason);
  return bytes;
}

base::StatusOr<Bytes> MakeVerdict(const PeerId& accused,
                                  const std::vector<base::SharedBytes>& proof_frames,
                                  const KnownRun& run) {
  wire::EvidenceFile file;
  file.kind = EvidenceKind::kVerdict;
  file.accused = accused;
  ASSIGN_OR_RETURN(file.frames, internal::JudgesOf(proof_frames, run));
  file.slot.run_id = run.run_id;
  for (const Bytes& frame : file.frames) {
    ASSIGN_OR_RETURN(const SignedEnvelope opened, OpenCopy(frame));
    file.slot.step = std::max(file.slot.step, opened.envelope.slot.step);
  }
  file.slot.phase = wire::Phase::kC;
  file.slot.type = wire::MessageType::kProof;
  return MakeProven(file, &run);
}

Digest IdOf(ByteView file) { return crypto::Hash(crypto::kDomainEvidence, file); }

}  // namespace ostraka::evidence
