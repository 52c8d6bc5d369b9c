// The models for libtorch, each as a layout and a function. For torch_*.cpp only: shows ATen.
//
// Thread safety: plain values; a forward function has no state.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/train/dataset.h"
#include "node/train/trainer.h"

namespace ostraka::train {

struct TorchModel {
  base::TensorLayout layout;
  // Logits [rows, classes] of inputs [rows, features], under `parameters` in layout order.
  std::function<at::Tensor(const std::vector<at::Tensor>& parameters, const at::Tensor& inputs)>
      forward;
};

// A model of F features (node/train/dataset.h). An image C x H x W (digits 1 x 8 x 8, mnist 1 x 28
// x 28, cifar10 3 x 32 x 32) has one feature per pixel; a text of k distinct bytes has 8 k.
//
//   softmax  F -> classes, linear
//   mlp      F -> hidden -> classes, with ReLU between
//   cnn      conv 3 x 3 to 16 channels, ReLU, max pool 2; conv 3 x 3 to 32 channels, ReLU, max
//            pool 2; 32 (H/4) (W/4) -> hidden -> classes, with ReLU between. Convolutions are
//            padded with zeros to keep H and W; pools round down. For images alone.
//
//   parameters, with 64 hidden units and 10 classes
//             softmax      mlp      cnn
//   digits        650    4,810   13,706
//   mnist       7,850   50,890  105,866
//   cifar10    30,730  197,322  136,874
//
// InvalidArgument: an unknown model, hidden out of range, or a cnn for small images or none.
base::StatusOr<TorchModel> MakeTorchModel(const TrainerOptions& options, const Dataset& data);

}  // namespace ostraka::train
