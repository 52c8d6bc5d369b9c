#include <set>
#include <utility>
#include <variant>

#include "node/host/driver/node_driver_impl.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/standing.h"

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
    case Why::kLeft:
      return NodeEnd::kLeft;
    case Why::kRefused:
      return NodeEnd::kRefused;
  }
  return NodeEnd::kFailed;
}

// The keys that have left by their own word. They may come back, but nobody waits for them.
std::set<base::PeerId> LeftBefore(const wire::Block& block) {
  std::set<base::PeerId> left;
  for (const wire::Standing& standing : block.standings) {
    const bool is_member = protocol::IsMember(block.members, standing.peer);
    if (!is_member && standing.left_step > standing.last_drop_step) left.insert(standing.peer);
  }
  return left;
}

}  // namespace

// --- inputs and actions -------------------------------------------------------------------------

void NodeDriver::Impl::Feed(const Input& input) {
  if (!stop_.TakesInputs()) return;
  // All actions of an input are performed, also after one that ends the run: they do not depend on
  // its failure.
  seat_.Feed(input,
             [this](Action& action) { std::visit([this](auto& what) { On(what); }, action); });
  if (!open_ && seat_.progress().phase != "restore") {
    open_ = true;
    transport_->Start();
  }
  if (reporter_.HasProgress()) reporter_.Progress(Seen(/*brief=*/true));  // the machine is at rest
  if (stop_.MayFlush(disk_.StoresInFlight())) return BeginFlush();
  // Before another input, by which the machine could sign its next COMMIT.
  const bool waits = stop_wait_.begun() && stop_.phase() == StopSequence::Phase::kRunning;
  if (waits && pledge_.OwedIn(seat_.progress()) == Owed::kNothing) StopNow(stop_wait_.by());
}

void NodeDriver::Impl::On(protocol::Send& action) {
  if (action.carried_for) {
    return transport_->SendCarried(action.to, *action.carried_for, std::move(action.frame));
  }
  transport_->Send(action.to, std::move(action.frame), std::move(action.blob));
}

void NodeDriver::Impl::On(protocol::StartJob& action) {
  const base::Status status = jobs_.Start(action.id, std::move(action.spec));
  if (!status.ok()) Refused(status);
}

void NodeDriver::Impl::On(protocol::Store& action) {
  for (const protocol::Record& record : action.records) reporter_.Stored(record);
  pledge_.Asked(action);
  const base::Status status = disk_.Append(std::move(action));
  if (!status.ok()) Refused(status);
}

void NodeDriver::Impl::Refused(const base::Status& status) {
  if (stop_.phase() == StopSequence::Phase::kRunning) {
    stop_.Halt({NodeEnd::kFailed, reporter_.step(), base::MessageOf(status)});
  } else {
    reporter_.Notice(net::NoticeLevel::kWarning, base::MessageOf(status));
  }
}

void NodeDriver::Impl::On(const protocol::Observe& action) {
  reporter_.See(seat_.Now(), action.what);
  std::visit([this](const auto& seen) { See(seen); }, action.what);
}

void NodeDriver::Impl::LinkChanged(const base::PeerId& peer, bool up) {
  if (finder_) finder_->OnLink(peer, up);
  if (plan_.exchange != nullptr) plan_.exchange->OnLink(peer, up);
  if (known_keys_.LinkChanged(peer, up)) {
    reporter_.LinkChanged(seat_.Now());
    reporter_.Links(known_keys_.linked_count(), known_keys_.member_count());
  }
  const protocol::LinkChanged input{peer, up};
  if (stop_.phase() != StopSequence::Phase::kFlushing || !stop_.EndedNormally() || !up) {
    return Feed(input);
  }
  // After halting, the machine answers only this input (node/protocol/ground/machine.h).
  seat_.Feed(input, [this](Action& action) {
    if (auto* send = std::get_if<protocol::Send>(&action)) On(*send);
  });
}

// --- observations -------------------------------------------------------------------------------

// These bans are older than this process. The banned are refused at once, so that a run that is
// complete waits for none of them at its end.
void NodeDriver::Impl::See(const protocol::Resumed& seen) {
  disk_.Offer({seen.block, seen.state});
  Meet(*seen.block);
  bool fewer = false;
  for (const wire::Standing& standing : seen.block->standings) {
    if (!standing.banned || !known_keys_.Remove(standing.peer)) continue;
    fewer = true;
    transport_->Forget(standing.peer);
    finder_->Forget(standing.peer);
  }
  if (fewer) reporter_.Links(known_keys_.linked_count(), known_keys_.member_count());
}

