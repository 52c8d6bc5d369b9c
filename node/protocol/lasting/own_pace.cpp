#include "node/protocol/lasting/own_pace.h"

#include <algorithm>
#include <vector>

namespace ostraka::protocol {

void OwnPace::Note(base::Duration took, std::uint32_t batches) {
  a_batch_.push_back({took.ns / batches});
  if (a_batch_.size() > kPaces) a_batch_.pop_front();
}

std::uint16_t OwnPace::NextBatches(const Manifest& manifest, std::uint32_t percent) const {
  const TrainingPlan& plan = manifest.training;
  if (!BatchesVary(plan)) return 0;
  std::uint64_t fit = plan.batches;
  if (!a_batch_.empty()) {
    std::vector<base::Duration> paces(a_batch_.begin(), a_batch_.end());
    const auto median = paces.begin() + static_cast<std::ptrdiff_t>(paces.size() / 2);
    std::nth_element(paces.begin(), median, paces.end());
    const std::int64_t time = WorkIn(manifest).ns / 500 * 4 * percent;
    fit = static_cast<std::uint64_t>(time / std::max<std::int64_t>(median->ns, 1));
  }
  return static_cast<std::uint16_t>(
      std::clamp<std::uint64_t>(fit, plan.batches, plan.most_batches));
}

}  // namespace ostraka::protocol
