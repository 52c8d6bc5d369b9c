#include "node/protocol/rules/part_wait.h"

#include <algorithm>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/ground/deadlines.h"

namespace ostraka::protocol {
namespace {

constexpr std::uint64_t kQuietSteps = 50;  // that would take all of the wait

std::uint64_t Microseconds(base::Duration duration) {
  return static_cast<std::uint64_t>(duration.ns / 1'000);
}

// Members whose COMMIT, AGG or PROOF did not come in time. A member that is silent at REVEAL knows
// the coin, and is not among them; nor is one with other parameters, which are no question of time.
std::set<PeerId> Absent(const SealedStep& sealed, const SealedFaults& faults) {
  std::set<PeerId> absent;
  for (const auto& [peer, fault] : faults) {
    if (fault.kind == FaultKind::kDrop && !sealed.astray.contains(peer)) absent.insert(peer);
  }
  return absent;
}

}  // namespace

PartWait RuleOnPartWait(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                        const StepFailures& failures) {
  if (!manifest.adaptive) return {};
  const std::uint64_t wait = Microseconds(PartWaitAfter(head, manifest));
  const std::uint64_t most = Microseconds(manifest.part_timeout);
  std::set<PeerId> absent = Absent(sealed, failures.faults);
  if (!failures.of_pairs && absent.empty()) {
    return {std::max(Microseconds(manifest.part_floor), wait - wait / kQuietSteps)};
  }
  if (base::Planted(base::Bug::kWaitNeverGrows)) return {wait};
  if (2 * wait > most) return {most};
  return {2 * wait, true, std::move(absent)};
}

}  // namespace ostraka::protocol
