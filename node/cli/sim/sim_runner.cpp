#include "node/cli/sim/sim_runner.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "node/cli/sim/bundle.h"
#include "node/cli/terminal/exit_code.h"
#include "node/cli/terminal/human.h"
#include "sim/setup/swarm_draw.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kTwiceEvery = 20;

// What can happen to a member; each key counts members by "byzantine" and "honest", and those of
// "stragglers" apart.
constexpr std::array<const char*, 3> kFates = {"banned", "dropped", "returned"};

json JsonOf(const sim::ByTruth& counts) {
  return {{"byzantine", counts.byzantine}, {"honest", counts.honest}};
}

bool RunsTwice(const SimWork& work, std::uint64_t seed) {
  return work.swarm_test && seed % kTwiceEvery == 0;
}

// Idle threads take the next seed; results are stored by seed.
class Pool {
 public:
  Pool(const SimWork& work, const std::function<bool()>& stop,
       const std::function<void(std::uint64_t)>& progress)
      : work_(work),
        asked_to_stop_(stop),
        progress_(progress),
        results_(work.seeds.last - work.seeds.first + 1) {}

  base::StatusOr<Sweep> Run() {
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < std::max(work_.threads, 1U); ++i) {
      threads.emplace_back([this] { Work(); });
    }
    for (std::thread& thread : threads) thread.join();
    RETURN_IF_ERROR(problem_);
    Sweep sweep;
    sim::SeedsTally tally;
    for (std::uint64_t i = 0; i < results_.size(); ++i) {
      const std::uint64_t seed = work_.seeds.first + i;
      if (!results_[i]) {
        if (!sweep.go_on_from) sweep.go_on_from = seed;
      } else if (!sweep.go_on_from) {
        tally.Add(*std::move(results_[i]), RunsTwice(work_, seed));
      } else if (!results_[i]->ok) {
        sweep.failed_ahead.push_back(*std::move(results_[i]));
      }
    }
    sweep.result = std::move(tally).Finish();
    return sweep;
  }

 private:
  void Work() {
    for (;;) {
      const std::uint64_t i = next_++;
      if (i >= results_.size() || stop_ || asked_to_stop_()) return;
      const std::uint64_t seed = work_.seeds.first + i;
      auto one = sim::RunSeed(OptionsFor(work_, seed), RunsTwice(work_, seed), asked_to_stop_);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (asked_to_stop_()) return;  // the run may have been given up
      if (!one.ok()) {
        problem_ = one.status();
        stop_ = true;
        return;
      }
      results_[i] = *std::move(one);
      progress_(++done_);
    }
  }

  const SimWork& work_;
  const std::function<bool()>& asked_to_stop_;
  const std::function<void(std::uint64_t)>& progress_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards the rest
  std::vector<std::optional<sim::SimResult>> results_;
  base::Status problem_;
  std::uint64_t done_ = 0;
};

std::uint64_t Count(const json& result, const char* key) {
  return result.at(key).get<std::uint64_t>();
}

// JSON has no number that is not finite: it is null.
double NumberOf(const json& number) {
  return number.is_null() ? std::nan("") : number.get<double>();
}

void PrintLoss(const json& result) {
  const json& loss = result["loss"];
  const std::string mean = FourDigits(NumberOf(loss["mean"]));
  if (Count(result, "seeds") == 1) {
    std::printf("loss at the end: %s\n", mean.c_str());
  } else {
    std::printf("loss at the end: mean %s, worst %s\n", mean.c_str(),
                FourDigits(NumberOf(loss["worst"])).c_str());
  }
}

void PrintTable(const char* title, const json& counts) {
  if (counts.empty()) return;
  std::printf("%s\n", title);
  for (const auto& [name, count] : counts.items()) {
    std::printf("  %10llu  %s\n", static_cast<unsigned long long>(count.get<std::uint64_t>()),
                name.c_str());
  }
}

// What a result must have before any of it is printed.
constexpr std::array<const char*, 15> kMergedKeys = {
    "ok",          "seeds",           "steps",    "events",   "slow_steps",
    "stood_still", "run_twice",       "banned",   "dropped",  "returned",
    "loss",        "detection_steps", "recovery", "occurred", "failures"};

// Results of older builds have none.
constexpr std::array<const char*, 3> kUnmergedKeys = {"batches", "virtual_seconds",
                                                      "honest_late_ms"};

// By fate. Results of older builds have none, as their runs had none.
json StragglersIn(const json& result) { return result.value("stragglers", json::object()); }

// Adds counts of `from` to `to`, which is an object, or null if nothing was counted yet.
void AddCounts(const json& from, json& to) {
  if (to.is_null()) to = json::object();
  for (const auto& [name, count] : from.items()) {
    to[name] = to.value(name, std::uint64_t{0}) + count.get<std::uint64_t>();
  }
}

