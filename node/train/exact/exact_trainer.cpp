#include "node/train/exact/exact_trainer.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exact/kernels/conformance.h"
#include "exact/models/models.h"
#include "exact/run/runner.h"
#include "node/train/exact/conformance_watch.h"
#include "node/train/exact/device_engine.h"
#include "node/train/exact/graph_file.h"
#include "node/train/exact/graph_trainer.h"

namespace ostraka::train {
namespace {

constexpr std::uint64_t kMaxHidden = std::uint64_t{1} << 20;

class ExactEngine final : public RunnerEngine {
 public:
  // `gradients_operations`: of a whole batch's gradient. `kernels` outlive this; `runner` computes
  // by them, and on `executor`.
  ExactEngine(exact::Runner runner, const exact::Kernels& kernels,
              std::shared_ptr<const aggregation::Executor> executor,
              std::uint64_t gradients_operations, std::shared_ptr<std::atomic<bool>> abandoned)
      : RunnerEngine(std::move(runner)),
        executor_(std::move(executor)),
        kernels_(kernels),
        watch_(kernels, gradients_operations),
        abandoned_(std::move(abandoned)) {
    runner_.EndWhen(abandoned_);
  }

  std::optional<std::uint64_t> WorkingBytes() const override {
    const exact::PlannedProgram& plan = runner_.plan();
    return plan.peak_bytes - 2 * sizeof(float) * plan.program.parameter_count;
  }

  std::unique_ptr<GraphEngine> Other() const override {
    const exact::Kernels& other = OtherKernels(kernels_);
    return std::make_unique<ExactEngine>(runner_.By(other), other, executor_,
                                         runner_.plan().operations, abandoned_);
  }

  void Abandon() override { *abandoned_ = true; }

  base::Status AfterGradient() override { return watch_.AfterGradient(); }

 private:
  const std::shared_ptr<const aggregation::Executor> executor_;  // what runner_ computes on
  const exact::Kernels& kernels_;
  ConformanceWatch watch_;
  const std::shared_ptr<std::atomic<bool>> abandoned_;
};

base::StatusOr<const exact::Kernels*> KernelsNamed(const std::string& name) {
  if (name.empty()) return &exact::BestKernels();
  std::string known;
  for (const exact::Level level : exact::kAllLevels) {
    if (!exact::IsSupported(level)) continue;
    if (exact::LevelName(level) == name) return &exact::KernelsFor(level);
    known += " " + std::string(exact::LevelName(level));
  }
  return base::InvalidArgument("no kernels '" + name + "' on this machine; it has" + known);
}

base::StatusOr<exact::Graph> ModelOf(const TrainerOptions& options, const Dataset& data) {
  if (options.model == kGraphModel) return GraphOf(options.graph);
  if (options.hidden == 0 || options.hidden > kMaxHidden) {
    return base::InvalidArgument("hidden must be 1 to " + std::to_string(kMaxHidden) + ", not " +
                                 std::to_string(options.hidden));
  }
  ASSIGN_OR_RETURN(exact::Model model,
                   exact::MakeModel({.model = options.model,
                                     .batch = static_cast<std::int64_t>(options.batch_size),
                                     .features = FeatureCount(data),
                                     .hidden = static_cast<std::int64_t>(options.hidden),
                                     .classes = data.class_count}));
  return std::move(model.graph);
}

}  // namespace

// Never scalar ones for vector ones: these are 84 times slower than AVX2. Attack: one lie found had
// each member with AVX2 compute for minutes, and most of them lost their places.
const exact::Kernels& OtherKernels(const exact::Kernels& kernels) {
  const exact::Kernels* other = &kernels;
  for (const exact::Level level : exact::kAllLevels) {
    if (!exact::IsSupported(level)) continue;
    if (&exact::KernelsFor(level) == &kernels) break;
    if (level != exact::Level::kScalar) other = &exact::KernelsFor(level);
  }
  return *other;
}

base::StatusOr<std::unique_ptr<Trainer>> MakeExactTrainer(const TrainerOptions& options,
                                                          Dataset data) {
  ASSIGN_OR_RETURN(const exact::Kernels* const kernels, KernelsNamed(options.kernels));
  return MakeExactTrainerBy(*kernels, options, std::move(data));
}

base::StatusOr<std::unique_ptr<Trainer>> MakeExactTrainerBy(const exact::Kernels& kernels,
                                                            const TrainerOptions& options,
                                                            Dataset data) {
  RETURN_IF_ERROR(CheckForTraining(data, options.batch_size));
  RETURN_IF_ERROR(exact::CheckConformance(kernels));
  ASSIGN_OR_RETURN(exact::Graph graph, ModelOf(options, data));
  ASSIGN_OR_RETURN(GraphTask task, PrepareTask(options, std::move(graph), std::move(data)));
  std::shared_ptr<const aggregation::Executor> executor = options.executor;
  if (executor == nullptr) executor = std::make_shared<aggregation::SerialExecutor>();
  const std::uint64_t operations = task.plan.operations * (options.batch_size / task.batch.size());
  exact::Runner runner(std::move(task.plan), std::move(task.constants), kernels, *executor);
  auto cpu = std::make_unique<ExactEngine>(std::move(runner), kernels, std::move(executor),
                                           operations, std::make_shared<std::atomic<bool>>(false));
  if (options.devices == nullptr) return MakeGraphTrainer(std::move(task), options, std::move(cpu));
  return MakeGraphTrainer(std::move(task), options,
                          MakeDeviceEngine(std::move(cpu), options.devices));
}

}  // namespace ostraka::train
