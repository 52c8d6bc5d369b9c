#include "node/train/torch_models.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sub.h>

#include <string>

namespace ostraka::train {
namespace {

constexpr std::uint64_t kMaxHidden = std::uint64_t{1} << 20;

at::Tensor Centred(const at::Tensor& inputs) { return inputs.mul(2).sub(1); }

TorchModel MakeSoftmax(std::uint32_t feature_count, std::uint32_t class_count) {
  return {
      .layout = {{"linear.weight", {class_count, feature_count}}, {"linear.bias", {class_count}}},
      .forward = [](const std::vector<at::Tensor>& p, const at::Tensor& inputs) {
        return at::linear(Centred(inputs), p[0], p[1]);
      }};
}

TorchModel MakeMlp(std::uint64_t hidden, std::uint32_t feature_count, std::uint32_t class_count) {
  return {.layout = {{"layers.0.weight", {hidden, feature_count}},
                     {"layers.0.bias", {hidden}},
                     {"layers.1.weight", {class_count, hidden}},
                     {"layers.1.bias", {class_count}}},
          .forward = [](const std::vector<at::Tensor>& p, const at::Tensor& inputs) {
            return at::linear(at::relu(at::linear(Centred(inputs), p[0], p[1])), p[2], p[3]);
          }};
}

}  // namespace

base::StatusOr<TorchModel> MakeTorchModel(const TrainerOptions& options,
                                          std::uint32_t feature_count, std::uint32_t class_count) {
  if (options.model == "softmax") return MakeSoftmax(feature_count, class_count);
  if (options.model != "mlp") {
    return base::InvalidArgument("libtorch module: unknown model '" + options.model +
                                 "'; known: softmax mlp");
  }
  if (options.hidden == 0 || options.hidden > kMaxHidden) {
    return base::InvalidArgument("mlp: hidden must be 1 to " + std::to_string(kMaxHidden) +
                                 ", not " + std::to_string(options.hidden));
  }
  return MakeMlp(options.hidden, feature_count, class_count);
}

}  // namespace ostraka::train
