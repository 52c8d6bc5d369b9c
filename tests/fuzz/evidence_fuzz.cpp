// Any bytes as an evidence file. The corpus has frames of a cheater, of an honest peer, and of four
// judges. However the fuzzer cuts and joins them, and whatever the cheater and two of the judges
// also sign (evidence_mutator.cpp), honest peers are never convicted.
#include <cstdint>
#include <memory>
#include <vector>

#include "node/base/check.h"
#include "proofs/evidence/evidence.h"
#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::evidence {
namespace {

// The cheater and two judges are faulty, so a conviction needs an honest judge.
const KnownRun& Run() {
  static const KnownRun kRun = RunOfJudges(3);
  return kRun;
}

void CheckFile(ByteView file) {
  Finding finding = Verify(file);
  if (finding.outcome == Outcome::kMissingData) finding = VerifyInRun(file, Run());
  // Only a gradient needs more than the manifest.
  OSTRAKA_CHECK(finding.outcome != Outcome::kMissingData ||
                finding.kind == wire::EvidenceKind::kGradient);
  OSTRAKA_CHECK(!finding.reason.empty());
  OSTRAKA_CHECK(finding.reason.find('\n') == std::string::npos);
  OSTRAKA_CHECK(*OutcomeName(finding.outcome) != '\0');
  if (finding.outcome != Outcome::kProven) return;
  static const crypto::SigningKey kLyingJudges[] = {wire::SampleKey(12), wire::SampleKey(13)};
  OSTRAKA_CHECK(finding.accused == CheaterKey().id() || finding.accused == kLyingJudges[0].id() ||
                finding.accused == kLyingJudges[1].id());
  OSTRAKA_CHECK(finding.slot.phase != wire::Phase::kGenesis);
  OSTRAKA_CHECK(*EvidenceKindName(finding.kind) != '\0');
}

// The files that makers make of two frames, if any.
void CheckMakers(ByteView first, ByteView second) {
  for (const auto& make :
       {MakeEquivocation, MakeFalseReveal, MakeFalsePart, MakeBrokenLock, MakeFalseStatus}) {
    if (const auto made = make(first, second); made.ok()) CheckFile(*made);
  }
  for (const auto& make : {MakeUnreadable, MakeImpossibleNumbers}) {
    if (const auto made = make(second); made.ok()) CheckFile(*made);
  }
}

// The frames and the block of a file, put together by somebody else.
void CheckRemade(const wire::EvidenceFile& file) {
  if (file.frames.empty()) return;
  CheckMakers(file.frames.front(), file.frames.back());
  std::vector<base::SharedBytes> frames;
  for (const Bytes& frame : file.frames) frames.push_back(std::make_shared<const Bytes>(frame));
  if (const auto verdict = MakeVerdict(file.accused, frames, Run()); verdict.ok()) {
    CheckFile(*verdict);
  }
  const auto block = wire::DecodeBlock(file.block);
  if (!block.ok()) return;
  const auto made = MakeSealedBan(file.accused, *block, frames, Run());
  if (made.ok()) CheckFile(*made);
}

void CheckInput(ByteView bytes) {
  CheckFile(bytes);
  if (const auto file = wire::DecodeEvidence(bytes); file.ok()) return CheckRemade(*file);
  CheckMakers(bytes.first(bytes.size() / 2), bytes.subspan(bytes.size() / 2));
}

}  // namespace
}  // namespace ostraka::evidence

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::evidence::CheckInput({data, size});
  return 0;
}
