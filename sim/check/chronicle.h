// The history of a run, read from its chain: each block as the first honest peer that accepts it
// reports it. Checkers compare the peers; this class does not.
//
// Promises:
//   K1  A block counts once, when the first honest peer finishes it, in ascending steps.
//   K2  Observations of Byzantine peers count for nothing.
//
// What an attacker can do here: nothing.
//
// Memory: counts and removals of the run; the newest parameters.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/engine/checker.h"

namespace ostraka::sim {

class Chronicle final : public StepObserver {
 public:
  // Called for each block except genesis, with the parameters after it.
  using BlockSink = std::function<void(const wire::Block&, const std::vector<float>&)>;

  // A worker averages `batches` at least. `sink` may be null.
  Chronicle(const Roster& roster, std::uint32_t batches, BlockSink sink);
  void OnStep(const StepRecord& record) override;

  std::uint64_t steps() const;  // of the slowest honest peer
  // Null before the first block.
  const protocol::SharedVector& parameters() const { return parameters_; }
  // In the order of the blocks.
  const std::vector<wire::Removal>& removals() const { return removals_; }
  // Columns by fate, and honest peers' suspicions by the check that raised them.
  const std::map<std::string, std::uint64_t>& columns() const { return columns_; }
  const std::map<std::string, std::uint64_t>& suspicions() const { return suspicions_; }
  // That workers with a sealed PROOF averaged in each gradient, over all steps.
  std::uint64_t batches() const { return batches_; }
  // The most that any block counts against an honest peer, in ms.
  std::uint64_t honest_late_ms() const { return honest_late_ms_; }
  // In the order of the blocks that admitted them again.
  const std::vector<base::PeerId>& returned() const { return returned_; }
  // Iterations of slow paths, summed over honest peers; steps in which any of them took one.
  std::uint64_t slow_iterations() const { return slow_iterations_; }
  std::uint64_t slow_steps() const { return slow_steps_.size(); }

 private:
  void OnBlock(std::uint32_t peer, const protocol::StepDone& done);
  void CountBatches(const wire::Block& block);

  std::vector<std::uint64_t> heights_;  // by peer
  Roster roster_;
  std::uint32_t least_batches_;
  BlockSink sink_;
  std::vector<wire::BatchCount> counts_;  // of the next step
  std::uint64_t batches_ = 0;
  std::uint64_t honest_late_ms_ = 0;
  std::uint64_t height_ = 0;
  protocol::SharedVector parameters_;
  std::vector<wire::Removal> removals_;
  std::map<std::string, std::uint64_t> columns_;
  std::map<std::string, std::uint64_t> suspicions_;
  std::vector<base::PeerId> returned_;
  std::uint64_t slow_iterations_ = 0;
  std::set<std::uint64_t> slow_steps_;
};

}  // namespace ostraka::sim
