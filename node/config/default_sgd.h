// The learning rate and the momentum of a run for which nobody chose them.
//
// One rate cannot serve all: the largest step that a linear layer bears falls with the number of
// its inputs, which are 64 for digits and 784 for MNIST. So each pair of model and data has
// settings of its own (docs/benchmarks.md, "Default learning rates").
//
// Thread safety: a pure function.
#pragma once

#include <optional>
#include <string_view>

namespace ostraka::config {

struct SgdSettings {
  double rate = 0;  // at its peak
  double momentum = 0;
  bool operator==(const SgdSettings&) const = default;
};

// The settings for `model` on data of the name `data`. A `rate` that is given is kept, and goes
// with momentum 0 unless a momentum is given too. A momentum that is given alone gets the rate at
// which a gradient moves the model as far in the end, rate / (1 - momentum), as by default; one
// outside [0, 1), which a manifest refuses, gets the default's rate. REQUIRES:
// train::CheckTrainerNames accepts the names.
SgdSettings DefaultSgd(std::string_view model, std::string_view data, std::optional<double> rate,
                       std::optional<double> momentum);

}  // namespace ostraka::config
