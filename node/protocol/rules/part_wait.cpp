#include "node/protocol/rules/part_wait.h"

#include <algorithm>

#include "node/protocol/ground/deadlines.h"
#include "node/protocol/rules/disputes.h"

namespace ostraka::protocol {
namespace {

constexpr std::uint64_t kQuietSteps = 50;  // that would take all of the wait

std::uint64_t Microseconds(base::Duration duration) {
  return static_cast<std::uint64_t>(duration.ns / 1'000);
}

// A COMMIT, AGG or PROOF did not come in time. Who is silent at REVEAL knows the coin, and is not
// excused; other parameters are no question of time.
bool SomebodyWasAbsent(const SealedStep& sealed, const SealedFaults& faults) {
  return std::any_of(faults.begin(), faults.end(), [&](const auto& one) {
    return one.second.kind == FaultKind::kDrop && !sealed.astray.contains(one.first);
  });
}

}  // namespace

PartWait RuleOnPartWait(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                        const SealedFaults& faults) {
  if (!manifest.adaptive) return {};
  const std::uint64_t wait = Microseconds(PartWaitAfter(head, manifest));
  const std::uint64_t most = Microseconds(manifest.part_timeout);
  if (FailedPairs(sealed, head).empty() && !SomebodyWasAbsent(sealed, faults)) {
    return {std::max(Microseconds(manifest.part_floor), wait - wait / kQuietSteps), false};
  }
  if (2 * wait > most) return {most, false};
  return {2 * wait, true};
}

}  // namespace ostraka::protocol
