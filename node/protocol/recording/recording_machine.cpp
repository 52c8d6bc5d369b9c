#include "node/protocol/recording/recording_machine.h"

#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/protocol/ground/transcript.h"
#include "node/protocol/recording/entries.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

RecordingMachine::RecordingMachine(std::unique_ptr<Machine> machine, const PeerId& self,
                                   std::shared_ptr<Recorder> recorder)
    : machine_(std::move(machine)), self_(self), recorder_(std::move(recorder)) {
  OSTRAKA_CHECK(machine_ != nullptr && recorder_ != nullptr);
}

void RecordingMachine::Step(Time now, const Input& input, Outbox& out) {
  if (recorder_ == nullptr) return machine_->Step(now, input, out);
  bool goes_on = recorder_->Given(RecordInput(now, input, IsWanted(input)));
  Outbox asked;
  machine_->Step(now, input, asked);
  wire::RecordedOutcome outcome;
  Note(asked.actions(), outcome);
  bool ends_step = false;
  for (Action& action : asked.actions()) {
    const auto* seen = std::get_if<Observe>(&action);
    ends_step |= seen != nullptr && std::holds_alternative<StepDone>(seen->what);
    std::visit([&](auto& what) { out.Add(std::move(what)); }, action);
  }
  goes_on = goes_on && recorder_->Asked(outcome, ends_step);
  if (goes_on) return;
  recorder_ = nullptr;  // R3
  said_.clear();
}

bool RecordingMachine::IsWanted(const Input& input) {
  const auto* job = std::get_if<JobDone>(&input);
  return job == nullptr || stopped_.erase(job->id) == 0;
}

void RecordingMachine::Note(const std::vector<Action>& actions, wire::RecordedOutcome& outcome) {
  outcome.actions = DigestOfActions(actions);
  const base::SharedBytes* last = nullptr;  // one message to many comes in a row
  for (const Action& action : actions) {
    if (const auto* stop = std::get_if<StopJob>(&action)) stopped_.insert(stop->id);
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr || (last != nullptr && *last == send->frame)) continue;
    last = &send->frame;
    NoteFrame(send->frame, outcome);
  }
}

// A message to a member without a link may go out within a FORWARD alone.
void RecordingMachine::NoteFrame(const base::SharedBytes& frame, wire::RecordedOutcome& outcome) {
  const auto opened = wire::Open(frame);
  if (!opened.ok() || opened->envelope.sender != self_) return;
  if (opened->envelope.slot.type == wire::MessageType::kForward) {
    const auto* forward = opened->As<wire::Forward>();
    if (forward == nullptr || forward->from != self_) return;
    return NoteFrame(std::make_shared<const base::Bytes>(forward->frame), outcome);
  }
  if (wire::IsService(opened->envelope.slot.type)) return;
  if (said_.insert(opened->digest).second) outcome.said.push_back(*frame);
}

}  // namespace ostraka::protocol
