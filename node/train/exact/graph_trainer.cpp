#include "node/train/exact/graph_trainer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
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
#include "node/train/exact/text_sampler.h"
#include "node/train/initial.h"
#include "node/train/tokens/tokenizer_file.h"

namespace ostraka::train {
namespace {

constexpr auto kLongestFirstFetch = std::chrono::minutes(2);

// Enough to read, though the evaluation has fewer micro-batches, of which a token takes one.
constexpr std::size_t kLeastSample = 16;

// nullopt: samples are not wanted, or nobody knows what the tokens say.
std::optional<TextSampler> SamplerFor(const GraphTask& task, const TrainerOptions& options) {
  if (options.sample_tokens == 0 || task.data.name != kTokens) return std::nullopt;
  const std::uint32_t vocabulary = task.data.class_count;
  auto file = ReadTokenizerFile(TokenizerBeside(options.data_dir));
  if (file.ok()) {
    auto speech = Speech::By(std::move(file->tokenizer), vocabulary);
    return speech.ok() ? TextSampler::Make(task.graph, *std::move(speech)) : std::nullopt;
  }
  if (vocabulary > kByteTokens) return std::nullopt;
  return TextSampler::Make(task.graph, Speech(vocabulary));
}

class GraphTrainer final : public Trainer {
 public:
  GraphTrainer(GraphTask task, const TrainerOptions& options, std::unique_ptr<GraphEngine> engine)
      : sampler_(SamplerFor(task, options)),
        sample_tokens_(options.sample_tokens),
        data_(std::move(task.data)),
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
    if (batch_size_ > batch_.size()) {  // MicroBatchEngine::Mean adds up a second gradient
      bytes += sizeof(float) * base::ElementCount(layout_);
    }
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
    return GradientOfRows(parameters, RowsOf(batch_seed), batch_seed);
  }

  std::optional<double> BatchLoss() const override { return batch_loss_; }

  base::StatusOr<std::vector<float>> GradientAgain(std::span<const float> parameters,
                                                   const Digest& batch_seed) override {
    const std::unique_ptr<GraphEngine> other = engine_->Other();
    double loss = 0;
    return Mean(parameters, RowsOf(batch_seed), batch_seed, other == nullptr ? *engine_ : *other,
                loss);
  }

  base::StatusOr<std::vector<float>> GradientOfRows(std::span<const float> parameters,
                                                    std::span<const std::uint32_t> rows,
                                                    const Digest& batch_seed) override {
    const std::size_t row_count = data_.training.size();
    if (rows.empty() || *std::max_element(rows.begin(), rows.end()) >= row_count) {
      return base::InvalidArgument("a batch needs rows below " + std::to_string(row_count));
    }
    if (rows.size() % batch_.size() != 0) {
      return base::InvalidArgument("a batch must be a multiple of " +
                                   std::to_string(batch_.size()) + " rows, the graph's");
    }
    double loss = 0;
    ASSIGN_OR_RETURN(std::vector<float> gradient,
                     Mean(parameters, rows, batch_seed, *engine_, loss));
    batch_loss_ = loss;
    return gradient;
  }

  base::StatusOr<std::optional<Descended>> Descend(std::span<const float> from,
                                                   const aggregation::LocalSteps& plan,
                                                   std::uint32_t batches,
                                                   const InnerSeedOf& seed_of) override {
    std::vector<std::uint32_t> rows;
    const LocalWork work{
        .plan = plan,
        .batches = batches,
        .batch = [&](std::uint64_t step, std::uint32_t batch) -> base::StatusOr<MicroBatches> {
          const Digest batch_seed = seed_of(step, batch);
          rows = RowsOf(batch_seed);
          RETURN_IF_ERROR(Load(rows, [this] { return CheckWanted(); }));
          return MicroBatchesOf(rows, batch_seed);
        }};
    auto descended = engine_->Descend(from, work);
    if (!descended.ok() || !*descended) return descended;
    RETURN_IF_ERROR(engine_->AfterGradient());
    batch_loss_ = (*descended)->first_loss;
    return descended;
  }

  void Expect(const Digest& batch_seed) override {
    if (data_.training.store) data_.training.store->Expect(RowsOf(batch_seed));
  }

  bool WaitsForRows() const override { return waits_for_rows_; }

  void Abandon() override {
    engine_->Abandon();
    if (data_.training.store) data_.training.store->Abandon();
  }

  std::string ComputesOn() const override { return engine_->ComputesOn(); }
  std::vector<TrainerNotice> TakeNotices() override {
    std::vector<TrainerNotice> notices = engine_->TakeNotices();
    if (!data_.training.store) return notices;
    for (std::string& line : data_.training.store->TakeNotices()) {
      notices.push_back({std::move(line), /*is_trouble=*/true});
    }
    return notices;
  }

  // With the first rows, at parameters as a run may begin with.
  base::Status Prepare() {
    std::vector<std::uint32_t> rows(batch_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = static_cast<std::uint32_t>(i % data_.training.size());
    }
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(Load(rows, [begin] {
      return std::chrono::steady_clock::now() - begin < kLongestFirstFetch
                 ? base::OkStatus()
                 : base::Unavailable(
                       "the first rows of the data did not come within two minutes: "
                       "is the network there?");
    }));
    return engine_->Prepare(InitialParameters(Digest{}), MicroBatchesOf(rows, Digest{}));
  }

  base::StatusOr<Evaluation> Evaluate(std::span<const float> parameters) override {
    return EvaluateOn(parameters, evaluate_on_);
  }

