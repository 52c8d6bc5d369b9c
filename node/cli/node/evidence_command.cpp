// ostraka evidence verify|show|export: proofs of misbehaviour, which anyone can judge offline.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/cli/node/commands.h"
#include "node/cli/node/evidence_files.h"
#include "node/cli/node/gradient_judge.h"
#include "node/cli/options/source_options.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/views/node_json.h"
#include "node/protocol/ground/manifest.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr int kMostFiles = 100'000;  // per command; a shell allows no more
constexpr std::size_t kIdDigits = 2 * base::PeerId::kSize;
constexpr std::size_t kShortDigits = 16;

struct EvidenceCommandOptions {
  std::vector<std::string> files;
  std::vector<std::string> handovers;  // empty: kHandoverFolder beside the files
  std::string data_dir;                // for export
  GradientJudge::Sources sources;
  std::string out_dir;
  bool json = false;
};

json JsonOfSlot(const wire::Slot& slot) {
  return {{"run_id", slot.run_id.Hex()},
          {"incarnation", slot.incarnation},
          {"step", slot.step},
          {"phase", wire::PhaseName(slot.phase)},
          {"type", wire::MessageTypeName(slot.type)},
          {"draw", slot.draw},
          {"iteration", slot.iteration}};
}

json JsonOfFinding(const evidence::Finding& finding) {
  json result = {{"verdict", evidence::OutcomeName(finding.outcome)}, {"reason", finding.reason}};
  if (finding.outcome == evidence::Outcome::kMalformed) return result;
  result["kind"] = evidence::EvidenceKindName(finding.kind);
  result["accused"] = finding.accused.Hex();
  result["slot"] = JsonOfSlot(finding.slot);
  return result;
}

base::StatusOr<GradientJudge> MakeJudge(const EvidenceCommandOptions& options) {
  GradientJudge::Sources sources = options.sources;
  if (sources.manifest.empty() && sources.anchor.empty())
    return GradientJudge::Make(std::move(sources));
  std::vector<std::string> paths = options.handovers;
  if (paths.empty()) {
    for (const std::string& file : options.files) {
      const auto folder = std::filesystem::path(file).parent_path() / kHandoverFolder;
      std::error_code error;  // what cannot be looked at is no folder
      if (std::filesystem::is_directory(folder, error)) paths.push_back(folder.string());
    }
  }
  ASSIGN_OR_RETURN(sources.handovers, ReadHandovers(paths));
  return GradientJudge::Make(std::move(sources));
}

// The names that the manifest gives; without one none.
MemberNames NamesOf(const GradientJudge& judge) {
  if (judge.manifest() == nullptr) return {};
  return MemberNames(protocol::NamesOf(judge.manifest()->members));
}

// The accused of a finding or a file may be no member of the run, and then has no name.
void AddName(const MemberNames& names, const base::PeerId& accused, json& shown) {
  const std::string name = names.Of(accused);
  if (!name.empty()) shown["name"] = name;
}

ExitCode ExitOf(evidence::Outcome outcome) {
  switch (outcome) {
    case evidence::Outcome::kProven:
      return kDone;
    case evidence::Outcome::kNotProven:
      return kNegative;
    case evidence::Outcome::kMalformed:
      return kBadInput;
    case evidence::Outcome::kMissingData:
      return kEnvironment;
  }
  return kBadInput;
}

void PrintFinding(const evidence::Finding& finding, const MemberNames& names) {
  std::printf("%s: ", evidence::OutcomeName(finding.outcome));
  if (finding.outcome != evidence::Outcome::kMalformed) {
    std::printf("%s in step %llu: ", names.Shown(finding.accused, kIdDigits).c_str(),
                static_cast<unsigned long long>(finding.slot.step));
  }
  std::printf("%s\n", PrintableLine(names.In(finding.reason)).c_str());
  if (finding.outcome == evidence::Outcome::kMissingData) {
    const bool gradient = finding.kind == wire::EvidenceKind::kGradient;
    std::printf("  give %s\n", gradient ? "--manifest run.toml --state PARAMETERS and, unless the "
                                          "run trains on digits, --data DATA"
                                        : "the run's manifest or a link: --manifest run.toml, "
                                          "--anchor LINK");
  }
}

