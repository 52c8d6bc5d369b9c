// A run step by step: how many members of each kind it had, who returned, and the loss.
//
// Thread safety: pure functions; a Historian has one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "node/base/status.h"
#include "node/train/trainer.h"
#include "sim/engine/checker.h"
#include "sim/run/cluster.h"

namespace ostraka::sim {

// The state of a run after each block, as the first honest peer that accepted it saw it.
struct History {
  struct Row {
    std::uint64_t step = 0;
    std::uint32_t honest = 0;  // honest members
    std::uint32_t byzantine = 0;
    double loss = 0;  // on held-out data; may be no number
  };
  struct Return {  // of a dropped member
    std::uint32_t peer = 0;
    std::uint64_t step = 0;
  };
  std::vector<Row> rows;
  std::vector<Return> returns;
};

// Writes the history of the run that it observes.
class Historian final : public StepObserver {
 public:
  // `trainer` evaluates the loss of each step, and outlives the historian.
  Historian(Roster roster, train::Trainer& trainer);

  void OnStep(const StepRecord& record) override;
  // The history so far. The historian is empty after it.
  History Take();

 private:
  void Note(const protocol::StepDone& done);

  Roster roster_;
  train::Trainer& trainer_;
  History history_;
};

struct RunAndHistory {
  SimResult result;
  Roster roster;
  History history;
};

// RunSimulation, with its history. The result is that of RunSimulation.
base::StatusOr<RunAndHistory> RunWithHistory(const SimOptions& options);

}  // namespace ostraka::sim
