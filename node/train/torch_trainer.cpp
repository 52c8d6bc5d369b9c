#include "node/train/torch_trainer.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/sum.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "node/base/check.h"
#include "node/train/batch.h"
#include "node/train/digits.h"
#include "node/train/initial.h"
#include "node/train/torch_models.h"

namespace ostraka::train {
namespace {

// libtorch reports by exceptions, which stop here. Their text goes on with a stack trace: the
// first line says it.
template <typename Function>
auto CatchAll(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return base::Internal("libtorch: " + text.substr(0, text.find('\n')));
  } catch (...) {
    return base::Internal("libtorch: an exception of unknown kind");
  }
}

void UseOneThread() {
  at::set_num_threads(1);
  // OpenBLAS has threads of its own, which libtorch does not know. Another BLAS lacks the symbol.
  using SetThreads = void(int);
  auto* set = reinterpret_cast<SetThreads*>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set != nullptr) set(1);
}

// Rows `rows` of `examples`, in libtorch's own (aligned) memory.
struct Batch {
  at::Tensor inputs;  // [rows, features] float
  at::Tensor labels;  // [rows] int64
};
Batch Gather(const Examples& examples, const std::vector<std::uint32_t>& rows) {
  const auto row_count = static_cast<std::int64_t>(rows.size());
  Batch batch{.inputs = at::empty({row_count, examples.feature_count}, at::kFloat),
              .labels = at::empty({row_count}, at::kLong)};
  float* input = batch.inputs.data_ptr<float>();
  auto* label = batch.labels.data_ptr<std::int64_t>();
  for (const std::uint32_t row : rows) {
    const std::span<const float> features = examples.row(row);
    input = std::copy(features.begin(), features.end(), input);
    *label++ = examples.labels[row];
  }
  return batch;
}

Batch GatherAll(const Examples& examples) {
  std::vector<std::uint32_t> rows(examples.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
  return Gather(examples, rows);
}

class TorchTrainer final : public Trainer {
 public:
  TorchTrainer(Dataset data, TorchModel model, std::uint32_t batch_size)
      : data_(std::move(data)),
        model_(std::move(model)),
        batch_size_(batch_size),
        test_(GatherAll(data_.test)) {}

  const base::TensorLayout& layout() const override { return model_.layout; }

  std::vector<float> InitialParameters(const Digest& seed) const override {
    return UniformByFanIn(model_.layout, seed);
  }

  base::StatusOr<std::vector<float>> Gradient(std::span<const float> parameters,
                                              const Digest& batch_seed, bool flip_labels) override {
    return CatchAll([&]() -> base::StatusOr<std::vector<float>> {
      const auto row_count = static_cast<std::uint32_t>(data_.training.size());
      const auto last_class = static_cast<std::int64_t>(data_.class_count) - 1;
      Batch batch = Gather(data_.training, DrawBatch(batch_seed, row_count, batch_size_));
      if (flip_labels) batch.labels = batch.labels.neg().add(last_class);

      const std::vector<at::Tensor> tensors = Unpack(parameters);
      for (const at::Tensor& tensor : tensors) tensor.set_requires_grad(true);
      const at::AutoGradMode with_gradients(true);
      const at::Tensor loss =
          at::cross_entropy_loss(model_.forward(tensors, batch.inputs), batch.labels);
      // grad, not backward: nothing is accumulated in the tensors, and the graph goes with `loss`.
      return Pack(torch::autograd::grad({loss}, tensors));
    });
  }

  base::StatusOr<Evaluation> Evaluate(std::span<const float> parameters) override {
    return CatchAll([&]() -> base::StatusOr<Evaluation> {
      const at::NoGradGuard no_gradients;
      const at::Tensor logits = model_.forward(Unpack(parameters), test_.inputs);
      const auto loss = at::cross_entropy_loss(logits, test_.labels).item<double>();
      const auto right = at::eq(at::argmax(logits, 1), test_.labels).sum().item<std::int64_t>();
      const double accuracy = static_cast<double>(right) / static_cast<double>(data_.test.size());
      return Evaluation{.metric = "accuracy", .value = accuracy, .loss = loss};
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
  Batch test_;
};

}  // namespace

base::StatusOr<std::unique_ptr<Trainer>> MakeTorchTrainer(const TrainerOptions& options) {
  if (options.data != "digits") {
    return base::InvalidArgument("libtorch module: unknown data '" + options.data +
                                 "'; known: digits");
  }
  Dataset data = LoadDigits();
  if (options.batch_size == 0 || options.batch_size > data.training.size()) {
    return base::InvalidArgument("batch_size must be 1 to " + std::to_string(data.training.size()) +
                                 ", the training rows of " + data.name + ", not " +
                                 std::to_string(options.batch_size));
  }
  return CatchAll([&]() -> base::StatusOr<std::unique_ptr<Trainer>> {
    UseOneThread();
    ASSIGN_OR_RETURN(TorchModel model,
                     MakeTorchModel(options, data.training.feature_count, data.class_count));
    return std::make_unique<TorchTrainer>(std::move(data), std::move(model),
                                          static_cast<std::uint32_t>(options.batch_size));
  });
}

}  // namespace ostraka::train