// The exit code is that of the worst file.
base::StatusOr<ExitCode> VerifyFiles(const EvidenceCommandOptions& options) {
  ASSIGN_OR_RETURN(const GradientJudge judge, MakeJudge(options));
  const MemberNames names = NamesOf(judge);
  ExitCode worst = kDone;
  json findings = json::array();
  for (const std::string& file : options.files) {
    const auto bytes = ReadEvidenceFile(file);
    if (!bytes.ok()) {  // the other files are judged nevertheless
      worst = std::max(worst, Fail(bytes.status()));
      if (options.json)
        findings.push_back({{"file", file}, {"error", base::MessageOf(bytes.status())}});
      continue;
    }
    const evidence::Finding finding = judge.Judge(*bytes);
    worst = std::max(worst, ExitOf(finding.outcome));
    if (options.json) {
      findings.push_back(JsonOfFinding(finding));
      findings.back()["file"] = file;
      if (finding.outcome != evidence::Outcome::kMalformed) {
        AddName(names, finding.accused, findings.back());
      }
    } else {
      if (options.files.size() > 1) std::printf("%s: ", PrintableLine(file).c_str());
      PrintFinding(finding, names);
    }
  }
  if (options.json) PrintJson(findings.size() == 1 ? findings[0] : json{{"findings", findings}});
  return worst;
}

json JsonOfFrame(const base::Bytes& bytes) {
  const auto opened = wire::Open(std::make_shared<const base::Bytes>(bytes));
  if (!opened.ok()) return {{"error", base::MessageOf(opened.status())}};
  crypto::PlainVerifier verifier;
  return {{"sender", opened->envelope.sender.Hex()},
          {"slot", JsonOfSlot(opened->envelope.slot)},
          {"entry", opened->envelope.entry.Hex()},
          {"digest", opened->digest.Hex()},
          {"body_bytes", opened->envelope.body.size()},
          {"signature_holds",
           verifier.Verify(opened->envelope.sender, opened->digest, opened->signature)}};
}

void PrintShown(const json& shown, const MemberNames& names) {
  const auto text = [&names](const json& value) {
    return PrintableLine(names.In(value.get<std::string>()));
  };
  std::printf("evidence %s\n", text(shown["id"]).c_str());
  std::printf("kind     %s\naccused  %s\nrun      %s\nstep     %llu, %s of phase %s\n",
              text(shown["kind"]).c_str(), text(shown["accused"]).c_str(),
              text(shown["slot"]["run_id"]).c_str(),
              static_cast<unsigned long long>(shown["slot"]["step"]),
              text(shown["slot"]["type"]).c_str(), text(shown["slot"]["phase"]).c_str());
  for (const json& frame : shown["frames"]) {
    if (frame.contains("error")) {
      std::printf("frame    unreadable: %s\n", text(frame["error"]).c_str());
      continue;
    }
    std::printf("frame    %s by %s, digest %.16s, signature %s\n",
                text(frame["slot"]["type"]).c_str(),
                text(frame["sender"].get<std::string>().substr(0, kShortDigits)).c_str(),
                text(frame["digest"]).c_str(), frame["signature_holds"] ? "holds" : "FAILS");
  }
  std::printf("verdict  %s: %s\n", text(shown["verdict"]).c_str(), text(shown["reason"]).c_str());
}

// Shows the file's content, whether or not it proves anything.
base::StatusOr<ExitCode> ShowFile(const EvidenceCommandOptions& options) {
  ASSIGN_OR_RETURN(const base::Bytes bytes, ReadEvidenceFile(options.files.front()));
  const auto file = wire::DecodeEvidence(bytes);
  if (!file.ok()) {
    return base::InvalidArgument(options.files.front() + ": " + base::MessageOf(file.status()) +
                                 ": give a file from `swarm --out` or `evidence export`");
  }
  ASSIGN_OR_RETURN(const GradientJudge judge, MakeJudge(options));
  const MemberNames names = NamesOf(judge);
  json shown = JsonOfFinding(judge.Judge(bytes));
  shown["id"] = evidence::IdOf(bytes).Hex();
  shown["bytes"] = bytes.size();
  shown["kind"] = evidence::EvidenceKindName(file->kind);
  shown["accused"] = file->accused.Hex();
  AddName(names, file->accused, shown);
  shown["slot"] = JsonOfSlot(file->slot);
  shown["frames"] = json::array();
  for (const base::Bytes& frame : file->frames) shown["frames"].push_back(JsonOfFrame(frame));
  if (options.json) {
    PrintJson(shown);
  } else {
    PrintShown(shown, names);
  }
  return kDone;
}

