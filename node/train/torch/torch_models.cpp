#include "node/train/torch/torch_models.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include <algorithm>
#include <string>

namespace ostraka::train {
namespace {

constexpr std::uint64_t kMaxHidden = std::uint64_t{1} << 20;
// Constants of the cnn.
constexpr std::uint64_t kKernelSide = 3;
constexpr std::uint64_t kPoolSide = 2;
constexpr std::uint64_t kChannels1 = 16;
constexpr std::uint64_t kChannels2 = 32;

TorchModel MakeSoftmax(std::uint32_t feature_count, std::uint32_t class_count) {
  return {
      .layout = {{"linear.weight", {class_count, feature_count}}, {"linear.bias", {class_count}}},
      .forward = [](const std::vector<at::Tensor>& p, const at::Tensor& inputs) {
        return at::linear(inputs, p[0], p[1]);
      }};
}

TorchModel MakeMlp(std::uint64_t hidden, std::uint32_t feature_count, std::uint32_t class_count) {
  return {.layout = {{"layers.0.weight", {hidden, feature_count}},
                     {"layers.0.bias", {hidden}},
                     {"layers.1.weight", {class_count, hidden}},
                     {"layers.1.bias", {class_count}}},
          .forward = [](const std::vector<at::Tensor>& p, const at::Tensor& inputs) {
            return at::linear(at::relu(at::linear(inputs, p[0], p[1])), p[2], p[3]);
          }};
}

at::Tensor ConvolveAndPool(const at::Tensor& inputs, const at::Tensor& weight,
                           const at::Tensor& bias) {
  return at::max_pool2d(
      at::relu(at::conv2d(inputs, weight, bias, /*stride=*/1, /*padding=*/kKernelSide / 2)),
      kPoolSide);
}

// Tensor names as in a torch.nn.Module with members conv1, conv2, fc1 and fc2.
TorchModel MakeCnn(std::uint64_t hidden, const ImageShape& shape, std::uint32_t class_count) {
  constexpr std::uint64_t kPooled = kPoolSide * kPoolSide;
  const std::uint64_t flat = kChannels2 * (shape.height / kPooled) * (shape.width / kPooled);
  return {
      .layout = {{"conv1.weight", {kChannels1, shape.channels, kKernelSide, kKernelSide}},
                 {"conv1.bias", {kChannels1}},
                 {"conv2.weight", {kChannels2, kChannels1, kKernelSide, kKernelSide}},
                 {"conv2.bias", {kChannels2}},
                 {"fc1.weight", {hidden, flat}},
                 {"fc1.bias", {hidden}},
                 {"fc2.weight", {class_count, hidden}},
                 {"fc2.bias", {class_count}}},
      .forward = [shape](const std::vector<at::Tensor>& p, const at::Tensor& inputs) {
        const at::Tensor images = inputs.reshape({-1, shape.channels, shape.height, shape.width});
        const at::Tensor once = ConvolveAndPool(images, p[0], p[1]);
        const at::Tensor twice = ConvolveAndPool(once, p[2], p[3]);
        const at::Tensor units = at::relu(at::linear(twice.flatten(1), p[4], p[5]));
        return at::linear(units, p[6], p[7]);
      }};
}

}  // namespace

base::StatusOr<TorchModel> MakeTorchModel(const TrainerOptions& options, const Dataset& data) {
  const std::uint32_t feature_count = FeatureCount(data);
  const ImageShape& shape = data.shape;
  if (options.model == "softmax") return MakeSoftmax(feature_count, data.class_count);
  if (options.model != "mlp" && options.model != "cnn") {
    return base::InvalidArgument("libtorch module: unknown model '" + options.model +
                                 "'; known: softmax mlp cnn");
  }
  if (options.hidden == 0 || options.hidden > kMaxHidden) {
    return base::InvalidArgument(options.model + ": hidden must be 1 to " +
                                 std::to_string(kMaxHidden) + ", not " +
                                 std::to_string(options.hidden));
  }
  if (options.model == "mlp") return MakeMlp(options.hidden, feature_count, data.class_count);
  if (data.max_value == kSymbols) {
    return base::InvalidArgument("cnn: " + data.name + " holds no images: use softmax or mlp");
  }
  if (std::min(shape.height, shape.width) < kPoolSide * kPoolSide) {
    return base::InvalidArgument("cnn: images must be at least 4 x 4, not " +
                                 std::to_string(shape.height) + " x " +
                                 std::to_string(shape.width));
  }
  return MakeCnn(options.hidden, shape, data.class_count);
}

}  // namespace ostraka::train
