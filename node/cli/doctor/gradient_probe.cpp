// Computes gradients with one code path, in its own process (node/cli/doctor/calibration.h).
#include <algorithm>
#include <filesystem>

#include "aggregation/optim/optimizer.h"
#include "node/cli/doctor/calibration.h"
#include "node/cli/terminal/float_file.h"
#include "node/protocol/ground/schedule.h"
#include "node/train/trainer_loader.h"

namespace ostraka::cli {
namespace {

// Noise relative to the gradient is largest late in training, when gradients are small.
constexpr std::uint64_t kSteps = 200;
constexpr std::uint64_t kPlaces[] = {0, 1, 10, 50, 100, 150, 199};

base::Digest BatchOf(std::uint64_t step, std::uint64_t worker) {
  base::Digest seed;
  seed.bytes[0] = static_cast<std::uint8_t>(step);
  seed.bytes[1] = static_cast<std::uint8_t>(step >> 8);
  seed.bytes[2] = static_cast<std::uint8_t>(worker);
  return seed;
}

// The parameters at some steps of a run with a single worker.
base::StatusOr<std::vector<std::vector<float>>> Train(const protocol::TrainingPlan& plan,
                                                      train::Trainer& trainer) {
  std::vector<float> parameters = trainer.InitialParameters({});
  aggregation::Descent descent(plan.optimizer, trainer.layout());
  std::vector<std::vector<float>> places;
  const std::uint64_t steps = std::min(kSteps, plan.steps);
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (std::find(std::begin(kPlaces), std::end(kPlaces), step) != std::end(kPlaces)) {
      places.push_back(parameters);
    }
    ASSIGN_OR_RETURN(const std::vector<float> gradient,
                     trainer.Gradient(parameters, BatchOf(step, kProbeWorkers)));
    descent.Step(protocol::OptimizerStepOf(plan, step), gradient, parameters);
  }
  return places;
}

}  // namespace

base::Status ProbeGradients(const protocol::TrainingPlan& plan,
                            const train::TrainerOptions& options, const std::string& places_file,
                            const std::string& out) {
  ASSIGN_OR_RETURN(const auto trainer, train::MakeTrainer(options));
  const std::uint64_t dimension = base::ElementCount(trainer->layout());
  if (!std::filesystem::exists(places_file)) {
    ASSIGN_OR_RETURN(const auto trained, Train(plan, *trainer));
    RETURN_IF_ERROR(WriteFloats(places_file, trained));
  }
  ASSIGN_OR_RETURN(const auto places, ReadFloats(places_file, dimension));
  Gradients gradients;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::uint64_t worker = 0; worker < kProbeWorkers; ++worker) {
      ASSIGN_OR_RETURN(gradients.emplace_back(),
                       trainer->Gradient(places[i], BatchOf(kPlaces[i], worker)));
    }
  }
  return WriteFloats(out, gradients);
}

}  // namespace ostraka::cli
