// A group of the options of `sim`: the model and its update.
//
// Thread safety: none; a command line is declared by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/base/status.h"
#include "sim/setup/options.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct SimUpdateOptions {
  std::string model = "toy";
  std::optional<std::uint64_t> dimension;  // of the toy; none: 1000
  std::string optimizer = "sgd";
  std::string schedule = "linear";
  std::optional<double> clip;  // none: 1 for adamw and lamb, else 0
  std::uint64_t inner_steps = 1;
  std::string part_codec = "raw";
  std::string result_codec = "raw";
};

void AddSimUpdateOptions(CLI::App& command, SimUpdateOptions& options);

// Sets model, optimizer, schedule, momentum and clipping, and the learning rate that suits them.
// InvalidArgument: unknown names, a dimension for another model than the toy, or an optimizer or a
// clipping beside local steps, which have their own.
base::Status SetUpdate(const SimUpdateOptions& options, sim::SimOptions& result);

}  // namespace ostraka::cli
