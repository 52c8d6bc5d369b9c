// What became of a run, read from its chain: each block from the first honest peer that has it.
// Whether the others see the same is for checkers to say.
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
  // Called for each block but genesis, with the parameters after it.
  using BlockSink = std::function<void(const wire::Block&, const std::vector<float>&)>;

  // `sink` may be null.
  Chronicle(const Roster& roster, BlockSink sink);
  void OnStep(const StepRecord& record) override;

  std::uint64_t steps() const;  // of the slowest honest peer
  const protocol::SharedVector& parameters() const { return parameters_; }  // null before a block
  const std::vector<wire::Removal>& removals() const { return removals_; }  // in the order sealed
  // Columns by what became of them, and honest peers' suspicions by what raised them.
  const std::map<std::string, std::uint64_t>& columns() const { return columns_; }
  const std::map<std::string, std::uint64_t>& suspicions() const { return suspicions_; }
  std::uint64_t returns() const { return returns_; }  // members admitted again
  // Iterations of slow seals, of each honest peer; steps that any of them was in.
  std::uint64_t slow_iterations() const { return slow_iterations_; }
  std::uint64_t slow_steps() const { return slow_steps_.size(); }

 private:
  void OnBlock(std::uint32_t peer, const protocol::StepDone& done);

  std::vector<std::uint64_t> heights_;  // by peer
  Roster roster_;
  BlockSink sink_;
  std::uint64_t height_ = 0;
  protocol::SharedVector parameters_;
  std::vector<wire::Removal> removals_;
  std::map<std::string, std::uint64_t> columns_;
  std::map<std::string, std::uint64_t> suspicions_;
  std::uint64_t returns_ = 0;
  std::uint64_t slow_iterations_ = 0;
  std::set<std::uint64_t> slow_steps_;
};

}  // namespace ostraka::sim
