#include "aggregation/optim/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "aggregation/optim/sgd.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

constexpr std::array<std::string_view, 1> kVelocity = {kVelocitySlot};
constexpr std::array<std::string_view, 2> kMoments = {kFirstMomentSlot, kSecondMomentSlot};

struct Entry {
  Optimizer optimizer;
  std::string_view name;
  std::span<const std::string_view> slots;
};
constexpr std::array<Entry, 4> kEntries = {{
    {Optimizer::kSgd, "sgd", kVelocity},
    {Optimizer::kNesterov, "nesterov", kVelocity},
    {Optimizer::kAdamW, "adamw", kMoments},
    {Optimizer::kLamb, "lamb", kMoments},
}};
constexpr std::array<Optimizer, 4> kAll = {Optimizer::kSgd, Optimizer::kNesterov, Optimizer::kAdamW,
                                           Optimizer::kLamb};

constexpr double kMostTrust = 10;  // LAMB's limit of |x| / |r|
constexpr std::size_t kBlock = 4096;

const Entry& EntryOf(Optimizer optimizer) { return kEntries[static_cast<std::size_t>(optimizer)]; }

void UpdateBlock(const OptimizerStep& step, const simd::AdamFactors& factors,
                 std::span<const float> gradient, std::span<float> parameters,
                 std::span<const std::span<float>> slots, std::size_t begin,
                 const simd::Kernels& kernels) {
  const std::size_t size = gradient.size();
  float* const x = parameters.data() + begin;
  switch (step.optimizer) {
    case Optimizer::kSgd:
      SgdStep({step.rate, step.momentum, step.decay}, gradient, {x, size},
              slots[0].subspan(begin, size), kernels);
      return;
    case Optimizer::kNesterov:
      kernels.nesterov(step.rate, step.momentum, step.decay, gradient.data(), x,
                       slots[0].data() + begin, size);
      return;
    case Optimizer::kAdamW:
      kernels.adamw(factors, gradient.data(), x, slots[0].data() + begin, slots[1].data() + begin,
                    size);
      return;
    case Optimizer::kLamb:
      kernels.adam_moments(factors, gradient.data(), slots[0].data() + begin,
                           slots[1].data() + begin, size);
      return;
  }
}

// The coordinates that two extents share; begin = end if there are none.
Extent Common(const Extent& a, const Extent& b) {
  const std::uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// |x| / |r| over the coordinates of one tensor.
float TrustOf(const simd::AdamFactors& factors, std::span<const Extent> pieces,
              std::span<const float> parameters, std::span<const std::span<float>> slots,
              const simd::Kernels& kernels) {
  SquareSum weights;
  SquareSum directions;
  std::array<float, kBlock> direction;
  for (const Extent& piece : pieces) {
    for (std::uint64_t at = piece.begin; at < piece.end; at += kBlock) {
      const std::size_t size = std::min<std::uint64_t>(kBlock, piece.end - at);
      kernels.lamb_direction(factors, parameters.data() + at, slots[0].data() + at,
                             slots[1].data() + at, direction.data(), size);
      weights.Add(at, parameters.subspan(at, size));
      directions.Add(at, std::span(direction).first(size));
    }
  }
  const double length = weights.Norm();
  const double step = directions.Norm();
  if (length == 0 || step == 0) return 1;
  const double trust = length / step;
  return static_cast<float>(trust < kMostTrust ? trust : kMostTrust);
}

}  // namespace

std::string_view OptimizerName(Optimizer optimizer) { return EntryOf(optimizer).name; }

std::optional<Optimizer> FindOptimizer(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.optimizer;
  }
  return std::nullopt;
}

std::span<const Optimizer> AllOptimizers() { return kAll; }

std::span<const std::string_view> SlotNames(Optimizer optimizer) {
  return EntryOf(optimizer).slots;
}

bool HasMoments(Optimizer optimizer) {
  return optimizer == Optimizer::kAdamW || optimizer == Optimizer::kLamb;
}

double Power(double b, std::uint64_t n) {
  double result = 1;
  for (; n > 0; n >>= 1) {
    if (n & 1) result = result * b;
    b = b * b;
  }
  return result;
}

