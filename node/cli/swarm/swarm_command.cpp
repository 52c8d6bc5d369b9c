// ostraka swarm: options, the live view, the summary.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "node/cli/node/evidence_files.h"
#include "node/cli/options/attack_options.h"
#include "node/cli/options/choices.h"
#include "node/cli/options/source_options.h"
#include "node/cli/swarm/commands.h"
#include "node/cli/swarm/swarm.h"
#include "node/cli/terminal/human.h"
#include "node/cli/terminal/ink.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/terminal/progress.h"
#include "node/cli/views/node_json.h"
#include "node/host/report/curve.h"
#include "node/host/report/trend.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/schedule.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

// JSON has no NaN or Inf: diverged training shows them as null.
double NumberOf(const json& number) {
  return number.is_number() ? number.get<double>() : std::nan("");
}

std::string MetricText(const json& metric) {
  const json& name = metric.contains("name") ? metric["name"] : metric["metric"];
  return EvaluationText(name.get<std::string>(), NumberOf(metric["value"]),
                        NumberOf(metric["loss"]));
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Bans, which are permanent, in capitals.
std::string Shout(const json& removal, const Ink& ink) {
  const std::string word = RemovalWord(removal);
  return word == "banned" ? ink.Bad("BANNED") : ink.Warn(word);
}

std::string ShortId(const json& id) { return id.get<std::string>().substr(0, 16); }

// The live view on stderr: a progress line on a terminal, and a line for each important event. All
// nodes report equal events, so it shows those of node 0, which is honest.
class LiveView final : public SwarmWatcher {
 public:
  explicit LiveView(const SwarmOptions& options)
      : options_(options),
        terminal_(isatty(STDERR_FILENO) != 0),
        ink_(STDERR_FILENO),
        progress_(options.manifest.manifest.training.steps) {}

  void OnPlanned(const protocol::Manifest& manifest, const std::vector<SwarmNode>& nodes,
                 const std::string& note) override {
    note_ = note;
    MemberNames::Map names;
    for (std::size_t i = 0; i < nodes.size(); ++i) names.emplace(nodes[i].id, SwarmNodeName(i));
    names_ = MemberNames(std::move(names));
    update_ = protocol::UpdateText(manifest.training);
  }
  void OnScene(std::size_t index, const SwarmNode& node) override {
    const char* role = node.byzantine ? " (an attacker, by a public invite)" : " (by an invite)";
    Line(SwarmNodeName(index) + (node.comes ? " asks to come in" : " leaves") +
         (node.comes ? role : ""));
  }
  void OnCame(const SwarmReturn& came) override {
    Line("step " + std::to_string(came.step) + ": " + came.peer.substr(0, 16) + " came in, " +
         FourDigits(*came.seconds) + " s after its start");
  }
  void OnEvent(std::size_t index, const SwarmNode&, const json& event) override {
    // Announce with the first event, so that a failed start prints only its error.
    if (!std::exchange(announced_, true)) Announce();
    if (index != 0) return;
    const std::string kind = event["event"];
    if (kind == "started" && event["http_port"] != 0) OnPage(event["http_port"]);
    if (kind == "step" && !event["genesis"].get<bool>()) OnStep(event);
    if (kind == "evaluation") OnEvaluation(event);
    if (kind == "removal") OnRemoval(event);
    if (kind == "halted") {
      Line(event["end"].get<std::string>() + ": " + event["reason"].get<std::string>());
    }
  }
  void OnLost(std::size_t /*index*/, const SwarmNode& node) override {
    Line(node.id.Short() + " ended without a report, status " + std::to_string(node.exit_status) +
         ": the others continue without it");
  }

 private:
  void Announce() {
    const auto& training = options_.manifest.manifest.training;
    const std::string liars = options_.byzantine == 0 ? "all honest"
                                                      : std::to_string(options_.byzantine) +
                                                            " Byzantine (" + options_.attack + ")";
    Line(std::to_string(options_.peers) + " nodes on loopback, " + liars +
         (options_.unprotected ? ", UNPROTECTED: " : ": ") + training.model +
         (training.model == "toy" ? "" : " on " + training.data) + ", " +
         std::to_string(training.steps) + " steps, " + update_);
    if (!note_.empty()) Line(note_);
  }
  void OnPage(std::uint16_t port) {
    Line("watch it at http://" + os::WithPort(options_.http.address, port) + "/");
  }
  // A case has one line, when it ends: the removal, whose reason names accuser and votes. Until
  // then the progress line counts it.
  void OnStep(const json& event) {
    for (const json& peer : event["returned"]) {
      Line("step " + event["step"].dump() + ": " + ShortId(peer) + " returned");
    }
    if (event.contains("left")) {
      for (const json& peer : event["left"]) {
        Line("step " + event["step"].dump() + ": " + ShortId(peer) + " has left");
      }
    }
    if (event.contains("closes")) return;  // nothing was trained in it
    progress_.Done(event["step"].get<std::uint64_t>(), Now());
    if (event.contains("batch_loss")) progress_.Batch(NumberOf(event["batch_loss"]));
    if (!terminal_) return;
    DrawOver(progress_.Line(event["members"].get<std::size_t>(), event["cases"].size()));
  }
  void OnEvaluation(const json& event) {
    const std::string text = MetricText(event);
    progress_.Evaluated(text);
    Line("step " + event["step"].dump() + ": " + text);
    curve_.Add({event["step"].get<std::uint64_t>(), NumberOf(event["loss"]), 0});
    const host::Trend trend = host::TrendOf(curve_.Points());
    if (std::exchange(trend_, trend) == trend || trend == host::Trend::kFine) return;
    Line(ink_.Bad(host::TroubleOf(curve_.Points(), CauseOfTrouble(options_))));
  }
  void OnRemoval(const json& event) {
    Line("step " + event["step"].dump() + ": " + Shout(event, ink_) + " " + ShortId(event["peer"]) +
         " (" + event["kind"].get<std::string>() + "): " + event["reason"].get<std::string>());
  }
  void Line(const std::string& text) {
    std::fprintf(stderr, "%s%s\n", terminal_ ? "\r\x1b[K" : "", names_.In(text).c_str());
  }

  const SwarmOptions& options_;
  const bool terminal_;
  const Ink ink_;
  Progress progress_;
  MemberNames names_;
  std::string note_;  // what was guessed
  std::string update_;
  host::Curve curve_;
  host::Trend trend_ = host::Trend::kFine;  // as told
  bool announced_ = false;
};

void PrintNodes(const SwarmRun& run, const json& result) {
  MemberNames::Map names;
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    names.emplace(run.nodes[i].id, SwarmNodeName(i));
  }
  const MemberNames shown(std::move(names));
  std::printf("%-6s %-16s %-10s %-10s %s\n", "node", "peer", "role", "end", "why");
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const SwarmNode& node = run.nodes[i];
    std::string end = node.report.is_null() ? "lost" : node.report["end"].get<std::string>();
    std::string why;
    if (node.comes && !node.started) end = "absent";
    for (const json& removal : result["removals"]) {
      if (removal["peer"] != node.id.Hex()) continue;
      end = RemovalWord(removal);
      why = "step " + removal["step"].dump() + ", " + removal["kind"].get<std::string>() + ": " +
            removal["reason"].get<std::string>();
    }
    for (const json& back : result["returns"]) {
      if (back["peer"] == node.id.Hex() && end == "dropped") {
        why += "; returned in step " + back["step"].dump();
      }
    }
    if (why.empty() && end != "finished" && !node.report.is_null()) {
      why = node.report["reason"].get<std::string>();
    }
    std::printf("%-6zu %-16s %-10s %-10s %s\n", i, node.id.Short().c_str(),
                node.byzantine ? "byzantine" : "honest", end.c_str(), shown.In(why).c_str());
  }
}

