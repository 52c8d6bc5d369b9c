#include "node/config/run_work.h"

#include <cstdint>
#include <vector>

#include "node/os/steady_clock.h"

namespace ostraka::config {

base::StatusOr<base::Duration> MeasureLeastWork(const protocol::Manifest& manifest,
                                                train::Trainer& trainer) {
  const std::vector<float> parameters = trainer.InitialParameters({});
  base::Duration gradient{};
  // The first one also sets up memory and kernels.
  for (int i = 0; i < 2; ++i) {
    const base::Time begin = os::SteadyNow();
    RETURN_IF_ERROR(trainer.Gradient(parameters, {}).status());
    gradient = os::SteadyNow() - begin;
    if (gradient > base::Seconds(1)) break;
  }
  const protocol::TrainingPlan& plan = manifest.training;
  return gradient * static_cast<std::int64_t>(plan.inner.steps * plan.batches);
}

}  // namespace ostraka::config
