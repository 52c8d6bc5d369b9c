// ostraka sim: whole runs in virtual time, determined by a seed.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "node/cli/options/attack_options.h"
#include "node/cli/options/choices.h"
#include "node/cli/options/command_line.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/sim/bundle.h"
#include "node/cli/sim/commands.h"
#include "node/cli/sim/history_json.h"
#include "node/cli/sim/sim_dht.h"
#include "node/cli/sim/sim_runner.h"
#include "node/cli/sim/sim_search.h"
#include "node/cli/sim/update_options.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/terminal/stop_request.h"
#include "node/cli/views/node_json.h"
#include "node/protocol/ground/manifest.h"
#include "sim/report/report.h"
#include "sim/run/seeds.h"
#include "sim/run/shrink.h"
#include "sim/setup/option_table.h"
#include "sim/setup/options.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxReplayBytes = 64 * 1024;

// The page about one run.
struct PageOptions {
  std::string file;
  std::optional<std::uint64_t> step;
  bool force = false;
};

struct SimCommandOptions {
  sim::SimOptions sim;
  std::string mode = "majority";
  SimUpdateOptions update;
  std::vector<std::string> attack_params;
  std::string seeds;    // A..B
  std::string command;  // as it was given, but without --seeds
  std::string replay;   // file
  bool swarm_test = false;
  bool attack_given = false;
  bool byzantine_given = false;
  std::uint32_t threads = 0;
  std::uint64_t max_runs = 300;      // for shrink
  std::vector<std::string> results;  // for merge
  sim::SearchOptions search;
  bool json = false;
  bool trace = false;
  PageOptions report;
};

// "17 of 100 seeds" on a terminal.
class Progress {
 public:
  explicit Progress(std::uint64_t total) : terminal_(isatty(STDERR_FILENO) != 0), total_(total) {}
  void Show(std::uint64_t done) const {
    if (!terminal_) return;
    std::fprintf(stderr, "\r\x1b[K%llu of %llu seeds", static_cast<unsigned long long>(done),
                 static_cast<unsigned long long>(total_));
  }
  void Clear() const {
    if (terminal_) std::fprintf(stderr, "\r\x1b[K");
  }

 private:
  bool terminal_;
  std::uint64_t total_;
};

base::StatusOr<SeedRange> ParseSeeds(const std::string& text) {
  SeedRange range;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const std::size_t dots = text.find("..");
  const char* const middle = dots == std::string::npos ? end : begin + dots;
  const auto first = std::from_chars(begin, middle, range.first);
  const bool split = dots != std::string::npos && first.ec == std::errc() && first.ptr == middle;
  const auto last = split ? std::from_chars(middle + 2, end, range.last) : first;
  if (first.ec == std::errc::result_out_of_range || last.ec == std::errc::result_out_of_range) {
    return base::InvalidArgument("--seeds '" + text + "': a seed is at most 18446744073709551615");
  }
  if (!split || last.ec != std::errc() || last.ptr != end || range.first > range.last) {
    return base::InvalidArgument("--seeds '" + text + "': write FIRST..LAST, for example 1..100");
  }
  return range;
}

base::StatusOr<sim::SimOptions> ReadReplay(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::NotFound("cannot read replay file " + path + ": check the path");
  std::string text(kMaxReplayBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad())
    return base::Unavailable("cannot read replay file " + path + ": give a readable file");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.size() > kMaxReplayBytes) {
    return base::InvalidArgument(path + " is " + (text.empty() ? "empty" : "larger than 64 KiB") +
                                 ": give the file that a failed simulation left");
  }
  auto options = sim::ParseOptions(text);
  if (options.ok()) return options;
  return base::InvalidArgument(path + ": " + base::MessageOf(options.status()));
}

