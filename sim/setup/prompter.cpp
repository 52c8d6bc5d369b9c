#include "sim/setup/prompter.h"

#include <utility>
#include <variant>

namespace ostraka::sim {

void Prompter::OnStep(const StepRecord& record) {
  if (!wishes_.contains(record.peer)) return;
  if (std::holds_alternative<protocol::Started>(record.input)) Prompt(record.peer, 0);
  for (const protocol::Action& action : record.actions) {
    if (const auto* done = Observed<protocol::StepDone>(action)) heads_[record.peer] = done->block;
    // Some sign their COMMIT in the call in which the step begins.
    const auto* begun = Observed<protocol::StepStarted>(action);
    if (begun != nullptr) Prompt(record.peer, begun->step + 1);
  }
}

void Prompter::Prompt(std::uint32_t peer, std::uint64_t step) {
  protocol::Told told;
  for (const Wish& wish : wishes_.at(peer)) wish(step, heads_[peer].get(), told);
  if (told.only_dials || told.leave || told.revocations) simulator_->Tell(peer, std::move(told));
}

}  // namespace ostraka::sim
