#include "node/cli/options/state_options.h"

#include <CLI/CLI.hpp>

#include "node/cli/options/choices.h"

namespace ostraka::cli {
namespace {

constexpr train::HeldOut kParts[] = {train::HeldOut::kTest, train::HeldOut::kValidation};

std::vector<std::string> PartNames() {
  std::vector<std::string> names;
  for (const train::HeldOut part : kParts) names.emplace_back(train::HeldOutName(part));
  return names;
}

}  // namespace

void AddStateOptions(CLI::App& command, StateOptions& options) {
  OfferChoices(command.add_option("--evaluate-on", options.evaluate_on,
                                  "test, or validation for the choice of hyperparameters"),
               PartNames())
      ->capture_default_str();
  command
      .add_option("--checkpoint-every", options.checkpoint_every,
                  "steps between checkpoints in the data folder; 0: only the last state")
      ->capture_default_str();
  command
      .add_option("--keep-checkpoints", options.keep_checkpoints,
                  "number of checkpoints to keep, at least 1")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

void AppendStateArguments(const StateOptions& options, std::vector<std::string>& arguments) {
  arguments.insert(arguments.end(), {"--evaluate-on", options.evaluate_on, "--checkpoint-every",
                                     std::to_string(options.checkpoint_every), "--keep-checkpoints",
                                     std::to_string(options.keep_checkpoints)});
}

base::StatusOr<train::HeldOut> HeldOutOf(const StateOptions& options) {
  for (const train::HeldOut part : kParts) {
    if (options.evaluate_on == train::HeldOutName(part)) return part;
  }
  return base::InvalidArgument("--evaluate-on '" + options.evaluate_on +
                               "' is not known: use test or validation");
}

}  // namespace ostraka::cli