base::StatusOr<ExitCode> ExportFiles(const EvidenceCommandOptions& options) {
  std::set<base::Digest> written;
  RETURN_IF_ERROR(WriteEvidenceFiles(options.data_dir, options.out_dir, written));
  if (options.json) {
    json ids = json::array();
    for (const base::Digest& id : written) ids.push_back(id.Hex());
    PrintJson({{"written", ids}});
  } else {
    std::printf("%zu evidence file%s in %s\n", written.size(), written.size() == 1 ? "" : "s",
                PrintableLine(options.out_dir).c_str());
  }
  return kDone;
}

}  // namespace

void AddEvidenceCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("evidence", "check proofs of misbehaviour, offline");
  command->require_subcommand(1);
  command->footer(
      "Example: ostraka evidence verify out/evidence/*equivocation*.evidence\n"
      "The files come from `swarm --out` or `evidence export`; docs/evidence.md has the format");
  auto options = std::make_shared<EvidenceCommandOptions>();
  const auto add = [&](const char* name, const char* description, const char* example,
                       base::StatusOr<ExitCode> (*body)(const EvidenceCommandOptions&)) {
    auto* one = command->add_subcommand(name, description);
    one->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
    one->footer(example);
    one->callback([options, &invocation, body] {
      invocation.body = [options, body] {
        const auto code = body(*options);
        return code.ok() ? *code : Fail(code.status());
      };
    });
    return one;
  };
  const auto add_judge = [&](CLI::App* one, const char* name, const char* description, int most) {
    one->add_option(name, options->files, description)->required()->expected(1, most);
    GradientJudge::Sources& sources = options->sources;
    one->add_option("--manifest", sources.manifest,
                    "the run's manifest: sealed_ban and verdict are judged by its members, "
                    "who are shown by their names");
    one->add_option(
        "--anchor", sources.anchor,
        "a link of the run, or a file or data folder with one, instead of the manifest: "
        "judged by the members of its block and later; who was one before then counts "
        "for nothing, and no sealed_ban or verdict from before is proven");
    one->add_option("--handovers", options->handovers,
                    "handovers, or folders with them: of a run whose genesis members have gone, "
                    "they prove who came later (default: handovers/ beside the files)");
    one->add_option("--state", sources.state,
                    "for kind gradient: the parameters of its step, which a node keeps in "
                    "DIR/evidence/parameters-STEP.safetensors, or a folder of such files");
    one->add_option("--data", sources.data,
                    "for kind gradient: the run's data, as for `ostraka node`");
    AddPrivateSources(*one, sources.allow_private_sources);
    one->add_option("--graph", sources.graph,
                    "for kind gradient: the run's graph file (default: beside the manifest)");
  };
  add_judge(
      add("verify", "check whether files prove what they claim",
          "Example: ostraka evidence verify --manifest run.toml evidence/*.evidence\n"
          "A false gradient: ostraka evidence verify --manifest run.toml --state evidence/ FILE\n"
          "Exit codes, of the worst file: 0 proven, 1 not proven, 2 malformed, 3 data missing",
          VerifyFiles),
      "files", "evidence files", kMostFiles);
  add_judge(add("show", "print the content of a file",
                "Example: ostraka evidence show ban.evidence --json", ShowFile),
            "file", "the evidence file", 1);
  auto* exporter = add("export", "write the evidence in a node's ledger to files",
                       "Example: ostraka evidence export out/node0 evidence", ExportFiles);
  exporter->add_option("dir", options->data_dir, "the node's data folder")->required();
  WritesTo(exporter->add_option("out", options->out_dir, "the folder to write into"))->required();
}

}  // namespace ostraka::cli
