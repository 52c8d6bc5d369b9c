#include "sim/run/shrink.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "sim/attacks/registry.h"
#include "sim/script/script.h"
#include "sim/script/simplify.h"
#include "sim/setup/models.h"

namespace ostraka::sim {
namespace {

// Candidates for one option: its field set to each of `values` that differs from its own.
class Candidates {
 public:
  explicit Candidates(const SimOptions& options) : options_(options) {}

  template <typename Value>
  void Try(const std::string& what, Value SimOptions::*field, std::initializer_list<Value> values) {
    for (const Value& value : values) {
      if (options_.*field == value) continue;
      SimOptions smaller = options_;
      smaller.*field = value;
      Add(what, std::move(smaller));
    }
  }
  // Towards `least`: all the way, half way, by one.
  template <typename Value>
  void Lower(const std::string& what, Value SimOptions::*field, Value least) {
    const Value now = options_.*field;
    if (now <= least) return;
    Try<Value>(what, field, {least});
    if (now > least + 2) Try<Value>(what, field, {static_cast<Value>(least + (now - least) / 2)});
    if (now > least + 1) Try<Value>(what, field, {static_cast<Value>(now - 1)});
  }
  void Add(const std::string& what, SimOptions smaller) {
    if (CheckOptions(smaller).ok()) found_.push_back({what, std::move(smaller)});
  }
  std::vector<Smaller> Take() && { return std::move(found_); }