simd::AdamFactors AdamFactorsOf(const OptimizerStep& step) {
  const double left1 = 1.0 - Power(step.beta1, step.updates);
  const double left2 = 1.0 - Power(step.beta2, step.updates);
  return {.rate = step.rate,
          .decay = step.decay,
          .keep_first = static_cast<float>(step.beta1),
          .add_first = static_cast<float>(1.0 - step.beta1),
          .keep_second = static_cast<float>(step.beta2),
          .add_second = static_cast<float>(1.0 - step.beta2),
          .correct_first = static_cast<float>(1.0 / left1),
          .correct_second = static_cast<float>(1.0 / std::sqrt(left2)),
          .epsilon = static_cast<float>(step.epsilon)};
}

// A product of two floats is exact in double, so only the sum rounds.
void SquareSum::Add(std::uint64_t first, std::span<const float> values) {
  const auto add = [this](std::size_t lane, float value) {
    const auto wide = static_cast<double>(value);
    lanes_[lane] += wide * wide;
  };
  std::size_t at = 0;
  while (at < values.size() && (first + at) % kLanes != 0) {
    add((first + at) % kLanes, values[at]);
    ++at;
  }
  for (; values.size() - at >= kLanes; at += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, values[at + lane]);
  }
  for (std::size_t lane = 0; at < values.size(); ++lane, ++at) add(lane, values[at]);
}

double SquareSum::Norm() const {
  double sums[kLanes];
  std::copy(std::begin(lanes_), std::end(lanes_), std::begin(sums));
  for (const std::size_t width : {8, 4, 2, 1}) {
    for (std::size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return std::sqrt(sums[0]);
}

float GradientClipFactor(double norm, double clip_norm) {
  return clip_norm > 0 && norm > clip_norm ? static_cast<float>(clip_norm / norm) : 1.0F;
}

void Update(const OptimizerStep& step, float factor, std::span<const float> gradient,
            std::span<float> parameters, std::span<const std::span<float>> slots,
            const simd::Kernels& kernels) {
  OSTRAKA_CHECK(slots.size() == SlotNames(step.optimizer).size());
  OSTRAKA_CHECK(gradient.size() == parameters.size());
  for (const auto& slot : slots) OSTRAKA_CHECK(slot.size() == parameters.size());
  const simd::AdamFactors factors =
      HasMoments(step.optimizer) ? AdamFactorsOf(step) : simd::AdamFactors{};
  if (factor == 1.0F) {
    UpdateBlock(step, factors, gradient, parameters, slots, 0, kernels);
    return;
  }
  std::array<float, kBlock> scaled;
  for (std::size_t begin = 0; begin < gradient.size(); begin += scaled.size()) {
    const std::size_t size = std::min(scaled.size(), gradient.size() - begin);
    for (std::size_t i = 0; i < size; ++i) scaled[i] = gradient[begin + i] * factor;
    UpdateBlock(step, factors, std::span(scaled).first(size), parameters, slots, begin, kernels);
  }
}

void MoveTensors(const OptimizerStep& step, const base::TensorLayout& layout,
                 std::span<const Extent> applied, std::span<float> parameters,
                 std::span<const std::span<float>> slots, const simd::Kernels& kernels) {
  if (step.optimizer != Optimizer::kLamb) return;
  OSTRAKA_CHECK(base::ElementCount(layout) == parameters.size());
  simd::AdamFactors factors = AdamFactorsOf(step);
  std::vector<Extent> pieces;
  Extent tensor;
  for (const base::TensorSpec& spec : layout) {
    tensor = {tensor.end, tensor.end + spec.element_count()};
    pieces.clear();
    for (const Extent& extent : applied) pieces.push_back(Common(extent, tensor));
    factors.rate = step.rate * TrustOf(factors, pieces, parameters, slots, kernels);
    for (const Extent& piece : pieces) {
      kernels.lamb_move(factors, parameters.data() + piece.begin, slots[0].data() + piece.begin,
                        slots[1].data() + piece.begin, piece.end - piece.begin);
    }
  }
}

Descent::Descent(Optimizer optimizer, base::TensorLayout layout)
    : layout_(std::move(layout)),
      slots_(SlotNames(optimizer).size(), std::vector<float>(base::ElementCount(layout_))) {}

void Descent::Step(const OptimizerStep& step, std::span<const float> gradient,
                   std::span<float> parameters) {
  SquareSum sum;
  sum.Add(0, gradient);
  const std::vector<std::span<float>> slots(slots_.begin(), slots_.end());
  Update(step, GradientClipFactor(sum.Norm(), step.clip_norm), gradient, parameters, slots);
  const Extent whole = {0, gradient.size()};
  MoveTensors(step, layout_, {&whole, 1}, parameters, slots);
}

}  // namespace ostraka::aggregation
