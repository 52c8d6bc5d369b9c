// What a simulated run trains: the plan in its manifest, and the trainers that compute its
// gradients, of the model that SimOptions::model names.
//
// Promise: all are a function of the options, on every machine and compiler.
//
// Thread safety: free functions; a trainer as in node/train/trainer.h.
#pragma once

#include <memory>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"
#include "sim/setup/options.h"

namespace ostraka::sim {

// REQUIRES for each: CheckOptions(options) is ok.
base::StatusOr<protocol::TrainingPlan> PlanOf(const SimOptions& options);
base::StatusOr<std::unique_ptr<train::Trainer>> TrainerOf(const SimOptions& options);
// The attackers' own; null unless the attack is on work (sim::IsOnWork).
base::StatusOr<std::unique_ptr<train::Trainer>> AttackersTrainerOf(const SimOptions& options);

}  // namespace ostraka::sim