// A sweep that was stopped reports failures of seeds beyond its range; the one that goes on from
// there reports them again.
void AddFailure(const json& failure, json& failures) {
  for (const json& known : failures) {
    if (known.at("seed") == failure.at("seed")) return;
  }
  failures.push_back(failure);
}

void PrintDetection(const json& detection) {
  std::printf("steps from the first misdeed to the last ban or drop: mean %.1f",
              detection["mean"].get<double>());
  if (detection.contains("p95")) {
    std::printf(", p95 %llu", static_cast<unsigned long long>(Count(detection, "p95")));
  }
  std::printf("\n");
}

}  // namespace

sim::SimOptions OptionsFor(const SimWork& work, std::uint64_t seed) {
  if (work.swarm_test) return sim::DrawSwarm(seed, work.options, work.only_attack);
  sim::SimOptions options = work.options;
  options.seed = seed;
  return options;
}

base::StatusOr<Sweep> RunOnCores(const SimWork& work, const std::function<bool()>& stop,
                                 const std::function<void(std::uint64_t)>& progress) {
  return Pool(work, stop, progress).Run();
}

base::StatusOr<json> JsonOf(const SimWork& work, const Sweep& sweep) {
  const sim::SeedsResult& result = sweep.result;
  json attacks = json::object();
  for (const auto& [name, runs] : result.attack_runs) {
    const auto answers = result.answers.find(name);
    attacks[name] = {
        {"runs", runs},
        {"misdeeds", result.misdeeds.at(name)},
        {"rules", answers == result.answers.end() ? json::object() : json(answers->second)}};
  }
  json out = {
      {"ok", result.ok && !sweep.go_on_from},
      {"seeds", result.seeds},
      {"ranges", json::array()},
      {"interrupted", nullptr},
      {"steps", result.steps},
      {"slow_steps", result.slow_steps},
      {"stood_still", result.stood_still},
      {"run_twice", result.run_twice},
      {"events", result.events},
      {"batches", result.batches},
      {"virtual_seconds", result.virtual_time.seconds()},
      {"honest_late_ms", result.honest_late_ms},
      {"trace_digest", result.trace_digest.Hex()},
      {"banned", JsonOf(result.banned)},
      {"dropped", JsonOf(result.dropped)},
      {"returned", JsonOf(result.returned)},
      {"stragglers",
       {{"banned", result.banned.stragglers},
        {"dropped", result.dropped.stragglers},
        {"returned", result.returned.stragglers}}},
      {"loss", {{"mean", result.loss_mean}, {"worst", result.loss_worst}}},
      {"detection_steps", {{"mean", result.detection_mean}, {"p95", result.detection_p95}}},
      {"recovery", nullptr},
      {"occurred", {{"faults", result.faults}, {"attacks", attacks}, {"rules", result.rules}}},
      {"failures", json::array()}};
  if (result.slowest_recovery) {
    out["recovery"] = {{"seconds", result.slowest_recovery->took.seconds()},
                       {"bound_seconds", result.slowest_recovery->bound.seconds()}};
  }
  if (result.seeds > 0) {
    out["ranges"].push_back({work.seeds.first, work.seeds.first + result.seeds - 1});
  }
  if (sweep.go_on_from) {
    const json left = {*sweep.go_on_from, work.seeds.last};
    out["interrupted"] = {
        {"left", left},
        {"go_on", work.command + " --seeds " + left[0].dump() + ".." + left[1].dump()}};
  }
  std::vector<sim::SimResult> failures = result.failures;
  failures.insert(failures.end(), sweep.failed_ahead.begin(), sweep.failed_ahead.end());
  for (const sim::SimResult& failed : failures) {
    ASSIGN_OR_RETURN(const sim::SimOptions options, sim::ParseOptions(failed.replay));
    json failure = {{"seed", options.seed},
                    {"checker", failed.failure->checker},
                    {"message", failed.failure->message}};
    failure.update(ReplayOf(options));
    out["failures"].push_back(std::move(failure));
  }
  return out;
}

