#include "sim/report/history.h"

#include <cmath>
#include <memory>
#include <utility>

#include "sim/trainers/trainers.h"

namespace ostraka::sim {

Historian::Historian(Roster roster, train::Trainer& trainer)
    : roster_(std::move(roster)), trainer_(trainer) {}

void Historian::OnStep(const StepRecord& record) {
  if (!roster_.IsHonest(record.peer)) return;
  for (const protocol::Action& action : record.actions) {
    const auto* done = Observed<protocol::StepDone>(action);
    if (done != nullptr && !done->block->genesis) Note(*done);
  }
}

History Historian::Take() { return std::exchange(history_, {}); }

void Historian::Note(const protocol::StepDone& done) {
  const wire::Block& block = *done.block;
  if (!history_.rows.empty() && block.step <= history_.rows.back().step) return;
  // A step that only closes the run is shown for what it removes.
  if (!wire::Trained(block) && block.removals.empty()) return;
  History::Row row;
  row.step = block.step;
  for (const base::PeerId& member : block.members) {
    const auto peer = roster_.IndexOf(member);
    ++(peer && !roster_.IsHonest(*peer) ? row.byzantine : row.honest);
  }
  for (const base::PeerId& id : block.joined) {
    if (const auto peer = roster_.IndexOf(id)) history_.returns.push_back({*peer, block.step});
  }
  const auto evaluation = trainer_.Evaluate(*done.state.parameters);
  row.loss = evaluation.ok() ? evaluation->loss : std::nan("");
  history_.rows.push_back(row);
}

base::StatusOr<RunAndHistory> RunWithHistory(const SimOptions& options) {
  RunAndHistory run;
  ASSIGN_OR_RETURN(run.roster, RosterOf(options));
  ASSIGN_OR_RETURN(const auto trainer, TrainerOf(options));
  Historian historian(run.roster, *trainer);
  ASSIGN_OR_RETURN(run.result, RunSimulation(options, {}, &historian));
  run.history = historian.Take();
  return run;
}

}  // namespace ostraka::sim