void PrintNumbers(const SwarmOptions& options, const json& result) {
  if (!result["metric"].is_null()) {
    const json& metric = result["metric"];
    const std::string target =
        options.target > 0 ? " (target " + FourDigits(options.target) + ")" : "";
    std::printf("%s after step %s%s\n", MetricText(metric).c_str(), metric["step"].dump().c_str(),
                target.c_str());
  }
  if (result["state_roots_equal"].get<bool>())
    std::printf("state roots of the honest nodes: equal\n");
  if (result.contains("seconds_per_step")) {
    const json& times = result["seconds_per_step"];
    std::printf("%llu steps in %.1f s; a step %.0f ms: compute %.0f, aggregate %.0f, agree %.0f\n",
                static_cast<unsigned long long>(result["steps"].get<std::uint64_t>()),
                result["seconds"].get<double>(), times["total"].get<double>() * 1e3,
                times["compute"].get<double>() * 1e3, times["aggregate"].get<double>() * 1e3,
                times["agree"].get<double>() * 1e3);
  }
  if (result.contains("wan")) {
    const json& wan = result["wan"];
    std::printf("each node's line: %.6g Mbit/s, %.0f ms; %.1f MB passed, with encryption\n",
                wan["bits_per_second"].get<double>() / 1e6,
                wan["delay_seconds"].get<double>() * 1e3, wan["bytes"].get<double>() / 1e6);
  }
  std::printf("%.1f MB sent by all nodes, peak memory of a node %.0f MiB\n",
              result["bytes_sent"].get<double>() / 1e6,
              result["peak_rss_bytes"].get<double>() / (1 << 20));
}

// Collects the evidence from the honest nodes' ledgers in one folder.
base::Status KeepEvidence(const SwarmRun& run) {
  std::set<base::Digest> written;
  for (const SwarmNode& node : run.nodes) {
    if (node.byzantine || node.report.is_null()) continue;
    RETURN_IF_ERROR(WriteEvidenceFiles(node.data_dir, run.run_dir + "/evidence", written));
  }
  return base::OkStatus();
}

