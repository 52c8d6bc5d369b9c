#include "node/protocol/ground/known_run.h"

#include <algorithm>
#include <set>

namespace ostraka::protocol {

namespace {

// In the runs of a protocol version: wire.md, "Versions".
std::set<wire::CaseKind> SuspendingIn(std::uint32_t version) {
  if (version < 6) return {};
  if (version == 6) return {wire::CaseKind::kGradient};
  return {wire::CaseKind::kGradient, wire::CaseKind::kNumbers};
}

}  // namespace

evidence::KnownRun KnownRunOf(const Manifest& manifest) {
  evidence::KnownRun run;
  run.run_id = manifest.run_id;
  for (const Member& member : manifest.members) run.members.push_back(member.id);
  std::sort(run.members.begin(), run.members.end());
  run.faults = FaultBound(GenesisThresholds(manifest));
  if (manifest.compute_profile == kExact) run.suspending = SuspendingIn(manifest.protocol_version);
  return run;
}

}  // namespace ostraka::protocol
