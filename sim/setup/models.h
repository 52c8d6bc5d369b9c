// The models of simulated runs by name (SimOptions::model), and what goes with each.
//
// toy: least squares of any dimension (node/train/toy_trainer.h). gpt: one layer of a GPT over
// text, in the exact trainer that nodes have (sim/trainers/tiny_gpt.h).
//
// Thread safety: constants and pure functions.
#pragma once

#include <string_view>

#include "sim/setup/options.h"

namespace ostraka::sim {

inline constexpr std::string_view kToyModel = "toy";
inline constexpr std::string_view kGptModel = "gpt";
inline constexpr std::string_view kModels[] = {kToyModel, kGptModel};

// Makes `options` those of a run of the tiny gpt: its profile, the size of its batches, and the
// learning rate with which the options' optimizer trains it.
void UseTinyGpt(SimOptions& options);

// Makes `options` those of a run with `steps` local steps of its model: profile exact/1, nesterov
// and the rates that train it. REQUIRES: steps > 1; the model is set.
void UseLocalSteps(std::uint64_t steps, SimOptions& options);

// InvalidArgument unless the model exists and fits the other options.
base::Status CheckModel(const SimOptions& options);

}  // namespace ostraka::sim