ExitCode RunCommand(const SwarmOptions& options, bool print_json) {
  LiveView view(options);
  const auto run = RunSwarm(options, view);
  if (!run.ok()) return Fail(run.status());
  const json result = JudgeSwarm(options, *run);
  const bool ok = result["ok"].get<bool>();
  if (print_json) {
    PrintJson(result);
  } else {
    std::printf("\n");
    PrintNodes(*run, result);
    PrintNumbers(options, result);
    const Ink ink(STDOUT_FILENO);
    std::printf("%s\n", (ok ? ink.Good("OK") : ink.Bad("FAILED")).c_str());
    for (const json& problem : result["problems"]) {
      std::printf("  %s\n", problem.get<std::string>().c_str());
    }
  }
  if (ok && options.out_dir.empty()) {
    std::error_code ignored;  // a folder left in /tmp does not fail the run
    std::filesystem::remove_all(run->run_dir, ignored);
    std::fprintf(stderr, "nothing is kept: --out DIR keeps the model, for ostraka export\n");
  } else {
    const base::Status kept = options.unprotected ? base::OkStatus() : KeepEvidence(*run);
    std::fprintf(stderr, "logs, ledgers and evidence: %s\n", run->run_dir.c_str());
    const SwarmNode& node = run->nodes.front();
    if (node.report.is_object() && node.report.contains("checkpoint")) {
      std::fprintf(stderr, "the model: ostraka export %s model.safetensors\n",
                   node.data_dir.c_str());
    }
    if (!kept.ok()) return Fail(kept);
  }
  return ok ? kDone : kNegative;
}

}  // namespace

void AddSwarmCommand(CLI::App& program, Invocation& invocation) {
  auto* command =
      program.add_subcommand("swarm", "run real nodes on this machine, some of them attackers");
  auto options = std::make_shared<SwarmOptions>();
  auto print_json = std::make_shared<bool>(false);
  command->add_option("--peers", options->peers, "nodes")->capture_default_str();
  command->add_option("--byzantine", options->byzantine, "number of attackers among them")
      ->capture_default_str();
  OfferChoices(command->add_option(
                   "--attack", options->attack,
                   "their attack: sign_flip, random_direction, label_flip, alie, ipm, none ..."),
               AttackNames())
      ->capture_default_str();
  command->add_option("--attack-param", options->attack_params, "name=value");
  command->add_option("--attack-from", options->attack_from, "honest before this step");
  command
      ->add_option("--join", options->joins,
                   "honest keys that come in by invites while the others train")
      ->capture_default_str();
  command
      ->add_option("--intrude", options->intruders, "attackers that come in by one public invite")
      ->capture_default_str();
  command->add_option("--leave", options->leaves, "honest nodes that leave")->capture_default_str();
  AddManifestOptions(*command, options->manifest);
  AddPrivateSources(*command, options->manifest.allow_private_sources);
  AddDataCache(*command, options->data_cache);
  command->add_option("--seed", options->seed, "seed of keys, run and initial parameters")
      ->capture_default_str();
  command->add_option("--target", options->target,
                      "fail unless the accuracy is at least this (toy: the loss at most this)");
  command->add_option("--evaluate-every", options->evaluate_every, "steps between evaluations")
      ->capture_default_str();
  command->add_option("--from", options->weights,
                      "begin with the trained weights of this safetensors file (docs/training.md)");
  AddStateOptions(*command, options->states);
  AddHttpOptions(*command, options->http);
  WritesTo(command->add_option("--out", options->out_dir,
                               "keep data folders, logs, ledgers and evidence here"));
  OfferChoices(
      command->add_option("--kernels", options->kernels,
                          "kernels of exact gradients for the nodes, by turns: scalar,avx2,avx512"),
      KernelNames())
      ->delimiter(',');
  command
      ->add_option("--device", options->devices,
                   "what computes the nodes' exact gradients, by turns: cpu,opencl:0 (default cpu)")
      ->delimiter(',');
  command->add_option_function<std::string>(
      "--wan",
      [options](const std::string& text) {
        const auto line = ParseWanLine(text);
        if (!line.ok()) throw CLI::ValidationError("--wan", base::MessageOf(line.status()));
        options->wan = *line;
      },
      "RATE:DELAY of each node's line, as 20M:50ms: bits a second in each direction, and how long "
      "a "
      "message is under way");
  command->add_flag("--unprotected", options->unprotected,
                    "plain averaging without checks, to see what the attack does to it");
  command->add_flag("--json", *print_json, "print one JSON object (docs/json.md)");
  command->footer(
      "Example: ostraka swarm --attack label_flip --steps 300\n"
      "Exit 0 only if every attacker was banned or dropped (attacks that are only contained\n"
      "excepted: docs/simulation.md), no honest peer was, and all states are equal");
  command->callback([options, print_json, command, &invocation] {
    options->fits_waits = command->count("--part-timeout-ms") == 0 &&
                          command->count("--patience-ms") == 0 && command->count("--work-ms") == 0;
    // Four of the longest delays, and what a queue adds.
    if (options->wan && command->count("--delta-ms") == 0) {
      const auto delay_ms = static_cast<std::uint64_t>(options->wan->delay.ns / 1'000'000);
      options->manifest.delta_ms += 8 * delay_ms;
    }
    invocation.body = [options, print_json] { return RunCommand(*options, *print_json); };
  });
}

}  // namespace ostraka::cli
