// A whole simulated run: manifest, keys, trainer, honest machines, adversaries and checkers from
// SimOptions, run to the end. `ostraka sim` is made of this.
//
// Promises:
//   R1  The result, `trace_digest` included, is a function of the options alone, on every machine
//       and compiler.
//   R2  An observer does not change the run, except that it may end it.
//
// Thread safety: RunSimulation shares nothing; calls may run on different threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"
#include "node/wire/block.h"
#include "sim/check/yardstick.h"
#include "sim/engine/checker.h"
#include "sim/engine/simulator.h"
#include "sim/setup/options.h"

namespace ostraka::sim {

// The time from the end of the last fault until every honest peer had a block that nobody had
// before, and the bound that docs/simulation.md states.
struct RecoveryTime {
  base::Duration took;
  base::Duration bound;
};

struct SimResult {
  bool ok = false;                 // no checker failed
  std::optional<Failure> failure;  // of the first checker that failed
  std::string replay;              // FormatOptions, the content of a replay file

  std::string attack;  // its name, or "none"
  struct Peers {
    std::vector<base::PeerId> byzantine;   // by key
    std::vector<base::PeerId> stragglers;  // honest (SimWaits)
  };
  Peers peers;
  std::vector<wire::Removal> removals;  // in the order of the blocks
  std::uint32_t byzantine_removed = 0;
  std::uint32_t honest_removed = 0;
  // Steps from the first misdeed to the block that removed the last attacker; nullopt if there was
  // none or one was not removed.
  std::optional<std::uint64_t> detection_steps;

  // What the checks did: columns in the chain by fate (wire::ColumnFateName), and honest peers'
  // suspicions of Byzantine peers by check (protocol::Suspicion::check).
  std::map<std::string, std::uint64_t> columns;
  std::map<std::string, std::uint64_t> suspicions;

  std::uint64_t batches = 0;         // Chronicle::batches
  std::uint64_t honest_late_ms = 0;  // Chronicle::honest_late_ms

  std::vector<base::PeerId> returned;  // members that a block admitted again, in that order
  std::uint64_t lies = 0;  // misdeeds of peers that only lie in their ECHOs (SimOptions::liars)
  bool stood_still =
      false;  // for want of slack (sim/check/slack.h), or of anybody left (sim/check/recovery.h)
  std::uint64_t slow_iterations = 0;  // of slow paths, summed over honest peers
  std::uint64_t slow_steps = 0;       // steps in which an honest peer took a slow path
  FaultCounts faults;                 // faults that happened
  std::uint64_t misdeeds = 0;         // misdeeds that adversaries confessed

  std::optional<RecoveryTime> recovery;  // nullopt: no fault, or the run ended before

  std::uint64_t steps = 0;   // height that all honest peers reached, without genesis
  std::uint64_t events = 0;  // inputs to machines
  std::uint64_t bytes_sent = 0;
  base::Duration virtual_time;
  double loss = 0;  // on held-out data, with the honest peers' final parameters
  base::Digest trace_digest;
};

// Called with one line for each step of a machine, for debugging and for comparing two traces.
using TraceSink = std::function<void(const std::string&)>;

// InvalidArgument or FailedPrecondition as CheckOptions. A failed checker is a result and no error.
// `observer`, if given, also sees every step and may end the run (StepObserver::WantsStop).
base::StatusOr<SimResult> RunSimulation(const SimOptions& options, const TraceSink& trace = {},
                                        StepObserver* observer = nullptr);

// The participants of such a run, by index.
base::StatusOr<Roster> RosterOf(const SimOptions& options);

// Training of another model than the options name.
struct Training {
  train::Trainer* trainer = nullptr;  // outlives the run
  // The attackers' own, for attacks that sim::IsOnWork names; null for others. Outlives the run.
  train::Trainer* attackers = nullptr;
  protocol::TrainingPlan plan;
  std::vector<float> initial;  // parameters; empty: drawn by the run's id
  // How the loss at the end is judged; nullopt: it is neither evaluated nor judged.
  std::optional<LossMeasure> measure;
  // Called for each block when the first honest peer accepts it, with the parameters after it; may
  // be empty.
  std::function<void(const wire::Block&, const std::vector<float>&)> on_block;
};

// RunSimulation with `training`. The plan takes steps, dimension, batch_size and learning_rate from
// the options. `replay` does not describe the training, and `loss` stays 0: `on_block` gets the
// parameters.
base::StatusOr<SimResult> RunTraining(const SimOptions& options, const Training& training);

}  // namespace ostraka::sim
