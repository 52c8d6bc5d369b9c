// ostraka compare: compares aggregation rules, and the full protocol as one of them.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/options/choices.h"
#include "node/cli/sim/commands.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/views/node_json.h"
#include "node/train/data_source.h"
#include "sim/compare/engine/code_version.h"
#include "sim/compare/engine/engine.h"
#include "sim/compare/engine/profile.h"
#include "sim/compare/engine/worker_pool.h"
#include "sim/compare/plan/grid_toml.h"
#include "sim/compare/report/output.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxGridBytes = 1 << 20;
constexpr char kGridFile[] = "/grid.toml";

struct CompareOptions {
  std::string grid;  // file
  std::string preset;
  std::string out;
  std::vector<std::string> data;  // replaces the grid's data
  std::string shard = "1/1";
  std::uint64_t jobs = 0;  // 0: one per core
  bool dry_run = false;
  bool retry_failed = false;
  bool json = false;
  std::vector<std::string> parts;  // for merge
};

base::StatusOr<std::string> ReadGridText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::NotFound("cannot read grid " + path + ": check the path");
  std::string text(kMaxGridBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return base::Unavailable("cannot read grid " + path + ": give a readable file");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxGridBytes) return base::InvalidArgument(path + " is larger than 1 MiB");
  return text;
}

base::StatusOr<compare::Plan> PlanOf(const std::string& text,
                                     const std::vector<std::string>& data) {
  ASSIGN_OR_RETURN(compare::Grid grid, compare::ParseGrid(text));
  if (!data.empty()) grid.data = data;
  return compare::MakePlan(grid);
}

base::StatusOr<compare::Plan> ReadPlan(const CompareOptions& options) {
  if (options.grid.empty() == options.preset.empty()) {
    return base::InvalidArgument("give a grid file, or --preset with one of: " + [] {
      std::string names;
      for (const std::string& name : compare::PresetNames()) names += " " + name;
      return names.substr(1);
    }());
  }
  if (!options.preset.empty()) {
    ASSIGN_OR_RETURN(const std::string text, compare::PresetText(options.preset));
    return PlanOf(text, options.data);
  }
  ASSIGN_OR_RETURN(const std::string text, ReadGridText(options.grid));
  auto plan = PlanOf(text, options.data);
  if (plan.ok()) return plan;
  return base::MakeStatus(plan.status().code(),
                          options.grid + ": " + base::MessageOf(plan.status()));
}

base::StatusOr<compare::Shard> ParseShard(const std::string& text) {
  compare::Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = slash ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!slash || count.ec != std::errc() || count.ptr != end || shard.index == 0 ||
      shard.index > shard.count) {
    return base::InvalidArgument("--shard '" + text + "': write I/N, for example 1/4 to 4/4");
  }
  return shard;
}