void NodeDriver::Impl::See(const protocol::StepDone& seen) {
  const wire::Block& block = *seen.block;
  disk_.Offer(seen);
  Meet(block);
  StopUnlessLetGo(block);
  // The node is about to end with this step's block.
  if (wire::Trained(block) && evaluations_.Due(block.step) && !stop_wait_.begun()) {
    Evaluate(block.step, seen.state.parameters);
  }
  for (const wire::Removal& removal : block.removals) {
    reporter_.Removed(removal);
    if (wire::IsBan(removal.kind)) Ban(removal.peer);  // a dropped member may return
  }
  // Also bans from blocks that this node skipped.
  for (const wire::Standing& standing : block.standings) {
    if (standing.banned) Ban(standing.peer);
  }
}

void NodeDriver::Impl::Meet(const wire::Block& block) {
  bool more = false;
  for (const base::PeerId& peer : protocol::KeysOf(block)) {
    if (peer == plan_.self || !known_keys_.Add(peer)) continue;
    more = true;
    const base::Status added = transport_->Add(peer, {});
    if (!added.ok()) {
      reporter_.Notice(net::NoticeLevel::kWarning, peer.Short() + " " + base::MessageOf(added));
      continue;
    }
    finder_->Add(peer);
    if (!transport_->IsUp(peer)) continue;
    known_keys_.LinkChanged(peer, true);
    finder_->OnLink(peer, true);
  }
  const bool others_left = known_keys_.SetLeft(LeftBefore(block));
  std::set<base::PeerId> coming;
  for (const wire::Candidate& candidate : block.candidates) coming.insert(candidate.peer);
  std::set<base::PeerId> members(block.members.begin(), block.members.end());
  if (plan_.exchange != nullptr) plan_.exchange->SetMembers(members);
  transport_->Expect(std::move(coming), std::move(members));
  if (more || others_left) reporter_.Links(known_keys_.linked_count(), known_keys_.member_count());
}

void NodeDriver::Impl::Ban(const base::PeerId& peer) {
  finder_->Forget(peer);
  if (known_keys_.Ban(peer))
    reporter_.Links(known_keys_.linked_count(), known_keys_.member_count());
}

void NodeDriver::Impl::See(const protocol::FalseGradient& seen) { disk_.Keep(seen); }

void NodeDriver::Impl::See(const protocol::StepTimes& seen) {
  disk_.Metric(seen.step, "compute_seconds", base::Nanoseconds(seen.compute_ns).seconds());
  disk_.Metric(seen.step, "aggregate_seconds", base::Nanoseconds(seen.aggregate_ns).seconds());
  disk_.Metric(seen.step, "agree_seconds", base::Nanoseconds(seen.agree_ns).seconds());
}

void NodeDriver::Impl::See(const protocol::Halted& seen) {
  stop_.Halt({EndOf(seen.why), seen.step, seen.reason});
}

// --- evaluations --------------------------------------------------------------------------------

void NodeDriver::Impl::Evaluate(std::uint64_t step, const protocol::SharedVector& parameters) {
  evaluations_.Send(step);
  jobs_.Evaluate(step, parameters);
}

void NodeDriver::Impl::EvaluateLastState() {
  const NodeReport& report = reporter_.report();
  if (report.last_block == nullptr || report.last_block->genesis) return;
  const std::uint64_t step = wire::TrainedSteps(*report.last_block) - 1;
  if (!evaluations_.Sent(step)) Evaluate(step, report.state.parameters);
}

void NodeDriver::Impl::Evaluated(std::uint64_t step,
                                 const base::StatusOr<train::Evaluation>& result) {
  if (stop_.phase() >= StopSequence::Phase::kClosing) return;  // the ledger is another thread's
  evaluations_.RecordResult(step);
  if (result.ok()) {
    disk_.Metric(step, result->metric, result->value);
    if (result->metric != "loss") disk_.Metric(step, "loss", result->loss);
  }
  reporter_.Evaluated(step, result);
  CloseIfDone();
}

}  // namespace ostraka::host
