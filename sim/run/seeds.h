// Many runs: their totals, and proof by repetition that each is a function of its options.
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

// How many members of each kind; a member counts each time.
struct ByTruth {
  std::uint64_t byzantine = 0;
  std::uint64_t honest = 0;  // but for stragglers (SimWaits)
  std::uint64_t stragglers = 0;
};

struct SeedsResult {
  bool ok = false;
  std::uint64_t seeds = 0;
  std::vector<SimResult> failures;  // those with ok == false, by seed
  std::uint64_t steps = 0;          // sums over the seeds
  std::uint64_t events = 0;
  std::uint64_t batches = 0;         // that columns averaged
  std::uint64_t honest_late_ms = 0;  // the most of any honest member that was not forgiven yet
  base::Duration virtual_time;
  ByTruth banned;
  ByTruth dropped;   // may return
  ByTruth returned;  // after a drop
  std::uint64_t slow_steps = 0;
  std::uint64_t stood_still = 0;  // runs that a cut left without slack, or outlasted
  std::uint64_t run_twice = 0;    // runs repeated and found equal, or listed in failures
  double loss_mean = 0;
  double loss_worst = 0;
  double detection_mean = 0;  // mean of detection_steps over the seeds that have one; 0 if none has
  std::uint64_t detection_p95 = 0;  // nearest rank
  std::optional<RecoveryTime> slowest_recovery;
  base::Digest trace_digest;  // digest over the digests of all seeds, in order

  // How often each thing occurred: faults by name; runs and misdeeds by attack; bans and drops by
  // rule (Removal::reason without its numbers).
  std::map<std::string, std::uint64_t> faults;
  std::map<std::string, std::uint64_t> attack_runs;
  std::map<std::string, std::uint64_t> misdeeds;
  std::map<std::string, std::uint64_t> rules;
  // By attack: the rules that removed its authors.
  std::map<std::string, std::map<std::string, std::uint64_t>> answers;
};

class SeedsTally {
 public:
  // Takes results in the order of their seeds.
  void Add(SimResult one, bool twice = false);
  SeedsResult Finish() &&;

 private:
  SeedsResult all_;
  std::vector<std::uint64_t> detections_;
};

// `text` with N in place of numbers and PEER in place of ids.
std::string WithoutNumbers(const std::string& text);

// The name of the rule that removed a member: "dropped: its REVEAL of step N ...", as
// WithoutNumbers.
std::string RuleOf(const wire::Removal& removal);

// One run. With `twice` a second one runs beside it, compared event by event, and stops at the
// first difference: then checker "determinism" has failed, and its message shows the event of both.
// If `stop` is given and says true, the run ends, and its result means nothing.
base::StatusOr<SimResult> RunSeed(const SimOptions& options, bool twice,
                                  const std::function<bool()>& stop = {});

// Seeds `first` to `last`, both included, of otherwise equal options. `progress`, if given, is
// called after every seed; if it returns false, the runs stop. REQUIRES: first <= last.
base::StatusOr<SeedsResult> RunSeeds(SimOptions options, std::uint64_t first, std::uint64_t last,
                                     const std::function<bool(const SimResult&)>& progress = {});

}  // namespace ostraka::sim
