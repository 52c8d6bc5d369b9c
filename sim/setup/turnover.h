// A run whose members all change: keys come in one after the other, and for each that is in the
// member leaves that has been in for longest. At the end nobody of the genesis is left.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/engine/checker.h"
#include "sim/engine/simulator.h"

namespace ostraka::sim {

class Turnover final : public StepObserver {
 public:
  // `guests`: those that come, in their order.
  Turnover(const Roster& roster, std::vector<std::uint32_t> guests);
  // REQUIRES: before the run; the simulator outlives this.
  void Watch(Simulator* simulator) { simulator_ = simulator; }

  void OnStep(const StepRecord& record) override;
  bool MustLeave(std::uint32_t peer) const { return leaving_[peer]; }
  // The newest block: what an invite of this moment names.
  const std::shared_ptr<const wire::Block>& head() const { return head_; }

 private:
  void OnBlock(const StepRecord& record, const std::shared_ptr<const wire::Block>& block);
  void StartNext(base::Time now);

  Roster roster_;
  Simulator* simulator_ = nullptr;
  std::deque<std::uint32_t> guests_;  // that are still to start
  std::deque<std::uint32_t> in_;      // honest members, the longest in first
  std::vector<bool> leaving_;         // by peer
  std::shared_ptr<const wire::Block> head_;
};

}  // namespace ostraka::sim
