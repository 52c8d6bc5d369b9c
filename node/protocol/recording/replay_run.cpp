#include "node/protocol/recording/replay_run.h"

#include <map>
#include <utility>
#include <variant>

#include "node/machine/contract.h"
#include "node/protocol/ground/transcript.h"
#include "node/protocol/recording/entries.h"
#include "node/protocol/recording/head.h"

namespace ostraka::protocol {
namespace {

using wire::RecordedInput;

// Nanoseconds. Sums with the waits of a run stay within 64 bits.
constexpr std::uint64_t kLatest = std::uint64_t{1} << 61;

class Run {
 public:
  Run(PeerOptions options, const Said& said, const SeeTurn& see)
      : machine_(MakePeer(std::move(options))), said_(said), see_(see) {}

  // False: the outputs differ, or are not known. `says_more`: the member sent a signed message in
  // this call or a later one.
  base::StatusOr<bool> Take(const wire::RecordedCall& call, bool says_more);
  Replayed replayed;

 private:
  base::StatusOr<Input> Read(const RecordedInput& turn);
  base::StatusOr<JobResult> ResultAgain(const RecordedInput& turn);
  void Differ(const RecordedInput& turn, const std::string& what);

  std::unique_ptr<Machine> machine_;
  machine::Contract<MemberKind> contract_;
  std::map<JobId, std::shared_ptr<const JobSpec>> jobs_;
  const Said& said_;
  const SeeTurn& see_;
};

void Run::Differ(const RecordedInput& turn, const std::string& what) {
  replayed.difference = "call " + std::to_string(replayed.turns + 1) + ", " +
                        std::to_string(turn.at / 1'000'000) + " ms after the start: " + what;
}

base::StatusOr<JobResult> Run::ResultAgain(const RecordedInput& turn) {
  // The machine looks at no result of a job that it stopped.
  if (!turn.result) return JobResult(JobFailed{"stopped"});
  const auto job = jobs_.find(turn.id);
  if (job == jobs_.end()) return base::InvalidArgument("a result is of no job");
  if (IsHeldWhole(*turn.result)) return ResultOf(*turn.result, *job->second);
  if (turn.result->kind != job->second->index()) {
    return base::InvalidArgument("a result is of another kind than its job");
  }
  if (NeedsGradient(*job->second))
    return base::InvalidArgument("a result lacks what only the node can compute");
  ++replayed.jobs_again;
  return RunJob(*job->second, {}, aggregation::SerialExecutor());
}

base::StatusOr<Input> Run::Read(const RecordedInput& turn) {
  if (turn.input != Input(JobDone{}).index()) return InputOf(turn);
  ASSIGN_OR_RETURN(JobResult result, ResultAgain(turn));
  if (turn.result && !IsHeldWhole(*turn.result) && HashOf(result) != turn.result->hash) {
    Differ(turn, "job " + std::to_string(turn.id) + " has another result here than there");
  }
  jobs_.erase(turn.id);
  return Input(JobDone{turn.id, std::make_shared<const JobResult>(std::move(result))});
}

base::StatusOr<bool> Run::Take(const wire::RecordedCall& call, bool says_more) {
  const RecordedInput& turn = call.given;
  if (turn.at > kLatest) return base::InvalidArgument("a time that no clock shows");
  const Time now{static_cast<std::int64_t>(turn.at)};
  ASSIGN_OR_RETURN(const Input input, Read(turn));
  if (replayed.difference) return false;
  if (!call.outcome && see_)
    see_(now, "the process ended within this call: " + DescribeTurn(input, {}));
  Outbox out;
  const machine::Breach breach = contract_.Step(*machine_, now, input, out);
  if (breach != machine::Breach::kNone) return base::InvalidArgument(machine::BreachName(breach));
  const std::vector<Action>& actions = out.actions();
  for (const Action& action : actions) {
    if (const auto* job = std::get_if<StartJob>(&action)) jobs_[job->id] = job->spec;
    const auto* seen = std::get_if<Observe>(&action);
    if (seen == nullptr) continue;
    if (const auto* done = std::get_if<StepDone>(&seen->what); done && !done->block->genesis) {
      if (!replayed.first_step) replayed.first_step = done->block->step;
      replayed.last_step = done->block->step;
    }
    if (const auto* halted = std::get_if<Halted>(&seen->what)) replayed.halted = *halted;
  }
  const std::string line = DescribeTurn(input, actions);
  if (see_) see_(now, line);
  if (!call.outcome) {
    replayed.ended_within_call = true;
    return false;
  }
  if (DigestOfActions(actions) != call.outcome->actions) {
    replayed.ends_unsent = said_.lacks() && !says_more;
    if (replayed.ends_unsent) return false;
    Differ(turn, "the machine asks for something else here: " + line);
    return false;
  }
  machine_->CheckInvariants();
  ++replayed.turns;
  replayed.until = now;
  return true;
}

}  // namespace

base::StatusOr<Replayed> ReplayRecording(const wire::RecordingHead& head,
                                         std::shared_ptr<const Manifest> manifest,
                                         const std::vector<wire::RecordedCall>& calls,
                                         const SeeTurn& see) {
  const auto said = std::make_shared<Said>();
  std::size_t last_said = 0;  // the number of calls up to the last one that sent a signed message
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].outcome) continue;
    for (const base::Bytes& frame : calls[i].outcome->said) {
      RETURN_IF_ERROR(said->Add(head.self, frame));
      last_said = i + 1;
    }
  }
  ASSIGN_OR_RETURN(PeerOptions options, OptionsOf(head, std::move(manifest), said));
  Run run(std::move(options), *said, see);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto equal = run.Take(calls[i], i < last_said);
    if (!equal.ok()) {
      return base::InvalidArgument("entry " + std::to_string(i + 1) + ": " +
                                   base::MessageOf(equal.status()));
    }
    if (!*equal) break;
  }
  return run.replayed;
}

}  // namespace ostraka::protocol
