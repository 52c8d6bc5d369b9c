#include "node/train/exact/graph_trainer.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "exact/program/differentiate.h"
#include "exact/program/recompute.h"
#include "node/base/check.h"
#include "node/train/batch.h"
#include "node/train/exact/constants_file.h"
#include "node/train/exact/graph_file.h"
#include "node/train/initial.h"

namespace ostraka::train {
namespace {

class GraphTrainer final : public Trainer {
 public:
  GraphTrainer(GraphTask task, const TrainerOptions& options, std::unique_ptr<GraphEngine> engine)
      : data_(std::move(task.data)),
        tensors_(std::move(task.graph.parameters)),
        layout_(LayoutOf(tensors_)),
        by_fan_in_(options.model != kGraphModel),
        batch_size_(static_cast<std::uint32_t>(options.batch_size)),
        evaluate_on_(options.evaluate_on),
        batch_(std::move(task.batch)),
        engine_(std::move(engine)) {}

  const base::TensorLayout& layout() const override { return layout_; }

  std::optional<std::uint64_t> WorkingBytes() const override {
    const std::optional<std::uint64_t> engine = engine_->WorkingBytes();
    if (!engine) return std::nullopt;
    std::uint64_t bytes = *engine;
    for (const Examples* part : {&data_.training, &data_.validation, &data_.test}) {
      bytes += part->values.size() + part->labels.size();
    }
    return bytes;
  }

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
    const std::unique_ptr<GraphEngine> other = engine_->Other();
    const auto row_count = static_cast<std::uint32_t>(data_.training.size());
    double loss = 0;
    return Mean(parameters, DrawBatch(batch_seed, row_count, batch_size_),
                other == nullptr ? *engine_ : *other, loss);
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
    ASSIGN_OR_RETURN(std::vector<float> gradient, Mean(parameters, rows, *engine_, loss));
    batch_loss_ = loss;
    return gradient;
  }

  void Abandon() override { engine_->Abandon(); }

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
      ASSIGN_OR_RETURN(const float mean, engine_->Loss(parameters, batch_.inputs()));
      loss += double{mean} * static_cast<double>(kept);
      total += kept;
      has_logits = !engine_->Logits().empty();
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
                                          std::span<const std::uint32_t> rows, GraphEngine& engine,
                                          double& loss) {
    auto mean = MeanUnchecked(parameters, rows, engine, loss);
    RETURN_IF_ERROR(engine_->AfterGradient());
    return mean;
  }

  base::StatusOr<std::vector<float>> MeanUnchecked(std::span<const float> parameters,
                                                   std::span<const std::uint32_t> rows,
                                                   GraphEngine& engine, double& loss) {
    std::vector<float> sum(parameters.size());
    ASSIGN_OR_RETURN(loss, MicroGradient(parameters, rows.first(batch_.size()), engine, sum));
    if (rows.size() == batch_.size()) return sum;
    std::vector<float> next(sum.size());
    for (std::size_t begin = batch_.size(); begin < rows.size(); begin += batch_.size()) {
      RETURN_IF_ERROR(CheckWanted());
      const auto micro = rows.subspan(begin, batch_.size());
      ASSIGN_OR_RETURN(const float more, MicroGradient(parameters, micro, engine, next));
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
                                      std::span<const std::uint32_t> rows, GraphEngine& engine,
                                      std::span<float> gradient) {
    batch_.Fill(data_, data_.training, rows);
    return engine.Gradient(parameters, batch_.inputs(), gradient);
  }

  // Targets in the loss that have the largest logit; the first of equal ones counts.
  std::size_t RightOnes() const {
    const std::span<const float> logits = engine_->Logits();
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
  std::unique_ptr<GraphEngine> engine_;
};

}  // namespace

base::StatusOr<GraphTask> PrepareTask(const TrainerOptions& options, exact::Graph graph,
                                      Dataset data) {
  RETURN_IF_ERROR(CheckForTraining(data, options.batch_size));
  ASSIGN_OR_RETURN(std::vector<std::vector<float>> constants,
                   ConstantsOf(graph, options.constants));
  ASSIGN_OR_RETURN(MicroBatch batch, MicroBatch::For(graph, data));
  if (options.batch_size % batch.size() != 0) {
    return base::InvalidArgument("batch_size must be a multiple of " +
                                 std::to_string(batch.size()) + ", the graph's examples, not " +
                                 std::to_string(options.batch_size));
  }
  const auto plan_of = options.recompute ? exact::PlanLeastMemory : exact::PlanMemory;
  ASSIGN_OR_RETURN(
      exact::PlannedProgram plan,
      plan_of(exact::Differentiate(graph), {.max_bytes = kMaxPeakBytes}, options.threads));
  return GraphTask{.data = std::move(data),
                   .graph = std::move(graph),
                   .constants = std::move(constants),
                   .batch = std::move(batch),
                   .plan = std::move(plan)};
}

std::unique_ptr<Trainer> MakeGraphTrainer(GraphTask task, const TrainerOptions& options,
                                          std::unique_ptr<GraphEngine> engine) {
  return std::make_unique<GraphTrainer>(std::move(task), options, std::move(engine));
}

}  // namespace ostraka::train
