#include "sim/check/chronicle.h"

#include <algorithm>
#include <utility>

namespace ostraka::sim {

Chronicle::Chronicle(const Roster& roster, std::uint32_t batches, BlockSink sink)
    : heights_(roster.ids.size()),
      roster_(roster),
      least_batches_(batches),
      sink_(std::move(sink)) {}

void Chronicle::OnStep(const StepRecord& record) {
  if (!roster_.IsHonest(record.peer)) return;
  for (const protocol::Action& action : record.actions) {
    if (const auto* done = Observed<protocol::StepDone>(action)) {
      OnBlock(record.peer, *done);
    } else if (const auto* suspicion = Observed<protocol::Suspicion>(action)) {
      ++suspicions_[suspicion->check];
    } else if (const auto* slow = Observed<protocol::SlowSeal>(action)) {
      ++slow_iterations_;
      slow_steps_.insert(slow->step);
    }
  }
}

void Chronicle::OnBlock(std::uint32_t peer, const protocol::StepDone& done) {
  const wire::Block& block = *done.block;
  if (block.genesis) return;
  heights_[peer] = std::max(heights_[peer], wire::TrainedSteps(block));
  if (block.step < height_) return;
  height_ = block.step + 1;
  parameters_ = done.state.parameters;
  removals_.insert(removals_.end(), block.removals.begin(), block.removals.end());
  returned_.insert(returned_.end(), block.joined.begin(), block.joined.end());
  for (const wire::ColumnFate fate : block.columns) ++columns_[wire::ColumnFateName(fate)];
  CountBatches(block);
  for (const wire::Lateness& late : block.lateness) {
    const auto at = std::find(roster_.ids.begin(), roster_.ids.end(), late.peer);
    if (at == roster_.ids.end()) continue;
    if (!roster_.IsHonest(static_cast<std::uint32_t>(at - roster_.ids.begin()))) continue;
    honest_late_ms_ = std::max(honest_late_ms_, late.ms);
  }
  if (sink_) sink_(block, *parameters_);
}

void Chronicle::CountBatches(const wire::Block& block) {
  batches_ += std::uint64_t{least_batches_} * block.proven.size();
  for (const wire::BatchCount& listed : counts_) {
    const bool worked = std::binary_search(block.proven.begin(), block.proven.end(), listed.peer);
    if (worked) batches_ += listed.count - least_batches_;
  }
  counts_ = block.batch_counts;
}

std::uint64_t Chronicle::steps() const {
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t i = 0; i < heights_.size(); ++i) {
    if (roster_.IsHonest(i)) least = std::min(least, heights_[i]);
  }
  return least;
}

}  // namespace ostraka::sim
