// Groups of the options of `sim`: the update of the toy training, and times.
//
// Thread safety: none; a command line is declared by one thread.
#pragma once

#include <optional>
#include <string>

#include "node/base/status.h"
#include "sim/setup/options.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

// Times, in seconds.
struct SimSeconds {
  double crash_down = 2;
  double leave_for = 2;
  double cut_at = 5;
  double cut_for = 20;
  double skew = 0;
};

struct SimUpdateOptions {
  std::string optimizer = "sgd";
  std::string schedule = "linear";
  std::optional<double> clip;  // none: 1 for adamw, else 0
};

void AddSimUpdateOptions(CLI::App& command, SimUpdateOptions& options);

// Sets optimizer, schedule, momentum and clipping, and for adamw the learning rate.
// InvalidArgument: unknown names.
base::Status SetUpdate(const SimUpdateOptions& options, sim::SimOptions& result);

}  // namespace ostraka::cli
