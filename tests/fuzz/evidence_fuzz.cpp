// Any bytes as an evidence file. The corpus holds frames of a peer that cheated and of one that did
// not: however the fuzzer cuts and joins them, the honest one is never convicted.
#include <cstdint>

#include "node/base/check.h"
#include "proofs/evidence/evidence.h"
#include "tests/unit/evidence/scene.h"

namespace ostraka::evidence {
namespace {

void CheckFile(ByteView file) {
  const Finding finding = Verify(file);
  OSTRAKA_CHECK(!finding.reason.empty());
  OSTRAKA_CHECK(finding.reason.find('\n') == std::string::npos);
  OSTRAKA_CHECK(*OutcomeName(finding.outcome) != '\0');
  if (finding.outcome != Outcome::kProven) return;
  OSTRAKA_CHECK(finding.accused == CheaterKey().id());
  OSTRAKA_CHECK(finding.accused != HonestKey().id());
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
