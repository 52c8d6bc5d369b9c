#include "node/cli/options/manifest_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "node/config/default_sgd.h"
#include "node/train/data_source.h"
#include "node/train/trainer_loader.h"

namespace ostraka::cli {
namespace {

base::Status SetDeadlines(const ManifestOptions& options, protocol::Manifest& manifest) {
  constexpr std::uint64_t kDayMs = 86'400'000;
  if (std::max({options.part_timeout_ms, options.delta_ms, options.patience_ms}) > kDayMs) {
    return base::InvalidArgument(
        "--part-timeout-ms, --delta-ms and --patience-ms must be at most a day, " +
        std::to_string(kDayMs));
  }
  manifest.delta = base::Milliseconds(static_cast<std::int64_t>(options.delta_ms));
  manifest.part_timeout = base::Milliseconds(static_cast<std::int64_t>(options.part_timeout_ms));
  manifest.patience = base::Milliseconds(static_cast<std::int64_t>(options.patience_ms));
  // Validate refuses a manifest in which a seal ends before its parts can arrive.
  manifest.seal_timeout = std::max(manifest.seal_timeout, manifest.part_timeout * 3);
  return base::OkStatus();
}

}  // namespace

void AddManifestOptions(CLI::App& command, ManifestOptions& options) {
  auto& m = options.manifest;
  auto& t = m.training;
  command.add_option("--name", m.name, "name of the run, for people");
  command.add_option("--mode", options.mode, "majority, balanced or third")->capture_default_str();
  command.add_option("--model", t.model, "softmax, mlp, cnn or toy")->capture_default_str();
  command
      .add_option("--data", t.data,
                  "digits (embedded), mnist:DIR (IDX files), cifar10:DIR (binary batches), "
                  "text:FILE (any file), or toy "
                  "with model toy")
      ->capture_default_str();
  command.add_option("--hidden", t.hidden, "mlp, cnn: hidden units; toy: dimension")
      ->capture_default_str();
  command.add_option("--batch-size", t.batch_size, "rows of each worker's batch")
      ->capture_default_str();
  command.add_option("--steps", t.steps, "least number of steps")->capture_default_str();
  command.add_option("--learning-rate", options.learning_rate,
                     "learning rate at its peak (default: by model and data, docs/training.md)");
  command.add_option("--momentum", options.momentum,
                     "of SGD (default: by model and data; 0 with --learning-rate)");
  command.add_option("--validators", m.validators, "members that recompute instead of training")
      ->capture_default_str();
  command
      .add_option("--part-timeout-ms", options.part_timeout_ms,
                  "how long an aggregator waits for parts")
      ->capture_default_str();
  command
      .add_option("--delta-ms", options.delta_ms,
                  "four times the longest delay of a message: 1000 for the Internet, 250 at home")
      ->capture_default_str();
  command
      .add_option(
          "--patience-ms", options.patience_ms,
          "a member that finishes a step's work within this time is never late (docs/operating.md)")
      ->capture_default_str();
}

base::StatusOr<protocol::Manifest> MakeManifest(const ManifestOptions& options) {
  protocol::Manifest manifest = options.manifest;
  ASSIGN_OR_RETURN(manifest.mode, protocol::ParseMode(options.mode));
  RETURN_IF_ERROR(SetDeadlines(options, manifest));
  protocol::TrainingPlan& plan = manifest.training;
  // The default data are meant for the other models.
  if (plan.model == "toy" && plan.data == "digits") plan.data = "toy";
  ASSIGN_OR_RETURN(const train::DataSource source, train::ParseDataSource(plan.data));
  train::DataId id{.name = source.name, .hash = {}};
  // Check names first: that is faster than reading files.
  RETURN_IF_ERROR(train::CheckTrainerNames({.model = plan.model, .data = id.name}));
  const config::SgdSettings sgd =
      config::DefaultSgd(plan.model, id.name, options.learning_rate, options.momentum);
  plan.learning_rate = sgd.rate;
  plan.momentum = sgd.momentum;
  if (id.name != "toy") {
    ASSIGN_OR_RETURN(const train::Dataset data, train::LoadDataset(source));
    id.hash = train::HashOf(data);
  }
  plan.data = train::TextOf(id);
  return manifest;
}

}  // namespace ostraka::cli