// A user who chose a small swarm and no number of attackers gets as many as it bears.
void TakeFewerAttackers(sim::SimOptions& sim) {
  if (sim.peers < 2) return;
  const std::uint32_t most = sim.unprotected ? sim.peers - 1 : sim::FaultsBorne(sim);
  if (sim.byzantine <= most) return;
  if (most > 0) {
    std::fprintf(stderr, "note: --byzantine %u: %u peers in mode %s bear no more than that\n", most,
                 sim.peers, protocol::ModeName(sim.mode));
  }
  sim.byzantine = most;
}

base::StatusOr<sim::SimOptions> OptionsOf(const SimCommandOptions& options) {
  if (!options.replay.empty()) return ReadReplay(options.replay);
  sim::SimOptions result = options.sim;
  ASSIGN_OR_RETURN(result.mode, protocol::ParseMode(options.mode));
  RETURN_IF_ERROR(SetUpdate(options.update, result));
  ASSIGN_OR_RETURN(result.attack_params, ParseAttackParams(options.attack_params));
  if (!options.byzantine_given && !options.swarm_test) TakeFewerAttackers(result);
  // Recorded runs have the default, so it stays.
  if (options.byzantine_given && result.byzantine > 0 && !options.attack_given &&
      !options.swarm_test && sim::CheckOptions(result).ok()) {
    std::fprintf(stderr,
                 "note: the Byzantine peers attack nothing: name an attack, such as --attack "
                 "sign_flip\n");
  }
  return result;
}

// What `sim` prints: of all runs, and of the only one, if it is shown step by step.
struct Ran {
  Sweep sweep;
  json history;  // null: not shown
};

Ran OneRun(sim::RunAndHistory run) {
  json history = HistoryJson(run);
  sim::SeedsTally tally;
  tally.Add(std::move(run.result));
  return {Sweep{std::move(tally).Finish(), std::nullopt, {}}, std::move(history)};
}

// One run and the page about it. Opens the file first, so that an unusable path is reported before
// the run.
base::StatusOr<Ran> RunForReport(const SimWork& work, const SimCommandOptions& options) {
  RETURN_IF_ERROR(CheckReplaces(options.report.file, options.report.force));
  std::error_code unknown;  // then the attempt to write it will tell
  const bool is_new = !std::filesystem::exists(options.report.file, unknown);
  if (!std::ofstream(options.report.file, std::ios::binary | std::ios::app)) {
    return base::Unavailable("cannot write " + options.report.file +
                             ": check the folder and your rights");
  }
  auto report = sim::MakeReport(OptionsFor(work, work.seeds.first), options.report.step,
                                [](const std::string& what) {
                                  if (isatty(STDERR_FILENO) == 0) return;
                                  std::fprintf(stderr, "\r\x1b[K%s", what.c_str());
                                });
  if (!report.ok()) {
    if (is_new) std::filesystem::remove(options.report.file, unknown);
    return report.status();
  }
  std::ofstream file(options.report.file, std::ios::binary | std::ios::trunc);
  file << report->html;
  file.close();
  if (!file) {
    if (is_new) std::filesystem::remove(options.report.file, unknown);
    return base::Unavailable("cannot write " + options.report.file +
                             ": check that the disk is not full");
  }
  return OneRun(std::move(report->run));
}

// Ctrl-C ends a sweep, which has something to report. It ends the process of one run.
base::StatusOr<Sweep> RunSweep(const SimWork& work, const Progress& progress) {
  std::optional<StopRequest> request;
  if (work.seeds.first < work.seeds.last) request.emplace();
  return RunOnCores(
      work, [&request] { return request && request->made(); },
      [&progress](std::uint64_t done) { progress.Show(done); });
}

base::StatusOr<Ran> Run(const SimWork& work, const SimCommandOptions& options,
                        const Progress& progress) {
  if (!options.report.file.empty()) return RunForReport(work, options);
  if (options.json && options.seeds.empty() && !options.swarm_test) {
    ASSIGN_OR_RETURN(sim::RunAndHistory run, sim::RunWithHistory(work.options));
    return OneRun(std::move(run));
  }
  ASSIGN_OR_RETURN(Sweep sweep, RunSweep(work, progress));
  return Ran{std::move(sweep), nullptr};
}

