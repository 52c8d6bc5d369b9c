// ostraka doctor: is this machine fit for a node?
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/cli/commands.h"
#include "node/cli/data_dir.h"
#include "node/cli/doctor.h"
#include "node/cli/manifest_toml.h"
#include "node/cli/node_json.h"

namespace ostraka::cli {
namespace {

struct DoctorOptions {
  std::string manifest_file;
  std::string data_dir;
  std::string listen = "0.0.0.0:0";
  bool json = false;
};

// Many at once: those behind a firewall take their time to say nothing.
std::vector<ReachFacts> TryMembers(const std::vector<protocol::Member>& members) {
  constexpr std::size_t kAtOnce = 32;
  std::vector<ReachFacts> facts;
  for (std::size_t begin = 0; begin < members.size(); begin += kAtOnce) {
    std::vector<std::future<ReachFacts>> probes;
    for (std::size_t i = begin; i < std::min(begin + kAtOnce, members.size()); ++i) {
      probes.push_back(
          std::async(std::launch::async, TryReach, members[i].id.Hex(), members[i].address));
    }
    for (auto& probe : probes) facts.push_back(probe.get());
  }
  return facts;
}

base::StatusOr<std::vector<Finding>> Examine(const DoctorOptions& options) {
  std::vector<ReachFacts> members;
  if (!options.manifest_file.empty()) {
    ASSIGN_OR_RETURN(const protocol::Manifest manifest, ReadManifestFile(options.manifest_file));
    members = TryMembers(manifest.members);
  }
  std::string folder = options.data_dir;
  if (folder.empty()) {
    ASSIGN_OR_RETURN(folder, DefaultDataRoot());
  }
  const CpuFacts cpu = ReadCpu();
  std::vector<Finding> findings = {
      JudgeCpu(cpu), JudgeThreads(cpu),         JudgeBlas(ReadBlas(), cpu),
      CheckModule(), JudgeMemory(ReadMemory()), JudgeDisk(ReadDisk(folder)),
      CheckFiles(),  JudgeClock(ReadClock()),   JudgeListen(TryListen(options.listen))};
  if (!members.empty()) findings.push_back(JudgeReach(members));
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
  ASSIGN_OR_RETURN(const std::vector<Finding> findings, Examine(options));
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
    PrintJson({{"ok", ok}, {"findings", list}});
  } else {
    PrintText(findings);
  }
  return ok ? kDone : kNegative;
}

}  // namespace

void AddDoctorCommand(CLI::App& program, Invocation& invocation) {
  auto* command =
      program.add_subcommand("doctor", "is this machine fit for a node, and what to do if not");
  auto options = std::make_shared<DoctorOptions>();
  command->add_option("manifest", options->manifest_file,
                      "a run's manifest: also try to reach its members");
  command->add_option("--data-dir", options->data_dir,
                      "the data folder to try (default ~/.local/share/ostraka)");
  command->add_option("--listen", options->listen, "HOST:PORT to try to listen on");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Example: ostraka doctor\n"
      "         ostraka doctor run.toml --listen 0.0.0.0:7000 --data-dir /srv/ostraka\n"
      "Whether others reach this machine they can tell: let one run it with the manifest.\n"
      "Exit 0: no serious finding; 1: a node would fail here");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = Doctor(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli
