#include "node/train/exact/exact_trainer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "exact/kernels/conformance.h"
#include "exact/models/models.h"
#include "exact/program/differentiate.h"
#include "exact/run/runner.h"
#include "node/base/check.h"
#include "node/train/batch.h"
#include "node/train/exact/conformance_watch.h"
#include "node/train/exact/constants_file.h"
#include "node/train/exact/graph_file.h"
#include "node/train/exact/micro_batch.h"
#include "node/train/initial.h"

namespace ostraka::train {
namespace {

constexpr std::uint64_t kMaxHidden = std::uint64_t{1} << 20;

// Kernels of other instructions than `kernels`: the widest that are narrower, or the same if there
// are none.
const exact::Kernels& OtherKernels(const exact::Kernels& kernels) {
  const exact::Kernels* other = &kernels;
  for (const exact::Level level : exact::kAllLevels) {
    if (!exact::IsSupported(level)) continue;
    if (&exact::KernelsFor(level) == &kernels) break;
    other = &exact::KernelsFor(level);
  }
  return *other;
}

class ExactTrainer final : public Trainer {
 public:
  ExactTrainer(Dataset data, const TrainerOptions& options, std::vector<exact::Parameter> tensors,
               MicroBatch batch, exact::PlannedProgram plan,
               std::vector<std::vector<float>> constants, const exact::Kernels& kernels)
      : data_(std::move(data)),
        tensors_(std::move(tensors)),
        by_fan_in_(options.model != kGraphModel),
        batch_size_(static_cast<std::uint32_t>(options.batch_size)),
        evaluate_on_(options.evaluate_on),
        batch_(std::move(batch)),
        kernels_(kernels),
        watch_(kernels, plan.operations * (batch_size_ / batch_.size())),
        runner_(std::move(plan), std::move(constants), kernels, executor_) {
    for (const exact::Parameter& tensor : tensors_) {
      layout_.push_back({tensor.name, {tensor.type.shape.begin(), tensor.type.shape.end()}});
    }
  }

  const base::TensorLayout& layout() const override { return layout_; }

  std::vector<float> InitialParameters(const Digest& seed) const override {
    return by_fan_in_ ? UniformByFanIn(layout_, seed) : InitialByGraph(tensors_, seed);
  }

  base::StatusOr<std::vector<float>> Gradient(std::span<const float> parameters,
                                              const Digest& batch_seed) override {
    const auto row_count = static_cast<std::uint32_t>(data_.training.size());
    return GradientOfRows(parameters, DrawBatch(batch_seed, row_count, batch_size_));
  }

  std::optional<double> BatchLoss() const override { return batch_loss_; }

  base::StatusOr<std::vector<float>> GradientAgain(std::span<const float> parameters,
                                                   const Digest& batch_seed) override {
    exact::Runner other(runner_.plan(), runner_.constants(), OtherKernels(kernels_), executor_);
    const auto row_count = static_cast<std::uint32_t>(data_.training.size());
    double loss = 0;
    return Mean(parameters, DrawBatch(batch_seed, row_count, batch_size_), other, loss);
  }

  base::StatusOr<std::vector<float>> GradientOfRows(std::span<const float> parameters,
                                                    std::span<const std::uint32_t> rows) override {
    const std::size_t row_count = data_.training.size();
    if (rows.empty() || *std::max_element(rows.begin(), rows.end()) >= row_count) {
      return base::InvalidArgument("a batch needs rows below " + std::to_string(row_count));
    }
    if (rows.size() % batch_.size() != 0) {
      return base::InvalidArgument("a batch must be a multiple of " +
                                   std::to_string(batch_.size()) + " rows, the graph's");
    }
    double loss = 0;
    ASSIGN_OR_RETURN(std::vector<float> gradient, Mean(parameters, rows, runner_, loss));
    batch_loss_ = loss;
    return gradient;
  }

  base::StatusOr<Evaluation> Evaluate(std::span<const float> parameters) override {
    return EvaluateOn(parameters, evaluate_on_);
  }

  base::StatusOr<Evaluation> EvaluateOn(std::span<const float> parameters, HeldOut part) override {
    const Examples& examples = part == HeldOut::kTest ? data_.test : data_.validation;
    std::vector<std::uint32_t> rows(examples.size());
    std::iota(rows.begin(), rows.end(), 0U);
    double loss = 0;
    std::size_t right = 0;
    std::size_t total = 0;
    bool has_logits = true;
    for (std::size_t begin = 0; begin < rows.size(); begin += batch_.size()) {
      const std::size_t count = std::min(batch_.size(), rows.size() - begin);
      const std::size_t kept = batch_.Fill(data_, examples, std::span(rows).subspan(begin, count));
      ASSIGN_OR_RETURN(const float mean, runner_.Loss(parameters, batch_.inputs()));
      loss += double{mean} * static_cast<double>(kept);
      total += kept;
      has_logits = !runner_.Logits().empty();
      if (has_logits) right += RightOnes();
    }
    const auto count = static_cast<double>(total);
    Evaluation evaluation{
        .metric = "loss", .value = loss / count, .loss = loss / count, .on = part};
    if (has_logits) {
      evaluation.metric = "accuracy";
      evaluation.value = static_cast<double>(right) / count;
    }
    return evaluation;
  }

 private:
  // Over the micro-batches of `rows`; `loss` becomes their mean. REQUIRES: rows are in range, and a
  // multiple of the graph's.
  base::StatusOr<std::vector<float>> Mean(std::span<const float> parameters,
                                          std::span<const std::uint32_t> rows,
                                          exact::Runner& runner, double& loss) {
    auto mean = MeanUnchecked(parameters, rows, runner, loss);
    RETURN_IF_ERROR(watch_.AfterGradient());
    return mean;
  }

  base::StatusOr<std::vector<float>> MeanUnchecked(std::span<const float> parameters,
                                                   std::span<const std::uint32_t> rows,
                                                   exact::Runner& runner, double& loss) {
    std::vector<float> sum(parameters.size());
    ASSIGN_OR_RETURN(loss, MicroGradient(parameters, rows.first(batch_.size()), runner, sum));
    if (rows.size() == batch_.size()) return sum;
    std::vector<float> next(sum.size());
    for (std::size_t begin = batch_.size(); begin < rows.size(); begin += batch_.size()) {
      const auto micro = rows.subspan(begin, batch_.size());
      ASSIGN_OR_RETURN(const float more, MicroGradient(parameters, micro, runner, next));
      loss += double{more};
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
    }
    const std::size_t count = rows.size() / batch_.size();
    loss /= static_cast<double>(count);
    const float share = 1 / static_cast<float>(count);
    for (float& value : sum) value *= share;
    return sum;
  }

  // Overwrites `gradient`, and returns the loss.
  base::StatusOr<float> MicroGradient(std::span<const float> parameters,
                                      std::span<const std::uint32_t> rows, exact::Runner& runner,
                                      std::span<float> gradient) {
    batch_.Fill(data_, data_.training, rows);
    return runner.Gradient(parameters, batch_.inputs(), gradient);
  }

  // Targets in the loss that have the largest logit; the first of equal ones counts.
  std::size_t RightOnes() const {
    const std::span<const float> logits = runner_.Logits();
    const std::span<const std::int32_t> targets = batch_.targets();
    const std::size_t classes = logits.size() / targets.size();
    OSTRAKA_CHECK(logits.size() == targets.size() * classes);
    std::size_t right = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const auto row = logits.subspan(i * classes, classes);
      const auto best = std::max_element(row.begin(), row.end()) - row.begin();
      right += best == targets[i] ? 1 : 0;
    }
    return right;
  }

  Dataset data_;
  std::vector<exact::Parameter> tensors_;
  base::TensorLayout layout_;
  bool by_fan_in_;  // initial parameters as libtorch's models have them
  std::uint32_t batch_size_;
  std::optional<double> batch_loss_;
  HeldOut evaluate_on_;
  MicroBatch batch_;
  aggregation::SerialExecutor executor_;  // outlives runner_
  const exact::Kernels& kernels_;
  ConformanceWatch watch_;
  exact::Runner runner_;
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

base::Status CheckSizes(const TrainerOptions& options, const Dataset& data) {
  if (data.test.size() == 0 || data.validation.size() == 0) {
    return base::InvalidArgument("data " + data.name +
                                 ": too few examples for a test and a validation part");
  }
  if (options.batch_size == 0 || options.batch_size > data.training.size()) {
    return base::InvalidArgument("batch_size must be 1 to " + std::to_string(data.training.size()) +
                                 ", the training rows of " + data.name + ", not " +
                                 std::to_string(options.batch_size));
  }
  return base::OkStatus();
}

}  // namespace

base::StatusOr<std::unique_ptr<Trainer>> MakeExactTrainer(const TrainerOptions& options,
                                                          Dataset data) {
  ASSIGN_OR_RETURN(const exact::Kernels* const kernels, KernelsNamed(options.kernels));
  return MakeExactTrainerBy(*kernels, options, std::move(data));
}

base::StatusOr<std::unique_ptr<Trainer>> MakeExactTrainerBy(const exact::Kernels& kernels,
                                                            const TrainerOptions& options,
                                                            Dataset data) {
  RETURN_IF_ERROR(CheckSizes(options, data));
  RETURN_IF_ERROR(exact::CheckConformance(kernels));
  ASSIGN_OR_RETURN(const exact::Graph graph, ModelOf(options, data));
  ASSIGN_OR_RETURN(std::vector<std::vector<float>> constants,
                   ConstantsOf(graph, options.constants));
  ASSIGN_OR_RETURN(MicroBatch batch, MicroBatch::For(graph, data));
  if (options.batch_size % batch.size() != 0) {
    return base::InvalidArgument("batch_size must be a multiple of " +
                                 std::to_string(batch.size()) + ", the graph's examples, not " +
                                 std::to_string(options.batch_size));
  }
  ASSIGN_OR_RETURN(exact::PlannedProgram plan,
                   exact::PlanMemory(exact::Differentiate(graph), {.max_bytes = kMaxPeakBytes}, 1));
  return std::make_unique<ExactTrainer>(std::move(data), options, graph.parameters,
                                        std::move(batch), std::move(plan), std::move(constants),
                                        kernels);
}

}  // namespace ostraka::train
