#include "node/protocol/ground/batches.h"

#include <algorithm>

namespace ostraka::protocol {

BatchPlan BatchPlanOf(const wire::Block& before) {
  return {before.randomness, before.batch_counts};
}

std::uint32_t BatchesOf(const PeerId& worker, const std::vector<wire::BatchCount>& counts,
                        const TrainingPlan& plan) {
  const auto at = std::lower_bound(
      counts.begin(), counts.end(), worker,
      [](const wire::BatchCount& count, const PeerId& peer) { return count.peer < peer; });
  return at != counts.end() && at->peer == worker ? at->count : plan.batches;
}

bool MayBeCounts(const std::vector<wire::BatchCount>& counts, const TrainingPlan& plan) {
  return std::all_of(counts.begin(), counts.end(), [&plan](const wire::BatchCount& each) {
    return plan.batches < each.count && each.count <= plan.most_batches;
  });
}

bool MaySay(std::uint32_t next_batches, const TrainingPlan& plan) {
  if (!BatchesVary(plan)) return next_batches == 0;
  return plan.batches <= next_batches && next_batches <= plan.most_batches;
}

}  // namespace ostraka::protocol
