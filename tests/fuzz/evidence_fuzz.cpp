// Any bytes as an evidence file. The corpus holds frames of a peer that cheated, of one that did
// not, and of four judges. However the fuzzer cuts and joins them, and whatever the cheater and two
// of the judges sign besides (evidence_mutator.cpp), the honest are never convicted.
#include <cstdint>

#include "node/base/check.h"
#include "proofs/evidence/evidence.h"
#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::evidence {
namespace {

void CheckFile(ByteView file) {
  Finding finding = Verify(file);
  // The cheater and two judges are at fault, so that it takes an honest judge's word.
  static const KnownRun kRun = RunOfJudges(3);
  if (finding.outcome == Outcome::kMissingData) finding = VerifyInRun(file, kRun);
  OSTRAKA_CHECK(finding.outcome != Outcome::kMissingData);
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

// The same bytes as two frames: what a maker makes of them, if anything.
void CheckMakers(ByteView bytes) {
  const ByteView first = bytes.first(bytes.size() / 2);
  const ByteView second = bytes.subspan(bytes.size() / 2);
  for (const auto& made : {MakeEquivocation(first, second), MakeFalseReveal(first, second)}) {
    if (made.ok()) CheckFile(*made);
  }
}

}  // namespace
}  // namespace ostraka::evidence

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::evidence::CheckFile({data, size});
  ostraka::evidence::CheckMakers({data, size});
  return 0;
}
