#include "node/cli/views/node_view.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "node/cli/terminal/exit_code.h"
#include "node/cli/views/node_json.h"

namespace ostraka::cli {
namespace {

using host::NodeEvents;
using net::NoticeLevel;

LogLevel LevelOf(NoticeLevel level) {
  switch (level) {
    case NoticeLevel::kDebug:
      return LogLevel::kDebug;
    case NoticeLevel::kInfo:
      return LogLevel::kInfo;
    case NoticeLevel::kWarning:
      break;
  }
  return LogLevel::kWarning;
}

class PeopleView final : public NodeEvents {
 public:
  PeopleView(std::uint64_t steps, Log& log) : steps_(steps), log_(log) {}

  void OnStarted(std::uint16_t port, std::uint16_t http_port) override {
    if (port != 0) Info("listening on port " + std::to_string(port));
    if (http_port != 0) Info("status and metrics on port " + std::to_string(http_port));
  }
  void OnLinks(std::size_t up, std::size_t of) override {
    log_.Progress("linked to " + std::to_string(up) + " of " + std::to_string(of) + " members");
  }
  void OnStepDone(const protocol::StepDone& done) override {
    log_.Progress("step " + std::to_string(done.block->step + 1) + " of " + std::to_string(steps_) +
                  ", " + std::to_string(done.block->members.size()) + " members");
  }
  void OnStepTimes(const protocol::StepTimes&) override {}
  void OnEvaluation(std::uint64_t step, const train::Evaluation& evaluation) override {
    char text[96];
    std::snprintf(text, sizeof(text), "step %llu: loss %.4f", static_cast<unsigned long long>(step),
                  evaluation.loss);
    std::string line = text;
    if (evaluation.metric != "loss") {
      std::snprintf(text, sizeof(text), ", %s %.4f", evaluation.metric.c_str(), evaluation.value);
      line += text;
    }
    Info(line);
  }
  void OnSuspicion(const protocol::Suspicion& suspicion) override {
    if (!told_.emplace(suspicion.peer, suspicion.check).second) return;
    Warn("step " + std::to_string(suspicion.step) + ": suspect " + suspicion.peer.Short() + " (" +
         suspicion.check + "): " + suspicion.reason);
  }
  void OnRemoval(const wire::Removal& removal) override {
    Warn("step " + std::to_string(removal.step) + ": removed " + removal.peer.Short() + " (" +
         wire::RemovalKindName(removal.kind) + "): " + removal.reason);
  }
  void OnNotice(NoticeLevel level, const std::string& line) override {
    // Links that end together with the node are no news.
    if (halted_ && level != NoticeLevel::kWarning) return;
    log_.Say(LevelOf(level), line);
  }
  void OnCheckpointFailed(const base::Status& why) override { Fail(why); }
  void OnHalted(const host::NodeOutcome& outcome) override {
    halted_ = true;
    const bool finished = outcome.end == host::NodeEnd::kFinished;
    log_.Say(finished ? LogLevel::kInfo : LogLevel::kError,
             std::string(host::NodeEndName(outcome.end)) + ": " + outcome.reason);
  }

 private:
  void Info(const std::string& line) { log_.Say(LogLevel::kInfo, line); }
  void Warn(const std::string& line) { log_.Say(LogLevel::kWarning, line); }

  const std::uint64_t steps_;
  Log& log_;
  bool halted_ = false;
  std::set<std::pair<base::PeerId, std::string>> told_;
};

class JsonView final : public NodeEvents {
 public:
  explicit JsonView(Log& log) : log_(log) {}

  void OnStarted(std::uint16_t port, std::uint16_t http_port) override {
    Emit({{"event", "started"}, {"port", port}, {"http_port", http_port}});
  }
  void OnLinks(std::size_t up, std::size_t of) override { Emit(LinksEvent(up, of)); }
  void OnStepDone(const protocol::StepDone& done) override { Emit(StepEvent(*done.block)); }
  void OnStepTimes(const protocol::StepTimes&) override {}
  void OnEvaluation(std::uint64_t step, const train::Evaluation& evaluation) override {
    Emit(EvaluationEvent(step, evaluation));
  }
  // Reports the first suspicion per peer and check in each step: a peer can cause thousands.
  void OnSuspicion(const protocol::Suspicion& suspicion) override {
    if (suspicion.step != told_in_) told_.clear();
    told_in_ = suspicion.step;
    if (told_.emplace(suspicion.peer, suspicion.check).second) Emit(SuspicionEvent(suspicion));
  }
  void OnRemoval(const wire::Removal& removal) override { Emit(RemovalEvent(removal)); }
  void OnNotice(NoticeLevel level, const std::string& line) override {
    log_.Say(LevelOf(level), line);
  }
  void OnCheckpointFailed(const base::Status& why) override { Fail(why); }
  void OnHalted(const host::NodeOutcome& outcome) override { Emit(HaltedEvent(outcome)); }

 private:
  static void Emit(const nlohmann::json& event) {
    PrintJson(event);
    std::fflush(stdout);
  }

  Log& log_;
  std::uint64_t told_in_ = 0;
  std::set<std::pair<base::PeerId, std::string>> told_;
};

}  // namespace

std::unique_ptr<NodeEvents> MakePeopleView(std::uint64_t steps, Log& log) {
  return std::make_unique<PeopleView>(steps, log);
}

std::unique_ptr<NodeEvents> MakeJsonView(Log& log) { return std::make_unique<JsonView>(log); }

}  // namespace ostraka::cli