base::Status CheckReport(const SimCommandOptions& options) {
  if (options.report.file.empty() && options.report.force) {
    return base::InvalidArgument("--force replaces the file of --report: give --report FILE too");
  }
  if (options.report.file.empty() && options.report.step) {
    return base::InvalidArgument(
        "--report-step selects the step that --report draws: give --report FILE too");
  }
  if (!options.report.file.empty() && !options.seeds.empty()) {
    return base::InvalidArgument("--report shows one run: give --seed instead of --seeds");
  }
  return base::OkStatus();
}

// Asking for more than the mode bears is no error (members leave, and the number falls in any run),
// but a user who compares numbers of validators must know it.
void TellOfSparedValidators(const sim::SimOptions& sim) {
  const std::uint32_t spared =
      protocol::SparedValidators(sim.peers, sim::FaultsBorne(sim), sim.validators);
  if (spared == sim.validators) return;
  std::fprintf(stderr, "note: %u of %u validators a step: %u peers in mode %s can spare no more\n",
               spared, sim.validators, sim.peers, protocol::ModeName(sim.mode));
}

base::StatusOr<bool> Simulate(const SimCommandOptions& options) {
  RETURN_IF_ERROR(CheckReport(options));
  ASSIGN_OR_RETURN(const sim::SimOptions sim_options, OptionsOf(options));
  SeedRange range{sim_options.seed, sim_options.seed};
  if (!options.seeds.empty()) {
    ASSIGN_OR_RETURN(range, ParseSeeds(options.seeds));
  }
  if (options.trace) {
    RETURN_IF_ERROR(sim::RunSimulation(sim_options, [](const std::string& line) {
                      std::fprintf(stderr, "%s\n", line.c_str());
                    }).status());
  }
  SimWork work;
  work.options = sim_options;
  work.seeds = range;
  work.swarm_test = options.swarm_test;
  work.only_attack = options.attack_given;
  work.threads = std::min<std::uint64_t>(options.threads, range.last - range.first + 1);
  const Progress progress(range.last - range.first + 1);
  work.command = options.command;
  auto ran = Run(work, options, progress);
  progress.Clear();
  RETURN_IF_ERROR(ran.status());
  const Sweep& sweep = ran->sweep;
  if (!options.swarm_test && options.replay.empty()) TellOfSparedValidators(sim_options);
  ASSIGN_OR_RETURN(json out, JsonOf(work, sweep));
  if (!ran->history.is_null()) out["history"] = ran->history;
  if (options.json) {
    PrintJson(out);
  } else {
    PrintSimText(out);
  }
  if (options.json && sweep.go_on_from) {
    std::fprintf(stderr, "interrupted: go on with\n  %s\n",
                 out["interrupted"]["go_on"].get<std::string>().c_str());
  }
  return out["ok"].get<bool>();
}

base::Status ShrinkReplay(const SimCommandOptions& options) {
  ASSIGN_OR_RETURN(const sim::SimOptions failing, ReadReplay(options.replay));
  ASSIGN_OR_RETURN(const sim::ShrinkResult result,
                   sim::Shrink(failing, options.max_runs, [](const std::string& what) {
                     std::fprintf(stderr, "%s\n", what.c_str());
                   }));
  json out = ReplayOf(result.options);
  if (options.json) {
    out["checker"] = result.failure.checker;
    out["message"] = result.failure.message;
    out["runs"] = result.runs;
    out["applied"] = result.applied;
    PrintJson(out);
    return base::OkStatus();
  }
  std::printf("%zu simplifications in %llu runs; checker %s still fails: %s\n%s",
              result.applied.size(), static_cast<unsigned long long>(result.runs),
              result.failure.checker.c_str(), PrintableLine(result.failure.message).c_str(),
              ReplayText(out).c_str());
  return base::OkStatus();
}

