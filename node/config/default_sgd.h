// The update of a run, as far as nobody chose it: optimizer, learning rate, schedule.
//
// One rate cannot serve all: the largest step that a linear layer bears falls with the number of
// its inputs, which are 64 for digits and 784 for MNIST. So each pair of model and data has
// settings of its own (docs/measurements/learning-rates.md).
//
// Thread safety: a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::config {

struct SgdSettings {
  double rate = 0;  // at its peak
  double momentum = 0;
  double clip_norm = 0;  // 0: off
  bool operator==(const SgdSettings&) const = default;
};

// The settings for `model` on data of the name `data`. A `rate` that is given is kept, and goes
// with momentum 0 unless a momentum is given too, and without clipping. A momentum that is given
// alone gets the rate at which a gradient moves the model as far in the end, rate / (1 - momentum),
// as by default; one outside [0, 1), which a manifest refuses, gets the default's rate. REQUIRES:
// train::CheckTrainerNames accepts the names.
SgdSettings DefaultSgd(std::string_view model, std::string_view data, std::optional<double> rate,
                       std::optional<double> momentum);

// The settings that the planner of a run asked for; the others have defaults.
struct UpdateWishes {
  std::optional<aggregation::Optimizer> optimizer = {};
  std::optional<protocol::Schedule> schedule = {};
  std::optional<double> rate = {};
  std::optional<double> momentum = {};
  std::optional<double> clip_norm = {};
  std::optional<std::uint64_t> warmup_steps = {};
  std::optional<std::uint64_t> decay_steps = {};
  std::optional<std::uint64_t> inner_steps = {};
  std::optional<double> inner_rate = {};
};

// Sets the update of `plan`, whose steps are set. sgd takes its settings from DefaultSgd, and
// so does nesterov, with momentum 0.9 if that would be 0. adamw: rate 0.003, gradients clipped at
// norm 1. wsd decays over the last fifth of the steps that train. With local steps: nesterov of
// rate and momentum 0.8, sgd of rate 1 if asked for, schedule cosine, a warm-up over a sixth of the
// steps that train (docs/training.md). What contradicts itself is left for protocol::Validate to
// refuse. REQUIRES: as DefaultSgd.
void SetUpdate(const UpdateWishes& wishes, std::string_view model, std::string_view data,
               protocol::TrainingPlan& plan);

}  // namespace ostraka::config