base::StatusOr<json> MergeResults(const std::vector<json>& results) {
  json all;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const json& one : results) {
    for (const char* key : kMergedKeys) static_cast<void>(one.at(key));
    for (const json& range : one.at("ranges")) ranges.emplace_back(range.at(0), range.at(1));
    if (all.is_null()) {
      all = one;
      all.erase("trace_digest");  // chains seeds in order; undefined for several ranges
      for (const char* key : kUnmergedKeys) all.erase(key);
      all.erase("interrupted");
      all.erase("history");  // of one run
      all["detection_steps"].erase("p95");
      continue;
    }
    const auto before = static_cast<double>(Count(all, "seeds"));
    const auto added = static_cast<double>(Count(one, "seeds"));
    for (const char* key : {"loss", "detection_steps"}) {
      if (added == 0) break;  // a sweep that was stopped at once
      const double mean = NumberOf(all[key]["mean"]);
      all[key]["mean"] =
          mean + (NumberOf(one.at(key).at("mean")) - mean) * added / (before + added);
    }
    // A loss that is no number is the worst.
    const double worst = NumberOf(one.at("loss").at("worst"));
    const double before_worst = NumberOf(all["loss"]["worst"]);
    if (!std::isnan(before_worst) && !(worst <= before_worst)) all["loss"]["worst"] = worst;
    for (const char* key : {"seeds", "steps", "slow_steps", "stood_still", "run_twice", "events"}) {
      all[key] = Count(all, key) + Count(one, key);
    }
    const json& recovery = one.at("recovery");
    if (!recovery.is_null() &&
        (all["recovery"].is_null() ||
         all["recovery"]["seconds"].get<double>() < recovery.at("seconds").get<double>())) {
      all["recovery"] = recovery;
    }
    for (const char* key : kFates) AddCounts(one.at(key), all[key]);
    AddCounts(StragglersIn(one), all["stragglers"]);
    AddCounts(one.at("occurred").at("faults"), all["occurred"]["faults"]);
    AddCounts(one.at("occurred").at("rules"), all["occurred"]["rules"]);
    for (const auto& [name, counts] : one.at("occurred").at("attacks").items()) {
      json& sum = all["occurred"]["attacks"][name];
      AddCounts({{"runs", counts.at("runs")}, {"misdeeds", counts.at("misdeeds")}}, sum);
      AddCounts(counts.at("rules"), sum["rules"]);
    }
    for (const json& failure : one.at("failures")) AddFailure(failure, all["failures"]);
  }
  all["ok"] = all["failures"].empty();
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first > ranges[i - 1].second) continue;
    return base::InvalidArgument("seed " + std::to_string(ranges[i].first) +
                                 " is in two of the results: give each result once");
  }
  all["ranges"] = ranges;
  return all;
}

void PrintSimText(const json& result) {
  const auto count = [&result](const char* key) {
    return static_cast<unsigned long long>(Count(result, key));
  };
  std::printf("%llu seed%s, %llu steps, %llu events; %llu steps took a slow path", count("seeds"),
              count("seeds") == 1 ? "" : "s", count("steps"), count("events"), count("slow_steps"));
  if (count("run_twice") > 0) std::printf("; %llu seeds ran twice", count("run_twice"));
  if (count("stood_still") > 0) {
    std::printf(
        "; %llu stood still, because a cut cost more members than the run can lose or outlasted "
        "the run",
        count("stood_still"));
  }
  for (const char* fate : kFates) {
    std::printf("%s%s: %llu Byzantine, %llu honest", fate == kFates.front() ? "\n" : "; ", fate,
                static_cast<unsigned long long>(Count(result[fate], "byzantine")),
                static_cast<unsigned long long>(Count(result[fate], "honest")));
    // Of machines that are slower than their run waits: apart, as nothing else is promised of them.
    if (const auto slow = StragglersIn(result).value(fate, std::uint64_t{0}); slow > 0) {
      std::printf(", %llu too slow", static_cast<unsigned long long>(slow));
    }
  }
  std::printf("\n");
  if (count("seeds") > 0) PrintLoss(result);
  if (Count(result["banned"], "byzantine") + Count(result["dropped"], "byzantine") > 0) {
    PrintDetection(result["detection_steps"]);
  }
  if (!result["recovery"].is_null()) {
    std::printf(
        "from the last fault to a new block everywhere: at most %.1f s, of %.1f s allowed\n",
        result["recovery"]["seconds"].get<double>(),
        result["recovery"]["bound_seconds"].get<double>());
  }
  if (Count(result, "seeds") > 1) {
    const json& occurred = result["occurred"];
    json misdeeds = json::object();
    for (const auto& [name, counts] : occurred["attacks"].items()) {
      misdeeds[name + " (" + counts["runs"].dump() + " runs)"] = counts["misdeeds"];
    }
    PrintTable("faults that occurred", occurred["faults"]);
    PrintTable("misdeeds", misdeeds);
    PrintTable("bans and drops by rule", occurred["rules"]);
  }
  if (result.contains("trace_digest")) {
    std::printf("trace %s\n", result["trace_digest"].get<std::string>().c_str());
  }
  for (const json& failure : result["failures"]) {
    std::printf("FAIL seed=%s checker=%s: %s\n%s", failure["seed"].dump().c_str(),
                failure["checker"].get<std::string>().c_str(),
                PrintableLine(failure["message"].get<std::string>()).c_str(),
                ReplayText(failure).c_str());
    if (failure["checker"] == "undetected") {
      std::printf("  few members are validated in each step: give more --steps\n");
    }
  }
  if (const json interrupted = result.value("interrupted", json()); !interrupted.is_null()) {
    std::printf("INTERRUPTED: go on with\n  %s\n", interrupted["go_on"].get<std::string>().c_str());
    return;
  }
  std::printf("%s\n", result["ok"].get<bool>() ? "OK" : "FAILED");
}

}  // namespace ostraka::cli
