// The view of a running node for a person: a banner at the start, a progress line on a terminal,
// and a line for each important event.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "node/cli/terminal/exit_code.h"
#include "node/cli/terminal/human.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/terminal/progress.h"
#include "node/cli/views/node_view.h"
#include "node/host/report/arrivals.h"
#include "node/host/report/curve.h"
#include "node/host/report/figures.h"
#include "node/host/report/trend.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/schedule.h"

namespace ostraka::cli {
namespace {

using host::NodeEvents;
using net::NoticeLevel;

std::string StepOf(std::uint64_t step) { return "step " + std::to_string(step) + ": "; }

std::string ClosingText(const wire::Block& block) {
  if (block.state_root)
    return "the run is closed; it sealed its last state, " + block.state_root->Short();
  if (wire::RunIsOver(block)) return "the run is closed; it could not seal its last state";
  return StepOf(block.step) + "too few agree on the last state; the next step asks again";
}

constexpr std::size_t kNarrowColumns = 80;

class PeopleView final : public NodeEvents {
 public:
  PeopleView(RunFacts facts, Log& log)
      : facts_(std::move(facts)), names_(protocol::NamesOf(facts_.manifest->members)), log_(log) {}

  void OnStarted(std::uint16_t port, std::uint16_t http_port) override {
    const protocol::Manifest& manifest = *facts_.manifest;
    const auto members = static_cast<std::uint32_t>(manifest.members.size());
    const std::string data = manifest.training.data.substr(0, manifest.training.data.find('@'));
    const std::string model = manifest.training.model.substr(0, manifest.training.model.find('@'));
    Info("run " + manifest.run_id.Short() + (manifest.name.empty() ? "" : " " + manifest.name) +
         ": " + model + (data == model ? "" : " on " + data) + ", " +
         std::to_string(manifest.training.steps) + " steps, " +
         protocol::UpdateText(manifest.training) + ", " + std::to_string(members) +
         " members, bears " + std::to_string(protocol::FaultsBorne(manifest.mode, members)) +
         " faulty");
    Info("this node is " + facts_.self.Short() + ", and keeps its data in " + facts_.data_dir);
    if (port != 0) Info("listening on port " + std::to_string(port));
    if (http_port != 0) Info("watch it at http://" + os::WithPort(facts_.http, http_port) + "/");
  }
  void OnLinks(std::size_t up, std::size_t of) override {
    log_.Progress("linked to " + std::to_string(up) + " of " + std::to_string(of) + " members");
  }
  void OnStepDone(const protocol::StepDone& done) override {
    const wire::Block& block = *done.block;
    for (const base::PeerId& peer : block.joined) {
      Info(StepOf(block.step) + peer.Short() +
           (host::CameWith(block, peer) ? " came" : " returned"));
    }
    for (const base::PeerId& peer : block.left) Info(StepOf(block.step) + peer.Short() + " left");
    if (!block.genesis && !wire::Trained(block)) return Info(ClosingText(block));
  }
  void OnStepTimes(const protocol::StepTimes&) override {}
  void OnBatchLoss(std::uint64_t, double) override {}  // in OnProgress
  void OnEvaluation(std::uint64_t step, const train::Evaluation& evaluation) override {
    const std::string text = EvaluationText(evaluation.metric, evaluation.value, evaluation.loss);
    evaluation_ = text;
    Info(StepOf(step) + text);
    if (evaluation.sample)
      Info("it writes: " + SampleText(evaluation.sample->prompt, evaluation.sample->text));
    curve_.Add({step, evaluation.loss, evaluation.value});
    const host::Trend trend = host::TrendOf(curve_.Points());
    if (std::exchange(trend_, trend) == trend || trend == host::Trend::kFine) return;
    Warn(host::TroubleOf(curve_.Points()));
  }
  void OnSuspicion(const protocol::Suspicion& suspicion) override {
    if (!told_.emplace(suspicion.peer, suspicion.check).second) return;
    Warn(StepOf(suspicion.step) + "suspect " + suspicion.peer.Short() + " (" + suspicion.check +
         "): " + suspicion.reason);
  }
  void OnRemoval(const wire::Removal& removal) override {
    const bool ban = wire::IsBan(removal.kind);
    Say(LogLevel::kWarning,
        StepOf(removal.step) + (ban ? "BANNED " : "dropped ") + removal.peer.Short() + " (" +
            wire::RemovalKindName(removal.kind) + "): " + wire::TextOf(removal.reason),
        ban ? Tone::kBad : Tone::kPlain);
  }
  void OnNotice(NoticeLevel level, const std::string& line) override {
    // Links that end together with the node are no news.
    if (halted_ && level != NoticeLevel::kWarning) return;
    Say(LevelOf(level), line);
  }
  void OnProgress(const host::NodeStatus& now) override {
    if (now.block == nullptr || now.block->genesis) return;
    log_.Progress(NodeLine(now, facts_.manifest->training.steps, evaluation_));
  }
  void OnWaiting(const host::Waiting& waiting) override {
    // The log has longer ids, and more of them.
    const auto shown = [this](const base::PeerId& peer) {
      return names_.Shown(peer, /*digits=*/8);
    };
    const std::string two = host::WaitingText(waiting, shown, /*most=*/2);
    const bool fits = two.size() < kNarrowColumns || waiting.peers.size() < 2;
    log_.Progress(fits ? two : host::WaitingText(waiting, shown, /*most=*/1));
  }
  void OnCheckpointFailed(const base::Status& why) override { Fail(why); }
  void OnHalted(const host::NodeOutcome& outcome) override {
    halted_ = true;
    const bool finished =
        outcome.end == host::NodeEnd::kFinished || outcome.end == host::NodeEnd::kLeft;
    const std::string end = host::NodeEndName(outcome.end);
    const bool said = outcome.reason.starts_with(end);
    Say(finished ? LogLevel::kInfo : LogLevel::kError,
        said ? outcome.reason : end + ": " + outcome.reason, finished ? Tone::kGood : Tone::kBad);
  }

