// ostraka sim: whole runs in virtual time, from a seed.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/cli/attack_options.h"
#include "node/cli/commands.h"
#include "node/cli/node_json.h"
#include "sim/cluster.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxReplayBytes = 64 * 1024;

struct SimCommandOptions {
  sim::SimOptions sim;
  std::string mode = "majority";
  std::vector<std::string> attack_params;
  std::string seeds;      // A..B
  std::string replay;     // file
  double crash_down = 2;  // seconds
  double cut_at = 5;
  double cut_for = 20;
  bool json = false;
  bool trace = false;
};

struct SeedRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
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
  if (file.bad()) return base::Unavailable("cannot read replay file " + path + ": is it a file?");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.size() > kMaxReplayBytes) {
    return base::InvalidArgument(path + " is " + (text.empty() ? "empty" : "larger than 64 KiB") +
                                 ": give the file that a failed simulation left");
  }
  auto options = sim::ParseOptions(text);
  if (options.ok()) return options;
  return base::InvalidArgument(path + ": " + base::MessageOf(options.status()));
}

base::StatusOr<base::Duration> SecondsOf(const std::string& flag, double seconds) {
  constexpr double kMost = 86'400;  // a day of virtual time
  if (seconds >= 0 && seconds <= kMost) {
    return base::Duration{static_cast<std::int64_t>(seconds * 1e9)};
  }
  return base::InvalidArgument(flag + " must be 0..86400 seconds");
}

base::StatusOr<sim::SimOptions> OptionsOf(const SimCommandOptions& options) {
  if (!options.replay.empty()) return ReadReplay(options.replay);
  sim::SimOptions result = options.sim;
  ASSIGN_OR_RETURN(result.mode, protocol::ParseMode(options.mode));
  ASSIGN_OR_RETURN(result.attack_params, ParseAttackParams(options.attack_params));
  ASSIGN_OR_RETURN(result.crash_down, SecondsOf("--crash-down", options.crash_down));
  ASSIGN_OR_RETURN(result.cut_at, SecondsOf("--cut-at", options.cut_at));
  ASSIGN_OR_RETURN(result.cut_for, SecondsOf("--cut-for", options.cut_for));
  return result;
}

// Writes what replays a failure, and returns the command.
base::StatusOr<std::string> SaveReplay(const sim::SimResult& failed, std::uint64_t seed) {
  const std::string path = "ostraka-sim-seed-" + std::to_string(seed) + ".replay";
  std::ofstream file(path);
  file << failed.replay << "\n";
  file.close();
  if (!file) return base::Unavailable("cannot write '" + path + "' in this folder");
  return "ostraka sim --replay " + path;
}

base::Status AddFailures(const sim::SeedsResult& result, json& out) {
  out["failures"] = json::array();
  for (const sim::SimResult& failed : result.failures) {
    ASSIGN_OR_RETURN(const sim::SimOptions options, sim::ParseOptions(failed.replay));
    ASSIGN_OR_RETURN(const std::string replay, SaveReplay(failed, options.seed));
    out["failures"].push_back({{"seed", options.seed},
                               {"checker", failed.failure->checker},
                               {"message", failed.failure->message},
                               {"replay", replay}});
  }
  return base::OkStatus();
}

base::StatusOr<json> JsonOfResult(const sim::SeedsResult& result) {
  json out = {
      {"ok", result.ok},
      {"seeds", result.seeds},
      {"steps", result.steps},
      {"events", result.events},
      {"trace_digest", result.trace_digest.Hex()},
      {"removed", {{"byzantine", result.byzantine_removed}, {"honest", result.honest_removed}}},
      {"returns", result.returns},
      {"loss", {{"mean", result.loss_mean}, {"worst", result.loss_worst}}},
      {"detection_steps", {{"mean", result.detection_mean}, {"p95", result.detection_p95}}},
      {"recovery", nullptr}};
  if (result.slowest_recovery) {
    out["recovery"] = {{"seconds", result.slowest_recovery->took.seconds()},
                       {"bound_seconds", result.slowest_recovery->bound.seconds()}};
  }
  RETURN_IF_ERROR(AddFailures(result, out));
  return out;
}

