#include "node/protocol/lasting/replay.h"

#include "node/base/check.h"
#include "node/protocol/ground/schedule.h"

namespace ostraka::protocol {

void Replay::Add(Item item) {
  OSTRAKA_CHECK(item.results.size() == item.block->columns.size());
  OSTRAKA_CHECK(waiting_.empty() ||
                HeightOf(*item.block) == HeightOf(*waiting_.back().block) + 1);  // R1
  waiting_.push_back(std::move(item));
}

void Replay::Start(JobDesk& desk, const Manifest& manifest, const base::TensorLayout& layout,
                   const ModelState& state, std::uint64_t now) {
  OSTRAKA_CHECK(!waiting_.empty() && !job_);
  const auto& [block, results] = waiting_.front();
  UpdateSpec spec;
  spec.state = state;
  spec.layout = layout;
  const auto ranges =
      block->columns.empty()
          ? std::vector<PartRange>{}
          : CutParts(state.parameters->size(), static_cast<std::uint32_t>(block->columns.size()));
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    if (results[j] != nullptr) spec.columns.push_back({ranges[j], results[j]});
  }
  spec.codec = manifest.codecs.results;
  spec.step = OptimizerStepOf(manifest.training, block->step);
  job_ = desk.Start({.about = block->step, .asked_in = now}, std::move(spec));
}

Replay::Item Replay::Take(JobId id) {
  OSTRAKA_CHECK(job_ == id);
  job_.reset();
  Item item = std::move(waiting_.front());
  waiting_.pop_front();
  return item;
}

void Replay::Clear() {
  waiting_.clear();
  job_.reset();
}

void Replay::CheckInvariants() const {
  OSTRAKA_CHECK(!job_ || !waiting_.empty());  // a job is about the first block that waits
}

void Replay::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, waiting_, job_); }

}  // namespace ostraka::protocol
