#include "node/protocol/ground/known_run.h"

#include <algorithm>

namespace ostraka::protocol {

evidence::KnownRun KnownRunOf(const Manifest& manifest) {
  evidence::KnownRun run;
  run.run_id = manifest.run_id;
  for (const Member& member : manifest.members) run.members.push_back(member.id);
  std::sort(run.members.begin(), run.members.end());
  run.faults = FaultBound(GenesisThresholds(manifest));
  if (manifest.compute_profile == kExact) {
    run.suspending = {wire::CaseKind::kGradient, wire::CaseKind::kNumbers};
  }
  return run;
}

}  // namespace ostraka::protocol