  base::StatusOr<Evaluation> GoOnEvaluating(std::span<const float> parameters,
                                            EvaluationProgress& progress) override {
    const auto wanted = [this] { return CheckWanted(); };
    ASSIGN_OR_RETURN(Evaluation evaluation,
                     EvaluateFrom(parameters, evaluate_on_, progress, wanted));
    if (sampler_) evaluation.sample = Sample(parameters, progress.done, wanted);
    return evaluation;
  }

  base::StatusOr<Evaluation> EvaluateOn(std::span<const float> parameters, HeldOut part) override {
    EvaluationProgress progress;
    return EvaluateFrom(parameters, part, progress, nullptr);
  }

 private:
  base::StatusOr<Evaluation> EvaluateFrom(std::span<const float> parameters, HeldOut part,
                                          EvaluationProgress& progress,
                                          std::function<base::Status()> check_wanted) {
    const Examples& examples = part == HeldOut::kTest ? data_.test : data_.validation;
    std::vector<std::uint32_t> rows(examples.size());
    std::iota(rows.begin(), rows.end(), 0U);
    const std::size_t first = progress.done;
    std::size_t kept = 0;
    const MicroBatches batches{
        .count = (rows.size() + (batch_.may_be_partial() ? batch_.size() - 1 : 0)) / batch_.size() -
                 first,
        .inputs =
            [&](std::size_t index) {
              const auto rest = std::span(rows).subspan((first + index) * batch_.size());
              kept = batch_.Fill(data_, examples, rest.first(std::min(rest.size(), batch_.size())));
              return batch_.inputs();
            },
        .check_wanted = std::move(check_wanted)};
    RETURN_IF_ERROR(
        engine_->Losses(parameters, batches, [&](float mean, std::span<const float> logits) {
          progress.loss += double{mean} * static_cast<double>(kept);
          progress.targets += kept;
          progress.has_logits = !logits.empty();
          if (progress.has_logits) progress.right += RightOnes(logits);
          ++progress.done;
        }));
    const auto count = static_cast<double>(progress.targets);
    Evaluation evaluation{.metric = "loss",
                          .value = progress.loss / count,
                          .loss = progress.loss / count,
                          .on = part};
    if (progress.has_logits) {
      evaluation.metric = "accuracy";
      evaluation.value = static_cast<double>(progress.right) / count;
    }
    return evaluation;
  }

  // After an evaluation of so many micro-batches.
  std::optional<TextSample> Sample(std::span<const float> parameters, std::size_t micro_batches,
                                   const std::function<base::Status()>& check_wanted) {
    const Examples& examples = evaluate_on_ == HeldOut::kTest ? data_.test : data_.validation;
    const std::vector<std::uint32_t> first(batch_.size());  // one record, again and again
    batch_.Fill(data_, examples, first);
    return sampler_->Continue(*engine_, parameters, batch_.inputs(),
                              std::min(sample_tokens_, std::max(kLeastSample, micro_batches)),
                              check_wanted);
  }

  // Over the micro-batches of `rows`; `loss` becomes their mean. REQUIRES: rows are in range, and a
  // multiple of the graph's.
  base::StatusOr<std::vector<float>> Mean(std::span<const float> parameters,
                                          std::span<const std::uint32_t> rows,
                                          const Digest& batch_seed, GraphEngine& engine,
                                          double& loss) {
    RETURN_IF_ERROR(Load(rows, [this] { return CheckWanted(); }));
    std::vector<float> mean(parameters.size());
    const auto mean_loss = engine.Mean(parameters, MicroBatchesOf(rows, batch_seed), mean);
    RETURN_IF_ERROR(engine_->AfterGradient());
    RETURN_IF_ERROR(mean_loss.status());
    loss = *mean_loss;
    return mean;
  }

  // Of a batch.
  std::vector<std::uint32_t> RowsOf(const Digest& batch_seed) const {
    if (data_.training.store) return data_.training.store->Draw(batch_seed, batch_size_);
    return DrawBatch(batch_seed, static_cast<std::uint32_t>(data_.training.size()), batch_size_);
  }

  base::Status Load(std::span<const std::uint32_t> rows, const RowStore::CheckWanted& check) {
    if (!data_.training.store) return base::OkStatus();
    waits_for_rows_ = true;
    const base::Status loaded = data_.training.store->Load(rows, check);
    waits_for_rows_ = false;
    return loaded;
  }

  // `rows` are loaded, and outlive it.
  MicroBatches MicroBatchesOf(std::span<const std::uint32_t> rows, const Digest& batch_seed) {
    return {.count = rows.size() / batch_.size(),
            .inputs =
                [this, rows, batch_seed](std::size_t index) {
                  batch_.Fill(data_, data_.training,
                              rows.subspan(index * batch_.size(), batch_.size()));
                  batch_.Draw(batch_seed, index);
                  return batch_.inputs();
                },
            .check_wanted = [this] { return CheckWanted(); }};
  }

  // Targets in the loss that have the largest logit; the first of equal ones counts.
  std::size_t RightOnes(std::span<const float> logits) const {
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

  std::optional<TextSampler> sampler_;
  std::size_t sample_tokens_;
  Dataset data_;
  std::vector<exact::Parameter> tensors_;
  base::TensorLayout layout_;
  bool by_fan_in_;  // initial parameters as libtorch's models have them
  std::uint32_t batch_size_;
  std::optional<double> batch_loss_;
  HeldOut evaluate_on_;
  std::atomic<bool> waits_for_rows_ = false;
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

base::StatusOr<std::unique_ptr<Trainer>> MakeGraphTrainer(GraphTask task,
                                                          const TrainerOptions& options,
                                                          std::unique_ptr<GraphEngine> engine) {
  auto trainer = std::make_unique<GraphTrainer>(std::move(task), options, std::move(engine));
  RETURN_IF_ERROR(trainer->Prepare());
  return trainer;
}

}  // namespace ostraka::train
