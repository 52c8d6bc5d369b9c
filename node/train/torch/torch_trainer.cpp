#include "node/train/torch/torch_trainer.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "node/base/check.h"
#include "node/train/batch.h"
#include "node/train/exact/graph_file.h"
#include "node/train/initial.h"
#include "node/train/torch/torch_graph_trainer.h"
#include "node/train/torch/torch_models.h"
#include "node/train/torch/torch_runtime.h"

namespace ostraka::train {
namespace {

constexpr std::size_t kEvaluationRows = 512;

// Examples in libtorch's own, aligned memory.
struct Batch {
  at::Tensor inputs;  // [rows, features] float
  at::Tensor labels;  // [rows] int64
};
Batch Gather(const Dataset& data, const Examples& examples, std::span<const std::uint32_t> rows) {
  const auto row_count = static_cast<std::int64_t>(rows.size());
  const std::size_t features = FeatureCount(data);
  Batch batch{.inputs = at::empty({row_count, static_cast<std::int64_t>(features)}, at::kFloat),
              .labels = at::empty({row_count}, at::kLong)};
  float* input = batch.inputs.data_ptr<float>();
  auto* label = batch.labels.data_ptr<std::int64_t>();
  for (const std::uint32_t row : rows) {
    WriteFeatures(data, examples.image(row), {input, features});
    input += features;
    *label++ = examples.labels[row];
  }
  return batch;
}

class TorchTrainer final : public Trainer {
 public:
  TorchTrainer(Dataset data, TorchModel model, const TrainerOptions& options)
      : data_(std::move(data)),
        model_(std::move(model)),
        batch_size_(static_cast<std::uint32_t>(options.batch_size)),
        evaluate_on_(options.evaluate_on) {}

  const base::TensorLayout& layout() const override { return model_.layout; }

  std::vector<float> InitialParameters(const Digest& seed) const override {
    return UniformByFanIn(model_.layout, seed);
  }

  base::StatusOr<std::vector<float>> Gradient(std::span<const float> parameters,
                                              const Digest& batch_seed) override {
    const auto row_count = static_cast<std::uint32_t>(data_.training.size());
    return GradientOfRows(parameters, DrawBatch(batch_seed, row_count, batch_size_), batch_seed);
  }

  std::optional<double> BatchLoss() const override { return batch_loss_; }

  base::StatusOr<std::vector<float>> GradientOfRows(std::span<const float> parameters,
                                                    std::span<const std::uint32_t> rows,
                                                    const Digest& /*batch_seed*/) override {
    const std::size_t row_count = data_.training.size();
    if (rows.empty() || *std::max_element(rows.begin(), rows.end()) >= row_count) {
      return base::InvalidArgument("a batch needs rows below " + std::to_string(row_count));
    }
    return CatchAll([&]() -> base::StatusOr<std::vector<float>> {
      const Batch batch = Gather(data_, data_.training, rows);
      const std::vector<at::Tensor> tensors = Unpack(parameters);
      for (const at::Tensor& tensor : tensors) tensor.set_requires_grad(true);
      const at::AutoGradMode with_gradients(true);
      const at::Tensor loss =
          at::cross_entropy_loss(model_.forward(tensors, batch.inputs), batch.labels);
      batch_loss_ = loss.item<double>();
      // grad, not backward: nothing accumulates in the tensors, and the graph is freed with `loss`.
      return Pack(torch::autograd::grad({loss}, tensors));
    });
  }

  base::StatusOr<Evaluation> Evaluate(std::span<const float> parameters) override {
    return EvaluateOn(parameters, evaluate_on_);
  }

  base::StatusOr<Evaluation> EvaluateOn(std::span<const float> parameters, HeldOut part) override {
    return CatchAll([&]() -> base::StatusOr<Evaluation> {
      const at::NoGradGuard no_gradients;
      const Examples& examples = part == HeldOut::kTest ? data_.test : data_.validation;
      const std::vector<at::Tensor> tensors = Unpack(parameters);
      std::vector<std::uint32_t> rows(examples.size());
      std::iota(rows.begin(), rows.end(), 0U);
      double loss = 0;
      std::int64_t right = 0;
      // In pieces, so that memory does not grow with the data.
      for (std::size_t begin = 0; begin < rows.size(); begin += kEvaluationRows) {
        const std::size_t count = std::min(kEvaluationRows, rows.size() - begin);
        const Batch batch = Gather(data_, examples, std::span(rows).subspan(begin, count));
        const at::Tensor logits = model_.forward(tensors, batch.inputs);
        loss += at::cross_entropy_loss(logits, batch.labels, /*weight=*/{}, at::Reduction::Sum)
                    .item<double>();
        right += at::eq(at::argmax(logits, 1), batch.labels).sum().item<std::int64_t>();
      }
      const auto count = static_cast<double>(examples.size());
      return Evaluation{.metric = "accuracy",
                        .value = static_cast<double>(right) / count,
                        .loss = loss / count,
                        .on = part};
    });
  }

 private:
  // Copies, because libtorch's kernels may round differently on memory of another alignment.
  std::vector<at::Tensor> Unpack(std::span<const float> parameters) const {
    OSTRAKA_CHECK(parameters.size() == base::ElementCount(model_.layout));
    std::vector<at::Tensor> tensors;
    for (const base::TensorSpec& spec : model_.layout) {
      tensors.push_back(
          at::empty(std::vector<std::int64_t>(spec.shape.begin(), spec.shape.end()), at::kFloat));
      std::copy_n(parameters.begin(), spec.element_count(), tensors.back().data_ptr<float>());
      parameters = parameters.subspan(spec.element_count());
    }
    return tensors;
  }

  static std::vector<float> Pack(const std::vector<at::Tensor>& tensors) {
    std::vector<float> flat;
    for (const at::Tensor& tensor : tensors) {
      const at::Tensor rows = tensor.contiguous();
      const auto* values = rows.data_ptr<float>();
      flat.insert(flat.end(), values, values + rows.numel());
    }
    return flat;
  }

  Dataset data_;
  TorchModel model_;
  std::uint32_t batch_size_;
  std::optional<double> batch_loss_;
  HeldOut evaluate_on_;
};

}  // namespace

base::StatusOr<std::unique_ptr<Trainer>> MakeTorchTrainer(const TrainerOptions& options,
                                                          Dataset data) {
  RETURN_IF_ERROR(CheckForTraining(data, options.batch_size));
  return CatchAll([&]() -> base::StatusOr<std::unique_ptr<Trainer>> {
    UseThreads(1);
    if (options.model == kGraphModel) return MakeTorchGraphTrainer(options, std::move(data));
    ASSIGN_OR_RETURN(TorchModel model, MakeTorchModel(options, data));
    return std::make_unique<TorchTrainer>(std::move(data), std::move(model), options);
  });
}

}  // namespace ostraka::train
