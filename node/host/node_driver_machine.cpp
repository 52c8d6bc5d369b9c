#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/host/node_driver_impl.h"

namespace ostraka::host {
namespace {

using protocol::Action;
using protocol::Input;

NodeEnd EndOf(protocol::Halted::Why why) {
  using Why = protocol::Halted::Why;
  switch (why) {
    case Why::kFinished:
      return NodeEnd::kFinished;
    case Why::kBanned:
      return NodeEnd::kBanned;
    case Why::kStalled:
      return NodeEnd::kStalled;
    case Why::kDiverged:
      return NodeEnd::kDiverged;
    case Why::kFailed:
      return NodeEnd::kFailed;
    case Why::kForked:
      return NodeEnd::kForked;
  }
  return NodeEnd::kFailed;
}

}  // namespace

void NodeDriver::Impl::Feed(const Input& input) {
  if (ending_) return;
  OSTRAKA_CHECK(!feeding_);
  feeding_ = true;
  protocol::Outbox out;
  options_.machine->Step(Now(), input, out);
  for (Action& action : out.actions()) Perform(action);
  feeding_ = false;
  // If peers may need the last messages, end only after their records are on disk.
  const bool in_peace =
      halted_ && (halted_->end == NodeEnd::kFinished || halted_->end == NodeEnd::kBanned);
  if (halted_ && !ending_ && !(in_peace && stores_in_flight_ > 0)) End(*halted_);
}

void NodeDriver::Impl::Perform(Action& action) {
  std::visit([this](auto& what) { On(what); }, action);
}

void NodeDriver::Impl::On(protocol::Send& action) {
  transport_->Send(action.to, std::move(action.frame), std::move(action.blob));
}

void NodeDriver::Impl::On(const protocol::SetTimer& action) { timers_.Set(action.id, action.at); }

void NodeDriver::Impl::On(const protocol::CancelTimer& action) { timers_.Cancel(action.id); }

void NodeDriver::Impl::On(protocol::StartJob& action) {
  const base::Status status = jobs_->Start(action.id, std::move(action.spec));
  if (!status.ok()) Fail(status);
}

void NodeDriver::Impl::On(protocol::Store& action) {
  const base::Status status = options_.ledger->Append(std::move(action));
  if (!status.ok()) return Fail(status);
  ++stores_in_flight_;
}

void NodeDriver::Impl::On(const protocol::Observe& action) {
  monitor_.See(Now(), action.what);
  if (const auto said = lines_.Of(Now(), action.what)) {
    events_.OnNotice(said->level, said->line);
  }
  std::visit([this](const auto& seen) { See(seen); }, action.what);
}

// --- what it observes ---------------------------------------------------------------------------

void NodeDriver::Impl::See(const protocol::StepStarted& seen) {
  step_ = seen.step;
  met_ = true;
}

// A restored run may already be complete; report its result all the same.
void NodeDriver::Impl::See(const protocol::Resumed& seen) {
  report_.last_block = seen.block;
  report_.state = seen.state;
  if (!seen.block->genesis) report_.steps_done = seen.block->step + 1;
  if (options_.on_state) options_.on_state({seen.block, seen.state});
}

void NodeDriver::Impl::See(const protocol::StepDone& seen) {
  const wire::Block& block = *seen.block;
  met_ = true;
  report_.last_block = seen.block;
  report_.state = seen.state;
  if (options_.on_state) options_.on_state(seen);
  if (!block.genesis) {
    step_ = block.step;
    ++report_.steps_done;
    if (options_.evaluate_every > 0 && (block.step + 1) % options_.evaluate_every == 0) {
      Evaluate(seen);
    }
  }
  events_.OnStepDone(seen);
  for (const wire::Removal& removal : block.removals) SeeRemoval(removal);
  // Also bans from blocks that this node skipped, or sealed before its restart.
  for (const wire::Standing& standing : block.standings) {
    if (standing.banned) ForgetSoon(standing.peer);
  }
}

void NodeDriver::Impl::SeeRemoval(const wire::Removal& removal) {
  report_.removals.push_back(removal);
  events_.OnRemoval(removal);
  if (wire::IsBan(removal.kind)) ForgetSoon(removal.peer);  // a dropped member may return
}

void NodeDriver::Impl::ForgetSoon(const base::PeerId& peer) {
  if (others_.erase(peer) == 0) return;
  linked_.erase(peer);
  events_.OnLinks(linked_.size(), others_.size());
  forgetting_.try_emplace(peer, io_).first->second.Start(
      options_.forget_after, [this, peer] { transport_->Forget(peer); });
}

void NodeDriver::Impl::See(const protocol::StepTimes& seen) {
  report_.step_times.step = seen.step;
  report_.step_times.compute_ns += seen.compute_ns;
  report_.step_times.aggregate_ns += seen.aggregate_ns;
  report_.step_times.agree_ns += seen.agree_ns;
  ++report_.timed_steps;
  Record(seen.step, "compute_seconds", base::Nanoseconds(seen.compute_ns).seconds());
  Record(seen.step, "aggregate_seconds", base::Nanoseconds(seen.aggregate_ns).seconds());
  Record(seen.step, "agree_seconds", base::Nanoseconds(seen.agree_ns).seconds());
  events_.OnStepTimes(seen);
}

void NodeDriver::Impl::See(const protocol::Halted& seen) {
  if (!halted_) halted_ = NodeOutcome{EndOf(seen.why), seen.step, seen.reason};
}

// --- completions --------------------------------------------------------------------------------

void NodeDriver::Impl::LinkChanged(const base::PeerId& peer, bool up) {
  if (others_.contains(peer)) {
    if (up) {
      linked_.insert(peer);
    } else {
      linked_.erase(peer);
    }
    monitor_.SeeLinks(Now());
    if (!ending_) events_.OnLinks(linked_.size(), others_.size());
  }
  if (parting_ && up) return SayLastWordsTo(peer);
  Feed(protocol::LinkChanged{peer, up});
}

// After halting, the machine answers only this input (node/protocol/ground/machine.h).
void NodeDriver::Impl::SayLastWordsTo(const base::PeerId& peer) {
  protocol::Outbox out;
  options_.machine->Step(Now(), protocol::LinkChanged{peer, true}, out);
  for (Action& action : out.actions()) {
    if (auto* send = std::get_if<protocol::Send>(&action)) On(*send);
  }
}

void NodeDriver::Impl::Evaluate(const protocol::StepDone& done) {
  asked_evaluation_ = done.block->step;
  jobs_->Evaluate(done.block->step, done.state.parameters);
}

void NodeDriver::Impl::EvaluateLastState() {
  if (report_.last_block == nullptr || report_.last_block->genesis) return;
  const std::uint64_t step = report_.last_block->step;
  if (asked_evaluation_ != step) Evaluate({report_.last_block, report_.state});
  awaits_evaluation_ = answered_evaluation_ != step;
}

void NodeDriver::Impl::Evaluated(std::uint64_t step,
                                 const base::StatusOr<train::Evaluation>& result) {
  answered_evaluation_ = step;
  if (result.ok()) {
    report_.evaluation = *result;
    report_.evaluated_step = step;
    monitor_.SeeEvaluation(step, *result);
    Record(step, result->metric, result->value);
    if (result->metric != "loss") Record(step, "loss", result->loss);
    events_.OnEvaluation(step, *result);
  } else {
    events_.OnNotice(net::NoticeLevel::kWarning,
                     "the state after step " + std::to_string(step) +
                         " could not be evaluated: " + base::MessageOf(result.status()));
  }
  if (step == asked_evaluation_) awaits_evaluation_ = false;
  StopWhenDone();
}

void NodeDriver::Impl::Record(const base::Bytes& frame) {
  const base::Status status = frames_->Append(frame);
  if (!status.ok()) events_.OnNotice(net::NoticeLevel::kWarning, base::MessageOf(status));
}

void NodeDriver::Impl::Record(std::uint64_t step, const std::string& name, double value) {
  const base::Status status = options_.ledger->AppendMetric(step, name, value);
  // A failed ledger reports through its own callback.
  (void)status;
}

}  // namespace ostraka::host