base::StatusOr<json> ReadResult(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text) return base::NotFound("cannot read '" + path + "': check the path");
  const json result = json::parse(text.str(), nullptr, false);
  if (result.is_object() && result.contains("ranges") && result.contains("occurred")) return result;
  return base::InvalidArgument(path + ": give the output of `ostraka sim --json`");
}

base::StatusOr<bool> Merge(const SimCommandOptions& options) {
  std::vector<json> results;
  for (const std::string& path : options.results) {
    ASSIGN_OR_RETURN(results.emplace_back(), ReadResult(path));
  }
  json merged;
  try {
    ASSIGN_OR_RETURN(merged, MergeResults(results));
  } catch (const json::exception& problem) {
    return base::InvalidArgument(std::string("a result lacks a key: ") + problem.what());
  }
  if (options.json) {
    PrintJson(merged);
  } else {
    PrintSimText(merged);
  }
  return merged["ok"].get<bool>();
}

template <typename Body>
std::function<ExitCode()> AsExit(Body body) {
  return [body] {
    const auto ok = body();
    if (!ok.ok()) return Fail(ok.status());
    return *ok ? kDone : kNegative;
  };
}

void AddSimSubcommands(CLI::App& command, const std::shared_ptr<SimCommandOptions>& options,
                       Invocation& invocation) {
  auto* shrink = command.add_subcommand("shrink", "make a failure smaller");
  shrink->add_option("replay", options->replay, "file options.replay of a failure")->required();
  shrink->add_option("--max-runs", options->max_runs, "runs to spend")->capture_default_str();
  shrink->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  shrink->footer("Example: ostraka sim shrink ostraka-sim-seed-17/options.replay");
  shrink->callback([options, &invocation] {
    invocation.body = AsExit([options]() -> base::StatusOr<bool> {
      RETURN_IF_ERROR(ShrinkReplay(*options));
      return true;
    });
  });
  auto* search =
      command.add_subcommand("search", "search for scripts of attack `free` that break a run");
  search->add_option("--runs", options->search.runs, "runs to spend")->capture_default_str();
  search->add_option("--seed", options->search.seed, "seed of the search")->capture_default_str();
  search->add_option("--until", options->search.until,
                     "end at the first run that fails this checker");
  search->add_flag("--premises", options->search.premises,
                   "also fail runs that break an assumption of docs/seal.md");
  search->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  search->footer("Example: ostraka sim search --runs 1000 --seed 7");
  search->callback([options, &invocation] {
    invocation.body = AsExit([options] { return SearchScripts(options->search, options->json); });
  });
  auto* merge = command.add_subcommand("merge", "join results of ranges of seeds");
  merge->add_option("results", options->results, "files with the output of `ostraka sim --json`")
      ->required();
  merge->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  merge->footer("Example: ostraka sim merge range1.json range2.json");
  merge->callback(
      [options, &invocation] { invocation.body = AsExit([options] { return Merge(*options); }); });
}

// --- the simulated run ---------------------------------------------------------------------------

std::string SecondsText(base::Duration duration) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), static_cast<double>(duration.ns) / 1e9)
          .ptr;
  return {text.data(), end};
}

void AddSeconds(CLI::App& command, const std::string& flag, base::Duration& value,
                const std::string& help) {
  constexpr double kMost = 86'400;  // a day of virtual time
  command
      .add_option_function<double>(
          flag,
          [flag, &value](double seconds) {
            if (!(seconds >= 0 && seconds <= kMost)) {
              throw CLI::ValidationError(flag, "must be 0..86400 seconds");
            }
            value = base::Duration{static_cast<std::int64_t>(seconds * 1e9)};
          },
          help)
      ->default_str(SecondsText(value));
}

