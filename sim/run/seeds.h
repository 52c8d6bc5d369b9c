// Many runs: what they came to together, and that each is a function of its options.
//
// Thread safety: RunSeed shares nothing and may run on different threads; SeedsTally has one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/cluster.h"

namespace ostraka::sim {

struct SeedsResult {
  bool ok = false;
  std::uint64_t seeds = 0;
  std::vector<SimResult> failures;  // those with ok == false, by seed
  std::uint64_t steps = 0;          // sums over the seeds
  std::uint64_t events = 0;
  std::uint64_t byzantine_removed = 0;
  std::uint64_t honest_removed = 0;
  std::uint64_t returns = 0;
  std::uint64_t slow_steps = 0;
  std::uint64_t stood_still = 0;  // runs that a cut had left without slack
  std::uint64_t run_twice = 0;    // and found equal, or they are among the failures
  double loss_mean = 0;
  double loss_worst = 0;
  double detection_mean = 0;  // of detection_steps, over the seeds that have one; 0 if none has
  std::uint64_t detection_p95 = 0;  // nearest rank
  std::optional<RecoveryTime> slowest_recovery;
  base::Digest trace_digest;  // chains the digests of all seeds, in order

  // How often each thing really occurred: faults by name; by attack, runs with it and misdeeds; by
  // rule, removals (Removal::reason without its numbers).
  std::map<std::string, std::uint64_t> faults;
  std::map<std::string, std::uint64_t> attack_runs;
  std::map<std::string, std::uint64_t> misdeeds;
  std::map<std::string, std::uint64_t> rules;
  // By attack: which of these rules removed those who made it.
  std::map<std::string, std::map<std::string, std::uint64_t>> answers;
};

class SeedsTally {
 public:
  // Results in the order of their seeds.
  void Add(SimResult one, bool twice = false);
  SeedsResult Finish() &&;

 private:
  SeedsResult all_;
  std::vector<std::uint64_t> detections_;
};

// `text` with N for numbers and PEER for ids.
std::string WithoutNumbers(const std::string& text);

// "dropped: its REVEAL of step 17 ..." with N for numbers and PEER for ids: one name a rule.
std::string RuleOf(const wire::Removal& removal);

// One run; with `twice` a second one beside it, event by event, which stops at the first that
// differs: then checker "determinism" has failed and its message shows the event of both.
base::StatusOr<SimResult> RunSeed(const SimOptions& options, bool twice);

// Seeds `first`..`last`, both included, of otherwise equal options. `progress`, if given, is called
// after every seed; returning false stops early. REQUIRES: first <= last.
base::StatusOr<SeedsResult> RunSeeds(SimOptions options, std::uint64_t first, std::uint64_t last,
                                     const std::function<bool(const SimResult&)>& progress = {});

}  // namespace ostraka::sim
