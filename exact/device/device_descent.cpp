// Local steps on a device.
#include <algorithm>
#include <cmath>
#include <string>

#include "exact/device/device_runner.h"
#include "exact/kernels/float_environment.h"
#include "node/base/check.h"

namespace ostraka::exact {
namespace {

using aggregation::kNormBlock;

std::uint64_t BlocksOf(std::uint64_t elements) { return (elements + kNormBlock - 1) / kNormBlock; }

}  // namespace

base::Status DeviceRunner::BeginDescent(std::uint32_t batches) {
  OSTRAKA_CHECK(batches > 0);
  if (!has_parameters_) return base::FailedPrecondition("the device has no parameters");
  RETURN_IF_ERROR(AllocateDescent(batches));
  added_ = 0;
  batches_ = batches;
  ended_ = 0;
  const DeviceSite site{.device = device_, .plan = plan_};
  for (const Vector* moment : {&first_, &second_}) {
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
      const std::uint32_t count = Short(plan_.parameters[i].count);
      RETURN_IF_ERROR(Checked(site.RunOver(kRunFill, count, Tensor{(*moment)[i]}, count, 0.0F)));
    }
  }
  return base::OkStatus();
}

base::Status DeviceRunner::AllocateDescent(std::uint32_t batches) {
  const std::uint64_t count = plan_.planned.program.parameter_count;
  const bool moments = first_.empty();
  const bool sums = batches > 1 && batch_sum_.empty();
  const std::uint64_t elements = (moments ? 2 * count + BlocksOf(count) : 0) + (sums ? count : 0);
  if (elements == 0) return base::OkStatus();
  const auto allocate = [&]() -> base::Status {
    if (elements * sizeof(float) > plan_.left) {
      return base::Unavailable(std::to_string(plan_.left) + " bytes are left");
    }
    if (moments) {
      ASSIGN_OR_RETURN(first_, AllocateSlabs(plan_.parameters));
      ASSIGN_OR_RETURN(second_, AllocateSlabs(plan_.parameters));
      ASSIGN_OR_RETURN(squares_, Allocate(BlocksOf(count)));
    }
    if (sums) {
      ASSIGN_OR_RETURN(batch_sum_, AllocateSlabs(plan_.parameters));
    }
    return base::OkStatus();
  };
  const std::size_t before = all_.size();
  const base::Status status = allocate();
  if (status.ok()) {
    plan_.left -= elements * sizeof(float);
    return status;
  }
  for (std::size_t i = before; i < all_.size(); ++i) device_.Free(all_[i]);
  all_.resize(before);
  if (moments) first_ = second_ = {};
  if (sums) batch_sum_ = {};
  return base::InvalidArgument("local steps need " + std::to_string(elements * sizeof(float)) +
                               " bytes more on " + device_.traits().name + ": " +
                               base::MessageOf(status));
}

base::StatusOr<std::vector<float>> DeviceRunner::ReadGradient() {
  if (added_ != 1) return base::FailedPrecondition("there is no gradient alone");
  return Checked(ReadAll(gradient_));
}

base::Status DeviceRunner::EndBatch() {
  if (ended_ >= batches_ || added_ == 0) {
    return base::FailedPrecondition("there is no batch of a local step that could end");
  }
  auto mean = Checked(MeanOfAdded());
  added_ = 0;
  RETURN_IF_ERROR(mean.status());
  batch_mean_ = *mean;
  if (batches_ > 1) {
    const DeviceSite site{.device = device_, .plan = plan_};
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
      const std::uint32_t count = Short(plan_.parameters[i].count);
      RETURN_IF_ERROR(
          Checked(site.RunOver(kRunAddBatch, count, Tensor{(**mean)[i]}, Tensor{batch_sum_[i]},
                               count, std::uint32_t{ended_ > 0 ? 1U : 0U})));
    }
  }
  ++ended_;
  if (ended_ < batches_ || batches_ == 1) return base::OkStatus();
  return Checked(
      MapVector(Map::kMulScalar, batch_sum_, batch_sum_, 1, static_cast<float>(1.0 / batches_)));
}