// What the table declares (sim/setup/option_table.h).
void AddTableOptions(CLI::App& command, sim::SimOptions& sim) {
  for (const sim::SimOption& option : sim::AllOptions()) {
    const std::string flag(option.flag);
    const std::string help(option.help);
    if (flag.empty()) continue;
    std::visit(
        [&]<typename T>(T* value) {
          if constexpr (std::is_same_v<T, base::Duration>) {
            AddSeconds(command, flag, *value, help);
          } else if constexpr (std::is_same_v<T, bool>) {
            command.add_flag(flag, *value, help);
          } else {
            command.add_option(flag, *value, help)->capture_default_str();
          }
        },
        std::get<0>(option.value)(sim));
  }
}

void AddSwarmOptions(CLI::App& command, SimCommandOptions& options) {
  AddTableOptions(command, options.sim);
  OfferChoices(command.get_option("--attack"), AttackNames());
  OfferChoices(command.get_option("--cut"), TextsOf(sim::kCuts));
  command.add_option("--attack-param", options.attack_params, "name=value");
  OfferChoices(command.add_option("--mode", options.mode, "majority, balanced, third or checked"),
               ModeNames())
      ->capture_default_str();
  AddSimUpdateOptions(command, options.update);
}

// --- choice of runs, and output ------------------------------------------------------------------

void AddRunOptions(CLI::App* command, SimCommandOptions* options) {
  command->add_flag(
      "--swarm-test", options->swarm_test,
      "draw peers, profile, model, attack, network and faults from each seed, except --steps, and "
      "--exact, --model gpt and --attack where given");
  command->add_option("--threads", options->threads, "seeds at a time (default: cores)");
  auto* seed =
      command->add_option("--seed", options->sim.seed, "seed of one run")->capture_default_str();
  auto* seeds =
      command->add_option("--seeds", options->seeds, "FIRST..LAST: many runs")->excludes(seed);
  command->add_option("--replay", options->replay, "options.replay of a failure: repeat that run")
      ->excludes(seed)
      ->excludes(seeds);
  WritesTo(command->add_option(
      "--report", options->report.file,
      "write a page about one run: removals, loss with and without protection, one step"));
  command->add_option(
      "--report-step", options->report.step,
      "the step that the page draws (default: the first step that removed a member)");
  command->add_flag("--force", options->report.force, "replace the file of --report if it exists");
  command->add_flag("--trace", options->trace, "print every event of the run to stderr");
  command->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
}

}  // namespace

void AddSimCommand(CLI::App& program, Invocation& invocation) {
  auto* command =
      program.add_subcommand("sim", "simulate a swarm under attack in virtual time, from a seed");
  auto options = std::make_shared<SimCommandOptions>();
  AddSwarmOptions(*command, *options);
  AddRunOptions(command, options.get());
  command->footer(
      "Examples: ostraka sim --peers 16 --byzantine 7 --attack alie --seeds 1..20\n"
      "          ostraka sim --byzantine 2 --attack sign_flip --crashes 10 --cut halves\n"
      "          ostraka sim --byzantine 3 --attack cover_up --report cover_up.html\n"
      "          ostraka sim --model gpt --byzantine 3 --attack label_flip --steps 60\n"
      "          ostraka sim --swarm-test --steps 40 --seeds 1..1000 --json > range1.json");
  command->require_subcommand(0, 1);
  AddSimSubcommands(*command, options, invocation);
  AddSimDht(*command, invocation);
  command->callback([options, command, &invocation] {
    if (!command->get_subcommands().empty()) return;
    options->attack_given = command->count("--attack") > 0;
    options->byzantine_given = command->count("--byzantine") > 0;
    options->command = "ostraka sim" + OptionsGiven(*command, {"--seeds"});
    if (options->threads == 0) options->threads = std::max(std::thread::hardware_concurrency(), 1U);
    invocation.body = AsExit([options] { return Simulate(*options); });
  });
}

}  // namespace ostraka::cli
