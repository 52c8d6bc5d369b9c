#include "node/protocol/rules/recomputing.h"

#include <algorithm>

#include "node/protocol/ground/deadlines.h"

namespace ostraka::protocol {

base::Duration RecomputeTimeAfter(const wire::Block& head, const Manifest& manifest) {
  const base::Duration wait = PartWaitAfter(head, manifest);
  const bool exact = manifest.compute_profile == kExact;
  const TrainingPlan& plan = manifest.training;
  return {wait.ns / 4 * (exact ? 5 : 2) / plan.batches * plan.most_batches};
}

base::Duration CaseTimeAfter(const wire::Block& head, const Manifest& manifest) {
  return RecomputeTimeAfter(head, manifest) * 2;
}

base::Duration ProofExtraFor(const PeerId& member, const wire::Block& head, const Roles& roles,
                             const Manifest& manifest) {
  std::size_t owed = 0;
  for (const Case* open : CasesInWork(head, manifest.compute_profile == kExact)) {
    owed += IsParty(*open, member) || HasVoted(*open, member) ? 0 : 1;
  }
  owed = std::min(owed, kGradientCasesABlock);
  const base::Duration votes = CaseTimeAfter(head, manifest) * static_cast<std::int64_t>(owed);
  return roles.AssignmentOf(member) ? votes + RecomputeTimeAfter(head, manifest) : votes;
}

namespace {

// Of a step without cases. A validator of a worker that averages many batches has time for all of
// them: seal C must not end before.
base::Duration QuietProofDeadline(const wire::Block& head, const Manifest& manifest) {
  const TrainingPlan& plan = manifest.training;
  const base::Duration most = RecomputeTimeAfter(head, manifest);
  const base::Duration least{most.ns / plan.most_batches * plan.batches};
  const base::Duration more = BatchesVary(plan) ? most - least : base::Duration{};
  return SealDeadlineAfter(head, manifest) + more;
}

}  // namespace

base::Duration ProofDeadlineAfter(const wire::Block& head, const Manifest& manifest) {
  const std::size_t cases = CasesInWork(head, manifest.compute_profile == kExact).size();
  return QuietProofDeadline(head, manifest) +
         CaseTimeAfter(head, manifest) *
             static_cast<std::int64_t>(std::min(cases, kGradientCasesABlock));
}

base::Duration LongestProofDeadlineAfter(const wire::Block& head, const Manifest& manifest) {
  return QuietProofDeadline(head, manifest) +
         CaseTimeAfter(head, manifest) * std::int64_t{kGradientCasesABlock};
}

FreeDelay FreeDelayIn(const Manifest& manifest) {
  wire::Block quiet;  // the wait of a run in which nobody is late
  quiet.part_us = static_cast<std::uint64_t>(manifest.part_floor.ns / 1'000);
  const base::Duration grace = manifest.patience + manifest.delta * 3;
  const base::Duration each_step = grace * 4 + manifest.delta * 6;
  return {each_step, each_step + RecomputeTimeAfter(quiet, manifest)};
}

}  // namespace ostraka::protocol