base::Status DeviceRunner::StepDescent(const aggregation::LocalSteps& plan, std::uint64_t done) {
  if (batches_ == 0 || ended_ < batches_) {
    return base::FailedPrecondition("a local step lacks batches");
  }
  RETURN_IF_ERROR(CheckFloatEnvironment());
  RETURN_IF_ERROR(Checked(StepDescentUnchecked(plan, done)));
  ended_ = 0;
  return base::OkStatus();
}

base::Status DeviceRunner::StepDescentUnchecked(const aggregation::LocalSteps& plan,
                                                std::uint64_t done) {
  const Vector& gradient = DescentGradient();
  ASSIGN_OR_RETURN(const double norm, GradientNorm(gradient));
  const float clip = aggregation::GradientClipFactor(norm, plan.clip_norm);
  const aggregation::simd::AdamFactors by =
      aggregation::AdamFactorsOf(aggregation::InnerUpdate(plan, done));
  const DeviceSite site{.device = device_, .plan = plan_};
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    const std::uint32_t count = Short(plan_.parameters[i].count);
    RETURN_IF_ERROR(site.RunOver(kRunAdamW, count, Tensor{gradient[i]}, Tensor{parameters_[i]},
                                 Tensor{first_[i]}, Tensor{second_[i]}, count, clip, by.rate,
                                 by.decay, by.keep_first, by.add_first, by.keep_second,
                                 by.add_second, by.correct_first, by.correct_second, by.epsilon));
  }
  return base::OkStatus();
}

// Blocks are those of the whole vector: one that lies in two slabs is the host's.
base::StatusOr<double> DeviceRunner::GradientNorm(const Vector& gradient) {
  const std::uint64_t total = plan_.planned.program.parameter_count;
  std::vector<float> squares(BlocksOf(total));
  std::vector<bool> on_device(squares.size());
  const DeviceSite site{.device = device_, .plan = plan_};
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    const Slab& slab = plan_.parameters[i];
    const std::uint64_t end = slab.begin + slab.count;
    const std::uint64_t first = BlocksOf(slab.begin);
    const std::uint64_t last = end == total ? squares.size() : end / kNormBlock;
    if (first >= last) continue;
    const std::uint64_t begin = first * kNormBlock;
    RETURN_IF_ERROR(site.RunRows(kRunBlockSquares, last - first,
                                 Tensor{gradient[i]} + (begin - slab.begin),
                                 Tensor{squares_} + first, Short(last - first), Short(kNormBlock),
                                 Short(std::min(last * kNormBlock, total) - begin)));
    std::fill(on_device.begin() + static_cast<std::ptrdiff_t>(first),
              on_device.begin() + static_cast<std::ptrdiff_t>(last), true);
  }
  RETURN_IF_ERROR(device_.Download(squares_, 0, std::as_writable_bytes(std::span(squares))));
  std::vector<float> block;
  double sum = 0;
  for (std::size_t b = 0; b < squares.size(); ++b) {
    if (!on_device[b]) {
      block.resize(std::min<std::uint64_t>(kNormBlock, total - b * kNormBlock));
      RETURN_IF_ERROR(Read(gradient, b * kNormBlock, block));
      aggregation::ZeroNonFinite(block);
      squares[b] = aggregation::simd::BestKernels().dot_itself(block.data(), block.size());
    }
    sum += double{squares[b]};
  }
  return std::sqrt(sum);
}

base::StatusOr<DeviceRunner::DescentState> DeviceRunner::ReadDescent() {
  if (batches_ == 0) return base::FailedPrecondition("there are no local steps");
  DescentState state;
  if (ended_ == batches_) {
    ASSIGN_OR_RETURN(state.gradient, Checked(ReadAll(DescentGradient())));
  }
  ASSIGN_OR_RETURN(state.y, Checked(ReadAll(parameters_)));
  ASSIGN_OR_RETURN(state.first, Checked(ReadAll(first_)));
  ASSIGN_OR_RETURN(state.second, Checked(ReadAll(second_)));
  return state;
}

base::StatusOr<std::vector<float>> DeviceRunner::ReadParameters() {
  if (!has_parameters_) return base::FailedPrecondition("the device has no parameters");
  return Checked(ReadAll(parameters_));
}

}  // namespace ostraka::exact
