#include "node/cli/views/node_view.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "node/cli/terminal/exit_code.h"
#include "node/cli/views/node_json.h"

namespace ostraka::cli {

LogLevel LevelOf(net::NoticeLevel level) {
  switch (level) {
    case net::NoticeLevel::kDebug:
      return LogLevel::kDebug;
    case net::NoticeLevel::kInfo:
      return LogLevel::kInfo;
    case net::NoticeLevel::kWarning:
      break;
  }
  return LogLevel::kWarning;
}

namespace {

using host::NodeEvents;
using net::NoticeLevel;

class JsonView final : public NodeEvents {
 public:
  JsonView(MemberNames names, Log& log) : names_(std::move(names)), log_(log) {}

  void OnStarted(std::uint16_t port, std::uint16_t http_port) override {
    Emit({{"event", "started"}, {"port", port}, {"http_port", http_port}});
  }
  void OnLinks(std::size_t up, std::size_t of) override { Emit(LinksEvent(up, of)); }
  void OnStepDone(const protocol::StepDone& done) override {
    const bool known = batch_ && batch_->first == done.block->step && !done.block->genesis;
    Emit(StepEvent(*done.block, known ? std::optional(batch_->second) : std::nullopt));
  }
  void OnStepTimes(const protocol::StepTimes&) override {}
  void OnBatchLoss(std::uint64_t step, double loss) override { batch_ = {step, loss}; }
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
    log_.Say(LevelOf(level), names_.In(line));
  }
  void OnProgress(const host::NodeStatus&) override {}  // in `ostraka status`
  void OnWaiting(const host::Waiting&) override {}      // also a notice, and in `ostraka status`
  void OnCheckpointFailed(const base::Status& why) override { Fail(why); }
  void OnHalted(const host::NodeOutcome& outcome) override { Emit(HaltedEvent(outcome)); }

 private:
  static void Emit(const nlohmann::json& event) {
    PrintJson(event);
    std::fflush(stdout);
  }

  const MemberNames names_;
  Log& log_;
  std::optional<std::pair<std::uint64_t, double>> batch_;  // the newest step with its loss
  std::uint64_t told_in_ = 0;
  std::set<std::pair<base::PeerId, std::string>> told_;
};

}  // namespace

std::unique_ptr<NodeEvents> MakeJsonView(MemberNames names, Log& log) {
  return std::make_unique<JsonView>(std::move(names), log);
}

}  // namespace ostraka::cli
