#include "node/cli/manifest_options.h"

#include <CLI/CLI.hpp>

#include "node/train/trainer_loader.h"

namespace ostraka::cli {

void AddManifestOptions(CLI::App& command, ManifestOptions& options) {
  auto& m = options.manifest;
  auto& t = m.training;
  command.add_option("--name", m.name, "a name for people");
  command.add_option("--mode", options.mode, "majority, balanced or third")->capture_default_str();
  command.add_option("--model", t.model, "softmax, mlp or toy")->capture_default_str();
  command.add_option("--data", t.data, "digits (embedded), or toy with model toy")
      ->capture_default_str();
  command.add_option("--hidden", t.hidden, "mlp: hidden units; toy: dimension")
      ->capture_default_str();
  command.add_option("--batch-size", t.batch_size, "rows of each worker's batch")
      ->capture_default_str();
  command.add_option("--steps", t.steps, "steps, at least")->capture_default_str();
  command.add_option("--learning-rate", t.learning_rate, "at its peak")->capture_default_str();
  command.add_option("--momentum", t.momentum, "of SGD")->capture_default_str();
  command.add_option("--validators", m.validators, "members that recompute instead of training")
      ->capture_default_str();
}

base::StatusOr<protocol::Manifest> MakeManifest(const ManifestOptions& options) {
  protocol::Manifest manifest = options.manifest;
  ASSIGN_OR_RETURN(manifest.mode, protocol::ParseMode(options.mode));
  if (manifest.training.model == "toy") manifest.training.data = "toy";
  RETURN_IF_ERROR(CheckTraining(manifest));
  return manifest;
}

train::TrainerOptions TrainerOptionsOf(const protocol::Manifest& manifest) {
  const protocol::TrainingPlan& plan = manifest.training;
  return {.model = plan.model,
          .data = plan.data,
          .batch_size = plan.batch_size,
          .hidden = plan.hidden,
          .data_seed = plan.data_seed};
}

base::Status CheckTraining(const protocol::Manifest& manifest) {
  return train::CheckTrainerNames(TrainerOptionsOf(manifest));
}

base::Status CheckDimension(std::uint64_t dimension, std::size_t members) {
  if (dimension >= 2 * members) return base::OkStatus();
  return base::FailedPrecondition("the model has " + std::to_string(dimension) +
                                  " parameters, and a run of " + std::to_string(members) +
                                  " members needs at least two a member: use --hidden " +
                                  std::to_string(2 * members) + " or more, or fewer members");
}

}  // namespace ostraka::cli
