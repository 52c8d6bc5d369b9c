// A whole simulated run: manifest, keys, toy trainer, honest machines, adversaries and checkers
// from SimOptions, run to the end. This is the API of `ostraka sim`.
//
// Promise: the result, `trace_digest` included, is a function of the options alone, on every
// machine and compiler.
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
#include "sim/engine/checker.h"
#include "sim/engine/simulator.h"
#include "sim/setup/options.h"

namespace ostraka::sim {

// From the end of the last fault until every honest peer had a block that nobody had before, and
// what docs/simulation.md says that it takes at most.
struct RecoveryTime {
  base::Duration took;
  base::Duration bound;
};

struct SimResult {
  bool ok = false;                 // no checker failed
  std::optional<Failure> failure;  // of the first checker that did
  std::string replay;              // FormatOptions: what --replay reads

  std::string attack;                   // by name; "none"
  std::vector<base::PeerId> byzantine;  // by key
  std::vector<wire::Removal> removals;  // as sealed, in order
  std::uint32_t byzantine_removed = 0;
  std::uint32_t honest_removed = 0;
  // Steps from the first misdeed to the block that removed the last of those who misbehaved;
  // nullopt if none did or one was not removed.
  std::optional<std::uint64_t> detection_steps;

  // What the checks did: columns by fate (wire::ColumnFateName) in the chain, and honest peers'
  // suspicions of Byzantine ones by check (protocol::Suspicion::check).
  std::map<std::string, std::uint64_t> columns;
  std::map<std::string, std::uint64_t> suspicions;

  std::uint64_t returns = 0;  // members that a block admitted again
  std::uint64_t lies = 0;     // of those who only lie in their ECHOs (SimOptions::liars)
  bool stood_still =
      false;  // for want of slack (sim/check/slack.h): the steps are fewer than asked for
  std::uint64_t slow_iterations = 0;  // of SEAL's slow path, at honest peers
  std::uint64_t slow_steps = 0;       // in which an honest peer took it
  FaultCounts faults;                 // that really happened
  std::uint64_t misdeeds = 0;         // that adversaries confessed

  std::optional<RecoveryTime> recovery;  // nullopt: no fault, or the run ended before

  std::uint64_t steps = 0;   // height that all honest peers reached, genesis not counted
  std::uint64_t events = 0;  // inputs that machines took
  std::uint64_t bytes_sent = 0;
  base::Duration virtual_time;
  double loss = 0;  // on held-out data, of the honest peers' parameters at the end
  base::Digest trace_digest;
};

// Called with one line per step of a machine; for debugging and for comparing two traces.
using TraceSink = std::function<void(const std::string&)>;

// InvalidArgument or FailedPrecondition as CheckOptions says. A run that a checker fails is a
// result, not a status.
// `observer`, if given, sees every step too, and may end the run (StepObserver::WantsStop).
base::StatusOr<SimResult> RunSimulation(const SimOptions& options, const TraceSink& trace = {},
                                        StepObserver* observer = nullptr);

// What its members train: the toy problem that the options describe.
base::StatusOr<std::unique_ptr<train::Trainer>> ToyTrainerOf(const SimOptions& options);

// Who takes part in that run, by index.
base::StatusOr<Roster> RosterOf(const SimOptions& options);

// What members train instead of the toy problem.
struct Training {
  train::Trainer* trainer = nullptr;  // outlives the run
  // Over flipped labels, for attacks that sim::FlipsLabels names; null for others. Outlives the
  // run.
  train::Trainer* flipped = nullptr;
  protocol::TrainingPlan plan;
  std::vector<float> initial;  // parameters
  // Sees each block that an honest peer was the first to accept, and the parameters after it; may
  // be empty.
  std::function<void(const wire::Block&, const std::vector<float>&)> on_block;
};

// RunSimulation of `training`: the options' steps, dimension, batch_size and learning_rate are the
// plan's. `replay` does not say what was trained, and `loss` stays 0: `on_block` has the
// parameters.
base::StatusOr<SimResult> RunTraining(const SimOptions& options, const Training& training);

}  // namespace ostraka::sim
