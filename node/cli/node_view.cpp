#include "node/cli/node_view.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "node/cli/node_json.h"

namespace ostraka::cli {
namespace {

using runtime::NodeEvents;
using runtime::NoticeLevel;

class PeopleView final : public NodeEvents {
 public:
  PeopleView(std::uint64_t steps, bool verbose)
      : steps_(steps), verbose_(verbose), terminal_(isatty(STDERR_FILENO) != 0) {}

  void OnStarted(std::uint16_t port, std::uint16_t http_port) override {
    if (port != 0) Line("listening on port " + std::to_string(port));
    if (http_port != 0) Line("status and metrics on port " + std::to_string(http_port));
  }
  void OnLinks(std::size_t up, std::size_t of) override {
    Progress("linked to " + std::to_string(up) + " of " + std::to_string(of) + " members");
  }
  void OnStepDone(const protocol::StepDone& done) override {
    Progress("step " + std::to_string(done.block->step + 1) + " of " + std::to_string(steps_) +
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
    Line(line);
  }
  void OnSuspicion(const protocol::Suspicion& suspicion) override {
    if (!told_.emplace(suspicion.peer, suspicion.check).second) return;
    Line("step " + std::to_string(suspicion.step) + ": suspect " + suspicion.peer.Short() + " (" +
         suspicion.check + "): " + suspicion.reason);
  }
  void OnRemoval(const wire::Removal& removal) override {
    Line("step " + std::to_string(removal.step) + ": removed " + removal.peer.Short() + " (" +
         wire::RemovalKindName(removal.kind) + "): " + removal.reason);
  }
  void OnNotice(NoticeLevel level, const std::string& line) override {
    if (level == NoticeLevel::kWarning || verbose_) Line(line);
  }
  void OnHalted(const runtime::NodeOutcome& outcome) override {
    Line(std::string(runtime::NodeEndName(outcome.end)) + ": " + outcome.reason);
  }

 private:
  void Line(const std::string& text) {
    std::fprintf(stderr, "%s%s\n", terminal_ ? "\r\x1b[K" : "", text.c_str());
  }
  void Progress(const std::string& text) {
    if (terminal_) std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  }

  const std::uint64_t steps_;
  const bool verbose_;
  const bool terminal_;
  std::set<std::pair<base::PeerId, std::string>> told_;
};

class JsonView final : public NodeEvents {
 public:
  void OnStarted(std::uint16_t port, std::uint16_t http_port) override {
    Emit({{"event", "started"}, {"port", port}, {"http_port", http_port}});
  }
  void OnLinks(std::size_t up, std::size_t of) override { Emit(LinksEvent(up, of)); }
  void OnStepDone(const protocol::StepDone& done) override { Emit(StepEvent(*done.block)); }
  void OnStepTimes(const protocol::StepTimes&) override {}
  void OnEvaluation(std::uint64_t step, const train::Evaluation& evaluation) override {
    Emit(EvaluationEvent(step, evaluation));
  }
  void OnSuspicion(const protocol::Suspicion& suspicion) override {
    Emit(SuspicionEvent(suspicion));
  }
  void OnRemoval(const wire::Removal& removal) override { Emit(RemovalEvent(removal)); }
  void OnNotice(NoticeLevel level, const std::string& line) override {
    if (level == NoticeLevel::kWarning) std::fprintf(stderr, "%s\n", line.c_str());
  }
  void OnHalted(const runtime::NodeOutcome& outcome) override { Emit(HaltedEvent(outcome)); }

 private:
  static void Emit(const nlohmann::json& event) {
    PrintJson(event);
    std::fflush(stdout);
  }
};

}  // namespace

std::unique_ptr<NodeEvents> MakePeopleView(std::uint64_t steps, bool verbose) {
  return std::make_unique<PeopleView>(steps, verbose);
}

std::unique_ptr<NodeEvents> MakeJsonView() { return std::make_unique<JsonView>(); }

}  // namespace ostraka::cli
