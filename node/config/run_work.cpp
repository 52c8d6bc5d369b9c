#include "node/config/run_work.h"

#include <cstdint>
#include <string>
#include <vector>

#include "node/os/steady_clock.h"
#include "node/train/stream/stream_index.h"

namespace ostraka::config {
namespace {

std::string Told(base::Duration duration) {
  const std::int64_t tenths = duration.ns / 100'000'000;
  if (tenths < 10) return std::to_string(duration.ns / 1'000'000) + " ms";
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

base::StatusOr<base::Duration> TimeOfOne(train::Trainer& trainer,
                                         const std::vector<float>& parameters, bool fetches) {
  base::Duration gradient{};
  // The first one also sets up memory and kernels, or waits for its rows.
  for (int i = 0; i < 2; ++i) {
    const base::Time begin = os::SteadyNow();
    RETURN_IF_ERROR(trainer.Gradient(parameters, {}).status());
    gradient = os::SteadyNow() - begin;
    if (gradient > base::Seconds(1) && !fetches) break;
  }
  return gradient;
}

}  // namespace

base::StatusOr<base::Duration> MeasureLeastWork(const protocol::Manifest& manifest,
                                                train::Trainer& trainer, base::Duration patience) {
  const std::vector<float> parameters = trainer.InitialParameters({});
  const bool fetches = manifest.training.data.starts_with(std::string(train::kStream) + "@");
  const base::Time latest = os::SteadyNow() + patience;
  trainer.EndWhere(
      [latest, &trainer] { return trainer.WaitsForRows() && os::SteadyNow() >= latest; });
  const base::StatusOr<base::Duration> gradient = TimeOfOne(trainer, parameters, fetches);
  trainer.EndWhere(nullptr);
  if (absl::IsCancelled(gradient.status())) {
    return base::Unavailable(
        "the data's first rows do not come: try again later, or name other "
        "places with --data");
  }
  RETURN_IF_ERROR(gradient.status());
  const protocol::TrainingPlan& plan = manifest.training;
  return *gradient * static_cast<std::int64_t>(plan.inner.steps * plan.batches);
}

base::Status CheckInTime(const protocol::Manifest& manifest, base::Duration least_work,
                         const std::string& by) {
  if (least_work <= manifest.part_timeout) return base::OkStatus();
  return base::FailedPrecondition(
      "the least work of a step takes this node " + Told(least_work) + " on " + by +
      ", and nobody waits longer than " + Told(manifest.part_timeout) +
      " for it, so the run would drop the node: give it more --threads or a GPU (--device), end "
      "other programs, or join a run whose --work-ms is larger");
}

std::string PaceText(const protocol::Manifest& manifest) {
  const protocol::TrainingPlan& plan = manifest.training;
  const std::uint64_t gradients = plan.inner.steps * plan.batches;
  std::string text = "a member that does the least work of a step, " +
                     (gradients == 1 ? "one gradient" : std::to_string(gradients) + " gradients") +
                     ", within " + Told(protocol::WorkIn(manifest)) + " is never late";
  if (protocol::BatchesVary(plan)) {
    text += ", and a faster one does up to " + std::to_string(plan.most_batches) + " batches for " +
            std::to_string(plan.batches);
  }
  // A machine that is r times as fast as the slowest works most_batches / batches / r of the time.
  const auto used = 10 * plan.most_batches / plan.batches;
  return text + "; of a machine ten times as fast as the slowest the run uses about " +
         std::to_string(used) + " %";
}

}  // namespace ostraka::config