 private:
  const SimOptions& options_;
  std::vector<Smaller> found_;
};

void DropFaults(const SimOptions& options, Candidates& candidates) {
  candidates.Lower<std::uint32_t>("fewer liars", &SimOptions::liars, 0);
  candidates.Lower<std::uint32_t>("fewer leave", &SimOptions::leaves, 0);
  candidates.Lower<std::uint32_t>("fewer come", &SimOptions::comes, 0);
  candidates.Lower<std::uint32_t>("a shorter turnover", &SimOptions::turnover, 0);
  candidates.Lower<std::uint32_t>("fewer intruders", &SimOptions::intruders, 0);
  candidates.Lower<std::uint32_t>("fewer forgers", &SimOptions::forgers, 0);
  candidates.Try<std::uint64_t>("no attacker leaves", &SimOptions::attackers_leave, {0});
  candidates.Try<std::string>("no cut", &SimOptions::cut, {"none"});
  candidates.Lower<std::uint32_t>("fewer crashes", &SimOptions::crashes, 0);
  candidates.Lower<std::uint32_t>("fewer blackouts", &SimOptions::blackouts, 0);
  candidates.Try("disks kept", &SimOptions::lose_disk, {false});
  candidates.Try<std::uint32_t>("nothing lost", &SimOptions::loss_permille, {0});
  candidates.Try<std::uint32_t>("nothing twice", &SimOptions::duplicate_permille, {0});
  candidates.Try<std::uint32_t>("no stalls", &SimOptions::stall_permille, {0});
  candidates.Try("equal clocks", &SimOptions::skew, {base::Duration{}});
  candidates.Try<std::uint32_t>("clocks of equal speed", &SimOptions::drift_ppm, {0});
  SimOptions honest = options;
  honest.attack = "none";
  honest.attack_params.clear();
  honest.byzantine = 0;
  honest.liars = 0;
  if (options.byzantine > 0) candidates.Add("nobody cheats", honest);
  const auto attack = FindAttack(options.attack);
  for (const auto& [name, value] : options.attack_params) {
    if (attack.ok() && name == attack->text) continue;  // without it another script would be drawn
    SimOptions plain = options;
    plain.attack_params.erase(name);
    candidates.Add("attack parameter " + name + " at its default", std::move(plain));
  }
}

void MakeSmall(const SimOptions& options, Candidates& candidates) {
  candidates.Lower<std::uint64_t>("fewer steps", &SimOptions::steps, 6);
  candidates.Lower<std::uint32_t>("fewer peers", &SimOptions::peers, 3);
  candidates.Lower<std::uint32_t>("fewer Byzantine", &SimOptions::byzantine, 1);
  candidates.Lower<std::uint32_t>("fewer validators", &SimOptions::validators, 1);
  candidates.Try<std::string>("the toy problem", &SimOptions::model, {std::string(kToyModel)});
  if (options.model == kToyModel) {
    candidates.Lower<std::uint64_t>("smaller model", &SimOptions::dimension, 2 * options.peers);
  }
  candidates.Lower<std::uint64_t>("smaller batches", &SimOptions::batch_size, 1);
  const SimOptions defaults;
  candidates.Try("usual delays", &SimOptions::delay_min, {defaults.delay_min});
  candidates.Try("usual delays", &SimOptions::delay_max, {defaults.delay_max});
  candidates.Try("usual jitter", &SimOptions::jitter, {base::Duration{}});
  candidates.Try("fast disks", &SimOptions::fsync_max, {base::Duration{}});
  candidates.Try("usual bandwidth", &SimOptions::bytes_per_second, {defaults.bytes_per_second});
}

// Leaves out single kills that still happen.
void SpareKills(const SimOptions& options, Candidates& candidates) {
  const std::uint64_t restarts =
      options.crashes + std::uint64_t{options.blackouts} * (options.peers - options.byzantine);
  const std::uint64_t kills = restarts * (options.lose_disk ? 2 : 1);
  for (std::uint64_t k = 0; k < std::min<std::uint64_t>(kills, 64); ++k) {
    if ((options.spared_kills >> k & 1) != 0) continue;
    SimOptions smaller = options;
    smaller.spared_kills |= std::uint64_t{1} << k;
    candidates.Add("without kill " + std::to_string(k), std::move(smaller));
  }
}

// Simplifies the colluders' script word by word.
void SimplifyScript(const SimOptions& options, Candidates& candidates) {
  const auto attack = FindAttack(options.attack);
  const auto given = attack.ok() && !attack->text.empty() ? options.attack_params.find(attack->text)
                                                          : options.attack_params.end();
  if (given == options.attack_params.end()) return;
  const auto script = ParseScript(given->second);
  if (!script.ok()) return;
  for (const auto& [what, simpler] : SimplerScripts(*script)) {
    SimOptions smaller = options;
    smaller.attack_params[attack->text] = FormatScript(simpler);
    candidates.Add(what, std::move(smaller));
  }
}

base::StatusOr<SimResult> MustFail(const SimOptions& options) {
  ASSIGN_OR_RETURN(SimResult result, RunSimulation(options));
  if (!result.ok) return result;
  return base::FailedPrecondition("this run fails no checker: there is nothing to shrink");
}

}  // namespace

std::vector<Smaller> Simplifications(const SimOptions& options) {
  Candidates candidates(options);
  DropFaults(options, candidates);
  SimplifyScript(options, candidates);
  MakeSmall(options, candidates);
  SpareKills(options, candidates);
  return std::move(candidates).Take();
}

base::StatusOr<ShrinkResult> Shrink(const SimOptions& options, std::uint64_t max_runs,
                                    const std::function<void(const std::string&)>& progress) {
  ASSIGN_OR_RETURN(const SimResult first, MustFail(options));
  ShrinkResult result{options, *first.failure, 1, {}};
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Smaller& candidate : Simplifications(result.options)) {
      if (result.runs >= max_runs) return result;
      ++result.runs;
      ASSIGN_OR_RETURN(const SimResult run, RunSimulation(candidate.options));
      if (run.ok || run.failure->checker != result.failure.checker) continue;
      result.options = std::move(candidate.options);
      result.failure = *run.failure;
      result.applied.push_back(candidate.what);
      if (progress) progress(candidate.what);
      smaller = true;
      break;
    }
  }
  return result;
}

}  // namespace ostraka::sim
