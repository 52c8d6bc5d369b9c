// ostraka doctor: checks whether this machine is fit for a node.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/doctor/calibration.h"
#include "node/cli/doctor/commands.h"
#include "node/cli/doctor/dialed.h"
#include "node/cli/doctor/doctor.h"
#include "node/cli/doctor/outside.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/options/state_options.h"
#include "node/cli/terminal/data_dir.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/views/node_json.h"
#include "node/config/manifest_toml.h"
#include "node/config/run_memory.h"
#include "node/config/run_work.h"
#include "node/config/training.h"
#include "node/device/device_list.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/lasting/memory_need.h"
#include "node/store/data_folder.h"
#include "node/train/trainer_loader.h"

namespace ostraka::cli {
namespace {

struct DoctorOptions {
  std::string manifest_file;
  std::string data_dir;
  std::string listen = "*:0";
  std::string data;
  std::string graph;
  std::size_t threads = 1;
  bool recompute = false;
  bool calibrate = false;
  bool json = false;
  // For a process that --calibrate starts.
  std::string probe_into;
  std::string probe_at;
  std::string probe_model;
  std::string probe_kernels;
};

// The manifest and its trainer, or the defaults with a built-in model.
struct Model {
  protocol::Manifest manifest;
  train::TrainerOptions trainer;
};
base::StatusOr<Model> ModelOf(const DoctorOptions& options, const std::string& built_in,
                              const char* device = device::kProcessor) {
  Model model;
  if (options.manifest_file.empty()) {
    ManifestOptions chosen;
    chosen.manifest.training.model = built_in;
    ASSIGN_OR_RETURN(model.manifest, MakeManifest(chosen));
  } else {
    ASSIGN_OR_RETURN(model.manifest, config::ReadManifestFile(options.manifest_file));
  }
  ASSIGN_OR_RETURN(model.trainer,
                   config::TrainerOptionsOf(
                       model.manifest,
                       {.data = options.data,
                        .graph = GraphFileOf(options.graph, options.manifest_file, model.manifest),
                        .kernels = options.probe_kernels,
                        .threads = options.threads,
                        .recompute = options.recompute,
                        .device = device}));
  return model;
}

base::StatusOr<std::vector<CalibrationFacts>> CalibrateModels(const DoctorOptions& options) {
  std::vector<CalibrationFacts> facts;
  for (const char* built_in : {"softmax", "mlp", "cnn"}) {
    ASSIGN_OR_RETURN(const Model model, ModelOf(options, built_in));
    facts.push_back(Calibrate(model.manifest, options.manifest_file, model.trainer, options.graph));
    if (!options.manifest_file.empty()) break;
  }
  return facts;
}

nlohmann::json JsonOf(const CalibrationFacts& facts) {
  nlohmann::json paths = nlohmann::json::object();
  for (const PathNoise& path : facts.paths) paths[path.path] = path.noise;
  return {{"model", facts.model},
          {"noise", facts.noise()},
          {"least_eps_g", kNoiseMargin * facts.noise()},
          {"eps_g", facts.eps_g},
          {"paths", paths}};
}

// Tries many members in parallel, because those behind a firewall time out slowly.
std::vector<ReachFacts> TryMembers(const std::vector<protocol::Member>& members) {
  constexpr std::size_t kAtOnce = 32;
  const MemberNames names(protocol::NamesOf(members));
  std::vector<ReachFacts> facts;
  for (std::size_t begin = 0; begin < members.size(); begin += kAtOnce) {
    std::vector<std::future<ReachFacts>> probes;
    for (std::size_t i = begin; i < std::min(begin + kAtOnce, members.size()); ++i) {
      probes.push_back(
          std::async(std::launch::async, TryReach, names.Shown(members[i].id), members[i].address));
    }
    for (auto& probe : probes) facts.push_back(probe.get());
  }
  return facts;
}

// What members that have an address see of this machine; nullopt: nobody can be asked. `dialed`:
// what the running node knows, if there is one.
std::optional<Finding> SeenByMembers(const DoctorOptions& options,
                                     const std::vector<ReachFacts>& members,
                                     const std::optional<DialedFacts>& dialed) {
  std::vector<std::string> addresses;
  for (const ReachFacts& member : members) {
    if (!member.address.empty()) addresses.push_back(member.address);
  }
  if (addresses.empty()) return std::nullopt;
  OutsideFacts facts = LookFromOutside(addresses);
  facts.members = members;
  if (dialed) facts.strays = StraysOf(*dialed);
  const auto listen = os::ParseHostPort(options.listen);
  const std::uint16_t port = listen.ok() ? listen->port : 0;
  return JudgeOutside(facts, port == 0 && dialed ? dialed->port : port);
}

// What a member of the run needs of this machine.
struct RunNeeds {
  std::uint64_t memory = 0;
  std::uint64_t disk = 0;
  std::optional<WorkFacts> work = {};
};

// An error is one that a node would end with, if it is started with the same options. `runs`: a
// node does the run's work now, beside which no time of it can be measured.
base::StatusOr<RunNeeds> NeedsOf(const DoctorOptions& options, bool runs) {
  ASSIGN_OR_RETURN(const Model model, ModelOf(options, "", device::kAnyDevice));
  ASSIGN_OR_RETURN(const auto trainer, train::MakeTrainer(model.trainer));
  const protocol::DiskNeed disk =
      protocol::DiskOf(model.manifest, base::ElementCount(trainer->layout()));
  // Those that a node keeps by default, and the one that is being written.
  const std::uint64_t checkpoints = StateOptions{}.keep_checkpoints + 1;
  RunNeeds needs{.memory = config::SumOf(config::MemoryRowsOf(model.manifest, *trainer)),
                 .disk = disk.kept + checkpoints * disk.checkpoint};
  if (runs) return needs;
  ASSIGN_OR_RETURN(const base::Duration work, config::MeasureLeastWork(model.manifest, *trainer));
  const protocol::TrainingPlan& plan = model.manifest.training;
  needs.work = {
      .takes = work,
      .allowed = protocol::WorkIn(model.manifest),
      .most_batches = static_cast<double>(plan.most_batches) / static_cast<double>(plan.batches),
      .by = trainer->ComputesOn()};
  return needs;
}

Finding JudgeNeeds(const base::Status& why_unknown, const DoctorOptions& options) {
  const std::string why = base::MessageOf(why_unknown);
  if (options.data.empty()) {
    return {"model", Severity::kWarning, "what the run needs of this machine is not known: " + why,
            "give --data, and --graph if need be, as to the node"};
  }
  return {"model", Severity::kSerious, "a node with these options would end: " + why,
          "name the data and the graph file of this run: --data, --graph"};
}

// The node that runs in a data folder. Nullopt: none, or it cannot be told.
std::optional<pid_t> RunningIn(const std::string& data_dir) {
  if (data_dir.empty()) return std::nullopt;
  const auto user = store::UserOf(data_dir);
  return user.ok() ? std::optional(*user) : std::nullopt;
}

base::StatusOr<std::vector<Finding>> Examine(const DoctorOptions& options) {
  std::vector<ReachFacts> members;
  MemberNames names;
  std::string folder = options.data_dir;
  std::string node = options.data_dir;  // the folder of a running node, if one runs there
  if (folder.empty()) {
    ASSIGN_OR_RETURN(folder, DefaultDataRoot());
  }
  if (!options.manifest_file.empty()) {
    ASSIGN_OR_RETURN(const protocol::Manifest manifest,
                     config::ReadManifestFile(options.manifest_file));
    members = TryMembers(manifest.members);
    names = MemberNames(protocol::NamesOf(manifest.members));
    ASSIGN_OR_RETURN(node, DataDirOf(options.data_dir, manifest.run_id));
  }
  const std::optional<DialedFacts> dialed = node.empty() ? std::nullopt : AskNode(node);
  const std::optional<pid_t> runs = RunningIn(node);
  std::optional<RunNeeds> needs;
  std::optional<Finding> unknown_needs;
  if (!options.manifest_file.empty()) {
    auto found = NeedsOf(options, runs.has_value());
    if (found.ok()) needs = *std::move(found);
    if (!found.ok()) unknown_needs = JudgeNeeds(found.status(), options);
  }
  const CpuFacts cpu = ReadCpu();
  std::vector<Finding> findings = {JudgeCpu(cpu),
                                   JudgeThreads(cpu),
                                   JudgeKernels(ReadKernels()),
                                   JudgeBlas(ReadBlas(), cpu),
                                   CheckModule(),
                                   JudgeMemory(ReadMemory(runs), needs ? needs->memory : 0),
                                   JudgeDisk(ReadDisk(folder, node), needs ? needs->disk : 0),
                                   CheckFiles(),
                                   JudgeClock(ReadClock()),
                                   JudgeListen(TryListen(options.listen))};
  for (Finding& finding : JudgeDevices(ReadDevices())) findings.push_back(std::move(finding));
  if (unknown_needs) findings.push_back(*std::move(unknown_needs));
  if (needs && needs->work) findings.push_back(JudgeWork(*needs->work));
  if (!members.empty()) findings.push_back(JudgeReach(members));
  if (const auto outside = SeenByMembers(options, members, dialed)) findings.push_back(*outside);
  if (dialed) findings.push_back(JudgeDialed(*dialed, names));
  return findings;
}

void PrintText(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    std::printf("%-8s %-8s %s\n", SeverityName(finding.severity), finding.check.c_str(),
                PrintableLine(finding.text).c_str());
    if (!finding.fix.empty()) {
      std::printf("%-17s fix: %s\n", "", PrintableLine(finding.fix).c_str());
    }
  }
}

base::StatusOr<ExitCode> Doctor(const DoctorOptions& options) {
  if (!options.probe_into.empty()) {
    ASSIGN_OR_RETURN(const Model model, ModelOf(options, options.probe_model));
    RETURN_IF_ERROR(ProbeGradients(model.manifest.training, model.trainer, options.probe_at,
                                   options.probe_into));
    return kDone;
  }
  std::vector<Finding> findings;
  nlohmann::json calibration = nlohmann::json::array();
  if (options.calibrate) {
    ASSIGN_OR_RETURN(const std::vector<CalibrationFacts> models, CalibrateModels(options));
    for (const CalibrationFacts& facts : models) {
      findings.push_back(JudgeCalibration(facts));
      calibration.push_back(JsonOf(facts));
    }
  } else {
    ASSIGN_OR_RETURN(findings, Examine(options));
  }
  const bool ok = std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Severity::kSerious;
  });
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Finding& finding : findings) {
      list.push_back({{"check", finding.check},
                      {"severity", SeverityName(finding.severity)},
                      {"text", finding.text},
                      {"fix", finding.fix}});
    }
    nlohmann::json out = {{"ok", ok}, {"findings", list}};
    if (options.calibrate) out["calibration"] = calibration;
    PrintJson(out);
  } else {
    PrintText(findings);
  }
  return ok ? kDone : kNegative;
}

}  // namespace

void AddDoctorCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand(
      "doctor", "check whether this machine is fit for a node, and say what to do if it is not");
  auto options = std::make_shared<DoctorOptions>();
  command->add_option("manifest", options->manifest_file,
                      "manifest of a run: also try to reach its members");
  command->add_option("--data-dir", options->data_dir,
                      "data folder to check (default ~/.local/share/ostraka); if a node runs in "
                      "it: also whether others can dial that node");
  command->add_option("--listen", options->listen, "HOST:PORT on which to try to listen");
  command->add_flag(
      "--calibrate", options->calibrate,
      "instead, measure the noise of gradients between the code paths of different CPUs, and "
      "compare it with the manifest's eps_g (or the default, for the built-in models)");
  command->add_option("--data", options->data,
                      "where the manifest's data is, as for ostraka node: for --calibrate, and to "
                      "say what memory a "
                      "member needs");
  command->add_option("--graph", options->graph,
                      "where the manifest's graph file is, as for ostraka node");
  command->add_option("--threads", options->threads, "as of the node: of its exact gradients")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_flag("--recompute", options->recompute, "as of the node: it takes less memory");
  command->add_option("--probe-kernels", options->probe_kernels)->group("");
  command->add_option("--probe-into", options->probe_into)->group("");
  command->add_option("--probe-at", options->probe_at)->group("");
  command->add_option("--probe-model", options->probe_model)->group("");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Example: ostraka doctor\n"
      "         ostraka doctor run.toml --listen 0.0.0.0:7000 --data-dir /srv/ostraka\n"
      "         ostraka doctor run.toml --calibrate\n"
      "Only others can say that they reach this machine: start the node, and name its data folder; "
      "its members try.\nBeside a running node the time of a step's work is not measured.\n"
      "Exit 0: no serious finding; 1: a node would fail here");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = Doctor(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli
