#include "node/config/training.h"

#include "node/train/data_source.h"
#include "node/train/trainer_loader.h"

namespace ostraka::config {

base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const protocol::Manifest& manifest,
                                                       const std::string& data,
                                                       train::HeldOut evaluate_on) {
  const protocol::TrainingPlan& plan = manifest.training;
  ASSIGN_OR_RETURN(const train::DataId id, train::ParseDataId(plan.data));
  train::DataSource source{.name = id.name, .dir = {}};
  if (!data.empty()) {
    ASSIGN_OR_RETURN(source, train::ParseDataSource(data));
    if (source.name != id.name) {
      return base::InvalidArgument("--data " + data + ": the run trains on " + id.name);
    }
  }
  return train::TrainerOptions{.model = plan.model,
                               .data = id.name,
                               .data_hash = id.hash,
                               .batch_size = plan.batch_size,
                               .hidden = plan.hidden,
                               .data_seed = plan.data_seed,
                               .data_dir = source.dir,
                               .evaluate_on = evaluate_on};
}

base::Status CheckTraining(const protocol::Manifest& manifest) {
  const auto options = TrainerOptionsOf(manifest, "", train::HeldOut::kTest);
  return options.ok() ? train::CheckTrainerNames(*options) : options.status();
}

base::Status CheckDimension(std::uint64_t dimension, std::size_t members) {
  if (dimension >= 2 * members) return base::OkStatus();
  return base::FailedPrecondition("the model has " + std::to_string(dimension) +
                                  " parameters, and a run of " + std::to_string(members) +
                                  " members needs at least two for each member: use --hidden " +
                                  std::to_string(2 * members) + " or more, or fewer members");
}

}  // namespace ostraka::config
