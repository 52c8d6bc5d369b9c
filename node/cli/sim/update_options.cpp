#include "node/cli/sim/update_options.h"

#include <CLI/CLI.hpp>

#include "node/cli/options/choices.h"
#include "node/cli/options/update_choices.h"

namespace ostraka::cli {

void AddSimUpdateOptions(CLI::App& command, SimUpdateOptions& options) {
  OfferChoices(command.add_option("--optimizer", options.optimizer, "sgd, nesterov or adamw"),
               OptimizerNames())
      ->capture_default_str();
  OfferChoices(command.add_option("--schedule", options.schedule,
                                  "of the learning rate: linear, constant, cosine or wsd"),
               ScheduleNames())
      ->capture_default_str();
  command.add_option("--clip", options.clip,
                     "largest norm of the aggregated gradient, 0: off (default: 0; of adamw 1)");
}

base::Status SetUpdate(const SimUpdateOptions& options, sim::SimOptions& result) {
  using aggregation::Optimizer;
  ASSIGN_OR_RETURN(const Optimizer optimizer, OptimizerOf(options.optimizer));
  ASSIGN_OR_RETURN(result.schedule, ScheduleOf(options.schedule));
  result.optimizer = optimizer;
  result.momentum = optimizer == Optimizer::kNesterov ? 0.9 : 0;
  // The toy's rate for SGD would make steps of AdamW as long as the way to go.
  if (optimizer == Optimizer::kAdamW) result.learning_rate = 0.02;
  result.clip_norm = options.clip.value_or(optimizer == Optimizer::kAdamW ? 1 : 0);
  return base::OkStatus();
}

}  // namespace ostraka::cli
