// Each kind of step as launches of a device's kernels. Only device_runner.cpp and launches_*.cpp
// include this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exact/device/device.h"
#include "exact/device/device_plan.h"
#include "exact/device/kernel_list.h"
#include "exact/run/inputs.h"

namespace ostraka::exact {

// A tensor on a device: a buffer, and the place of its first element.
struct Tensor {
  DeviceBuffer buffer = {};
  std::uint32_t at = 0;

  // REQUIRES: what lies there belongs to the same buffer.
  Tensor operator+(std::uint64_t elements) const {
    return {buffer, static_cast<std::uint32_t>(at + elements)};
  }
};

// Which kernel computes products.
enum class Tile : std::uint8_t { kByShape, k32, k64, k128 };

// Extents and counts of a plan have 32 bits (device_plan.h).
inline std::uint32_t Short(std::uint64_t count) { return static_cast<std::uint32_t>(count); }

// Where the buffers of one run lie, and what computes.
struct DeviceSite {
  Device& device;
  const DevicePlan& plan;
  Tile tile = Tile::kByShape;
  std::span<const InputValues> inputs = {};  // as the host has them
  std::vector<Tensor> tensors = {};          // of each buffer of the program
  Tensor scores = {};                        // plan.scratch_elements
  Tensor score_gradients = {};               // as many, if attention has a gradient
  Tensor pairs = {};                         // plan.pair_elements
  DeviceBuffer table = {};
  DeviceBuffer sorted = {};

  const Tensor& read(const Step& step, std::size_t i) const { return tensors[step.reads[i]]; }
  const Tensor& write(const Step& step, std::size_t i = 0) const { return tensors[step.writes[i]]; }
  std::uint32_t count_written(const Step& step) const {
    return Short(plan.planned.program.buffers[step.writes[0]].count);
  }
  // REQUIRES: the step's operand i is an input of integers.
  std::span<const std::int32_t> integers(const Step& step, std::size_t i) const {
    return inputs[plan.planned.program.buffers[step.reads[i]].index].integers;
  }

  // A tensor is two arguments of a kernel.
  template <typename... T>
  base::Status Run(const DeviceKernel& kernel, std::uint64_t groups, const T&... arguments) const {
    if (groups > kMostGroups) {
      return base::InvalidArgument(std::string(kernel.name) + " takes " + std::to_string(groups) +
                                   " groups, more than a launch has");
    }
    std::vector<Argument> flat;
    flat.reserve(2 * sizeof...(T));
    (Append(flat, arguments), ...);
    return device.Launch(kernel, static_cast<std::uint32_t>(groups), flat);
  }
  // The same with one item for each of `count` elements.
  template <typename... T>
  base::Status RunOver(const DeviceKernel& kernel, std::uint64_t count,
                       const T&... arguments) const {
    return Run(kernel, (count + kernel.items - 1) / kernel.items, arguments...);
  }
  // The same with 16 items for each of `rows` rows.
  template <typename... T>
  base::Status RunRows(const DeviceKernel& kernel, std::uint64_t rows,
                       const T&... arguments) const {
    return RunOver(kernel, rows * kLanes, arguments...);
  }
  // The same with a group for each 32 of `columns` columns (rows.inc).
  template <typename... T>
  base::Status RunColumns(const DeviceKernel& kernel, std::uint64_t columns,
                          const T&... arguments) const {
    return Run(kernel, (columns + 31) / 32, arguments...);
  }

 private:
  static void Append(std::vector<Argument>& flat, const Tensor& tensor) {
    flat.emplace_back(tensor.buffer);
    flat.emplace_back(tensor.at);
  }
  template <typename T>
  static void Append(std::vector<Argument>& flat, const T& value) {
    flat.emplace_back(value);
  }
};

// A matrix of each member of a batch: element (i, j) of member z is at
//   first + z / inner * outer_stride + z % inner * inner_stride + i * row + j * column,
// with the batch's `inner`.
struct DeviceMatrix {
  Tensor first = {};
  std::uint32_t row = 0;
  std::uint32_t column = 1;  // one of row and column is 1
  std::uint32_t outer_stride = 0;
  std::uint32_t inner_stride = 0;
};

// out = a b, or the chains of `out` go on if `accumulate`. REQUIRES: out.column is 1.
struct DeviceProduct {
  std::uint32_t batch = 1;
  std::uint32_t inner = 1;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t depth = 0;
  DeviceMatrix a = {};
  DeviceMatrix b = {};
  DeviceMatrix out = {};
  bool accumulate = false;
};
base::Status LaunchProduct(const DeviceSite& site, const DeviceProduct& product);

// out = map(a, b) over `count` elements, of one operand or two.
base::Status LaunchMap(const DeviceSite& site, Map map, const Tensor& a, const Tensor& b,
                       std::uint32_t operands, float scalar, const Tensor& out,
                       std::uint32_t count);

// One function for each alternative of StepKind; `s` is the step's number.
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const FillStep& fill);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const CopyStep& copy);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const GatherStep& gather);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const ReduceStep& reduce);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const MapStep& map);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const ProductStep& product);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const SumStep& sum);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const AddRowStep& add);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const EmbeddingStep& embedding);
base::Status LaunchStep(const DeviceSite& site, std::size_t s,
                        const EmbeddingBackwardStep& embedding);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const SoftmaxStep& softmax);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const SoftmaxBackwardStep& softmax);
// Waits for the device: the logarithm is the host's.
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const CrossEntropyStep& loss);
base::Status LaunchStep(const DeviceSite& site, std::size_t s,
                        const CrossEntropyBackwardStep& loss);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const NormStep& norm);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const NormBackwardStep& norm);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const NormColumnsStep& norm);
base::Status LaunchStep(const DeviceSite& site, std::size_t s, const AttentionStep& attention);
base::Status LaunchStep(const DeviceSite& site, std::size_t s,
                        const AttentionBackwardStep& attention);

}  // namespace ostraka::exact