std::string DurationText(double seconds) {
  const auto whole = static_cast<unsigned long long>(seconds + 0.5);
  if (whole < 100) return std::to_string(whole) + " s";
  if (whole < 6000) return std::to_string((whole + 30) / 60) + " min";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

// On a terminal one changing line; in a log one line per percent, at most one per second.
class ProgressLine {
 public:
  void Show(const compare::ProgressReport& report) {
    const bool last = report.done == report.total;
    const std::size_t percent = 100 * report.done / report.total;
    const auto now = Clock::now();
    if (!terminal_ && !last && (percent == percent_ || now - shown_ < std::chrono::seconds(1))) {
      return;
    }
    percent_ = percent;
    shown_ = now;
    std::string line =
        std::to_string(report.done) + " of " + std::to_string(report.total) + " cells";
    if (report.failed > 0) line += ", " + std::to_string(report.failed) + " failed";
    if (!last) line += ", " + DurationText(report.seconds_left) + " left";
    std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", line.c_str());
    if (terminal_ && last) std::fputc('\n', stderr);
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::size_t percent_ = 101;
  Clock::time_point shown_;
};

base::StatusOr<ExitCode> DryRun(const compare::Plan& plan, const compare::Shard& shard,
                                std::uint64_t jobs, bool as_json) {
  const auto cells = compare::CellsOf(plan, shard);
  ASSIGN_OR_RETURN(const double wall, compare::EstimateSeconds(plan, cells, jobs));
  if (as_json) {
    PrintJson(json{{"cells", cells.size()},
                   {"jobs", jobs},
                   {"estimated_seconds", wall},
                   {"disk_bytes", compare::DiskNeed(plan, cells.size())},
                   {"left_out", plan.left_out}});
    return kDone;
  }
  std::printf("%zu cells, about %s with %llu at a time (a few steps of each kind were timed)\n",
              cells.size(), DurationText(wall).c_str(), static_cast<unsigned long long>(jobs));
  for (const std::string& line : plan.left_out) std::printf("left out: %s\n", line.c_str());
  return kDone;
}

// Writes all tables and figures and prints a summary. The exit code tells whether all cells exist.
base::StatusOr<ExitCode> Finish(const compare::Plan& plan, const compare::Records& records,
                                const compare::Maker& maker, std::size_t wanted,
                                const CompareOptions& options) {
  ASSIGN_OR_RETURN(const compare::Summary summary,
                   compare::WriteOutputs(plan, records, maker, options.out));
  const bool ok = summary.failed.empty() && summary.done == wanted;
  if (options.json) {
    PrintJson(json{{"ok", ok},
                   {"cells", wanted},
                   {"done", summary.done},
                   {"failed", summary.failed},
                   {"out", options.out},
                   {"version", maker.version},
                   {"profile", maker.profile},
                   {"winners", json::parse(summary.winners_json)}});
    return ok ? kDone : kNegative;
  }
  std::fputs(summary.text.c_str(), stdout);
  for (const std::string& line : plan.left_out) std::printf("left out: %s\n", line.c_str());
  for (const std::string& line : summary.failed) {
    std::fprintf(stderr, "failed: %s\n", PrintableLine(line).c_str());
  }
  if (!summary.failed.empty()) {
    std::fprintf(stderr, "repeat the command with --retry-failed to run these again\n");
  } else if (summary.done < wanted) {
    std::fprintf(stderr, "%zu of %zu cells are missing: run them, then repeat this command\n",
                 wanted - summary.done, wanted);
  }
  std::printf("%s/report.html has the figures, results.csv every cell\n", options.out.c_str());
  return ok ? kDone : kNegative;
}

base::StatusOr<ExitCode> Compare(const CompareOptions& options) {
  ASSIGN_OR_RETURN(const compare::Plan plan, ReadPlan(options));
  ASSIGN_OR_RETURN(const compare::Shard shard, ParseShard(options.shard));
  const std::uint64_t jobs = options.jobs == 0 ? compare::CoreCount() : options.jobs;
  if (options.dry_run) return DryRun(plan, shard, jobs, options.json);
  if (options.out.empty()) {
    return base::InvalidArgument(
        "--out DIR is missing: give the folder for results, also to continue an interrupted "
        "comparison");
  }
  std::string profile = compare::kExactProfile;
  if (!plan.cells.front().is_exact()) {
    ASSIGN_OR_RETURN(profile, compare::ComputeProfile());
  }
  const compare::Maker maker{compare::CodeVersion(), profile};
  ASSIGN_OR_RETURN(compare::CellStore store, compare::CellStore::Open(options.out, maker));
  RETURN_IF_ERROR(compare::WriteText(options.out + kGridFile, compare::WriteGrid(plan.grid)));
  ProgressLine line;
  compare::EngineOptions engine;
  engine.folder = options.out;
  engine.shard = shard;
  engine.workers = jobs;
  engine.retry_failed = options.retry_failed;
  engine.progress = [&line](const compare::ProgressReport& report) { line.Show(report); };
  RETURN_IF_ERROR(compare::RunCells(plan, engine, store));
  return Finish(plan, store.records(), maker, compare::CellsOf(plan, shard).size(), options);
}

// Joins the results of a grid's shards.
base::StatusOr<ExitCode> Merge(const CompareOptions& options) {
  std::optional<compare::StoredCells> merged;
  std::string grid;
  for (const std::string& part : options.parts) {
    ASSIGN_OR_RETURN(const std::string text, ReadGridText(part + kGridFile));
    ASSIGN_OR_RETURN(compare::StoredCells cells, compare::ReadCells(part));
    if (!merged) {
      grid = text;
      merged = std::move(cells);
      continue;
    }
    if (text != grid) {
      return base::InvalidArgument(part + " belongs to another grid than " + options.parts.front() +
                                   ": merge shards of one grid");
    }
    if (cells.maker != merged->maker) {
      const bool version = cells.maker.version != merged->maker.version;
      return base::FailedPrecondition(
          "refusing to mix " + std::string(version ? "code versions: " : "compute profiles: ") +
          part + " was made by " + (version ? cells.maker.version : cells.maker.profile) + ", " +
          options.parts.front() + " by " +
          (version ? merged->maker.version : merged->maker.profile));
    }
    for (auto& [id, record] : cells.records) {
      const auto known = merged->records.find(id);
      if (known == merged->records.end() || !known->second.result) merged->records[id] = record;
    }
  }
  ASSIGN_OR_RETURN(const compare::Plan plan, PlanOf(grid, options.data));
  ASSIGN_OR_RETURN(compare::CellStore store, compare::CellStore::Open(options.out, merged->maker));
  RETURN_IF_ERROR(compare::WriteText(options.out + kGridFile, compare::WriteGrid(plan.grid)));
  for (const auto& [id, record] : merged->records) {
    if (store.records().contains(id)) continue;
    RETURN_IF_ERROR(store.Append(id, record));
  }
  return Finish(plan, store.records(), merged->maker, plan.cells.size(), options);
}

std::function<ExitCode()> BodyOf(const std::shared_ptr<CompareOptions>& options,
                                 base::StatusOr<ExitCode> (*run)(const CompareOptions&)) {
  return [options, run] {
    const auto code = run(*options);
    return code.ok() ? *code : Fail(code.status());
  };
}

void AddMerge(CLI::App& command, const std::shared_ptr<CompareOptions>& options,
              Invocation& invocation) {
  auto* merge = command.add_subcommand("merge", "join the folders of one grid's shards");
  WritesTo(merge->add_option("out", options->out, "new folder for the joined results"))->required();
  merge->add_option("parts", options->parts, "folders of the shards")->required();
  merge->add_option("--data", options->data, "replaces the grid's data, as in `compare --data`");
  merge->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  merge->footer("Example: ostraka compare merge whole shard-1 shard-2");
  merge->callback([options, &invocation] { invocation.body = BodyOf(options, Merge); });
}

}  // namespace

void AddCompareCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand(
      "compare", "compare aggregation rules and the protocol under attack, as tables and figures");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("grid", options->grid,
                      "grid of the comparison, a TOML file (docs/compare.md)");
  OfferChoices(command->add_option("--preset", options->preset,
                                   "a built-in grid: smoke, btard-2022, byzfl-mnist or diloco"),
               compare::PresetNames());
  WritesTo(command->add_option(
      "--out", options->out,
      "folder for results; the same command continues an interrupted comparison"));
  OfferChoices(
      command->add_option("--data", options->data,
                          "replaces the grid's data: digits, mnist:DIR, cifar10:DIR, text:FILE"),
      train::DataSourceBeginnings());
  command->add_option("--jobs", options->jobs, "cells at a time; 0: one for each core")
      ->capture_default_str();
  command->add_option("--shard", options->shard, "I/N: only every N-th cell, from the I-th")
      ->capture_default_str();
  command->add_flag("--dry-run", options->dry_run,
                    "print the number of cells and an estimate of their time, and run none");
  command->add_flag("--retry-failed", options->retry_failed, "run failed cells again");
  command->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  command->footer(
      "Examples: ostraka compare --preset smoke --out smoke\n"
      "          ostraka compare grid.toml --out results --dry-run");
  command->require_subcommand(0, 1);
  command->callback([command, options, &invocation] {
    if (command->get_subcommands().empty()) invocation.body = BodyOf(options, Compare);
  });
  AddMerge(*command, options, invocation);
}

}  // namespace ostraka::cli