 private:
  void Info(const std::string& line) { Say(LogLevel::kInfo, line); }
  void Warn(const std::string& line) { Say(LogLevel::kWarning, line); }
  void Say(LogLevel level, const std::string& line, Tone tone = Tone::kPlain) {
    log_.Say(level, names_.In(line), tone);
  }

  const RunFacts facts_;
  const MemberNames names_;
  Log& log_;
  std::string evaluation_;  // the last, as text
  host::Curve curve_;
  host::Trend trend_ = host::Trend::kFine;  // as told
  bool halted_ = false;
  std::set<std::pair<base::PeerId, std::string>> told_;
};

// What this node is, if it does not take part as members do.
std::string StateText(const host::Figures& figures) {
  switch (figures.place) {
    case host::Place::kComing:
      return "coming in";
    case host::Place::kLeaving:
      return "leaving";
    case host::Place::kFollowing:
    case host::Place::kBarred:
      return AbsenceText(
          {figures.absence->since, figures.absence->may_return, figures.absence->seconds});
    case host::Place::kMeeting:
    case host::Place::kMember:
    case host::Place::kEnded:
      break;
  }
  return {};
}

}  // namespace

std::string NodeLine(const host::NodeStatus& status, std::uint64_t steps,
                     const std::string& evaluation) {
  const host::Figures figures = host::FiguresOf(status, steps);
  ProgressFacts facts{.done = figures.step,
                      .steps = steps,
                      .members = figures.members,
                      .cases = status.block == nullptr ? 0 : status.block->cases.size(),
                      .state = StateText(figures),
                      .evaluation = evaluation,
                      .batch_loss = {},
                      .step_seconds = {},
                      .seconds_left = {}};
  if (figures.batch) facts.batch_loss = figures.batch->loss;
  if (figures.step_takes) facts.step_seconds = figures.step_takes->seconds();
  if (figures.left) facts.seconds_left = figures.left->seconds();
  return ProgressLine(facts);
}

std::unique_ptr<NodeEvents> MakePeopleView(RunFacts facts, Log& log) {
  return std::make_unique<PeopleView>(std::move(facts), log);
}

}  // namespace ostraka::cli