void PrintText(const json& result, double seconds) {
  const auto count = [&result](const char* key) {
    return static_cast<unsigned long long>(result[key].get<std::uint64_t>());
  };
  std::printf("%llu seed%s, %llu steps, %llu events in %.1f s (%.0f events/s)\n", count("seeds"),
              count("seeds") == 1 ? "" : "s", count("steps"), count("events"), seconds,
              static_cast<double>(count("events")) / std::max(seconds, 1e-9));
  std::printf("removed: %llu Byzantine, %llu honest\n",
              static_cast<unsigned long long>(result["removed"]["byzantine"].get<std::uint64_t>()),
              static_cast<unsigned long long>(result["removed"]["honest"].get<std::uint64_t>()));
  std::printf(
      "steps from the first misdeed to the last removal: mean %.1f, p95 %llu\n",
      result["detection_steps"]["mean"].get<double>(),
      static_cast<unsigned long long>(result["detection_steps"]["p95"].get<std::uint64_t>()));
  if (!result["recovery"].is_null()) {
    std::printf(
        "from the last fault to a new block everywhere: at most %.1f s, of %.1f s allowed\n",
        result["recovery"]["seconds"].get<double>(),
        result["recovery"]["bound_seconds"].get<double>());
  }
  std::printf("trace %s\n", result["trace_digest"].get<std::string>().c_str());
  for (const json& failure : result["failures"]) {
    std::printf("FAIL seed=%s checker=%s: %s\n  replay: %s\n", failure["seed"].dump().c_str(),
                failure["checker"].get<std::string>().c_str(),
                failure["message"].get<std::string>().c_str(),
                failure["replay"].get<std::string>().c_str());
  }
  std::printf("%s\n", result["ok"].get<bool>() ? "OK" : "FAILED");
}

base::StatusOr<bool> Simulate(const SimCommandOptions& options) {
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
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::uint64_t done = 0;
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const sim::SeedsResult result,
                   sim::RunSeeds(sim_options, range.first, range.last, [&](const auto&) {
                     ++done;
                     if (terminal) {
                       std::fprintf(stderr, "\r\x1b[K%llu of %llu seeds",
                                    static_cast<unsigned long long>(done),
                                    static_cast<unsigned long long>(range.last - range.first + 1));
                     }
                     return true;
                   }));
  if (terminal) std::fprintf(stderr, "\r\x1b[K");
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  ASSIGN_OR_RETURN(json out, JsonOfResult(result));
  if (options.json) {
    PrintJson(out);
  } else {
    PrintText(out, wall.count());
  }
  return result.ok;
}

}  // namespace

void AddSimCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("sim", "attack a swarm in virtual time, from a seed");
  auto options = std::make_shared<SimCommandOptions>();
  sim::SimOptions& sim = options->sim;
  command->add_option("--peers", sim.peers, "machines")->capture_default_str();
  command->add_option("--byzantine", sim.byzantine, "of them adversaries")->capture_default_str();
  command->add_option("--attack", sim.attack, "what they do; a wrong name lists the known ones")
      ->capture_default_str();
  command->add_option("--attack-param", options->attack_params, "name=value");
  command->add_option("--attack-from", sim.attack_from_step, "honest before this step")
      ->capture_default_str();
  command->add_option("--mode", options->mode, "majority, balanced or third")
      ->capture_default_str();
  command->add_option("--steps", sim.steps, "steps, at least")->capture_default_str();
  command->add_option("--validators", sim.validators, "per step")->capture_default_str();
  command->add_option("--dimension", sim.dimension, "of the toy problem")->capture_default_str();
  command->add_flag("--unprotected", sim.unprotected, "plain averaging, nothing checked");
  command->add_option("--crashes", sim.crashes, "kills of honest peers, spread over the run")
      ->capture_default_str();
  command->add_option("--blackouts", sim.blackouts, "kills of all honest peers at once")
      ->capture_default_str();
  command
      ->add_option("--crash-down", options->crash_down, "seconds until they start again, at most")
      ->capture_default_str();
  command->add_flag("--lose-disk", sim.lose_disk, "they start again from nothing");
  command->add_option("--cut", sim.cut, "the network: none, halves, one_way or flapping")
      ->capture_default_str();
  command->add_option("--cut-at", options->cut_at, "seconds")->capture_default_str();
  command->add_option("--cut-for", options->cut_for, "seconds")->capture_default_str();
  auto* seed = command->add_option("--seed", sim.seed, "one run")->capture_default_str();
  auto* seeds =
      command->add_option("--seeds", options->seeds, "FIRST..LAST: many runs")->excludes(seed);
  command->add_option("--replay", options->replay, "a file that a failure left")
      ->excludes(seed)
      ->excludes(seeds);
  command->add_flag("--trace", options->trace, "print every event of the run to stderr");
  command->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  command->footer(
      "Examples: ostraka sim --peers 16 --byzantine 7 --attack alie --seeds 1..20\n"
      "          ostraka sim --byzantine 2 --attack sign_flip --crashes 10 --cut halves");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const auto ok = Simulate(*options);
      if (!ok.ok()) return Fail(ok.status());
      return *ok ? kDone : kNegative;
    };
  });
}

}  // namespace ostraka::cli
