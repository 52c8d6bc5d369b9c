#include "aggregation/optim/optimizer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "tests/unit/aggregation/optim/naive_update.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::optimizer_test {
namespace {

OptimizerStep Step(Optimizer optimizer) {
  return {.optimizer = optimizer,
          .rate = 0.05F,
          .decay = 0.01F,
          .momentum = 0.9F,
          .clip_norm = 0,
          .beta1 = 0.9,
          .beta2 = 0.95,
          .epsilon = 1e-8,
          .updates = 7};
}

struct Memory {
  std::vector<float> x;
  std::vector<std::vector<float>> slots;
};

Memory RandomMemory(Optimizer optimizer, std::size_t size, std::uint64_t seed) {
  base::Rng rng(seed);
  Memory memory;
  const auto rows = testing::NormalRows(rng, 3, size);
  memory.x = rows[0];
  for (std::size_t k = 0; k < SlotNames(optimizer).size(); ++k) {
    memory.slots.push_back(rows[k + 1]);
    if (k == 1) {
      for (float& value : memory.slots[k]) value *= value;
    }
  }
  return memory;
}

void Advance(const OptimizerStep& step, float factor, std::span<const float> gradient,
             Memory& memory, const simd::Kernels& kernels) {
  const std::vector<std::span<float>> views(memory.slots.begin(), memory.slots.end());
  Update(step, factor, gradient, memory.x, views, kernels);
  const Extent whole = {0, memory.x.size()};
  MoveTensors(step, {{"x", {memory.x.size()}}}, {&whole, 1}, memory.x, views, kernels);
}

std::vector<std::uint64_t> Places(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = begin; at < end; ++at) places.push_back(at);
  return places;
}

TEST(Optimizers, AreFoundByTheirNames) {
  for (const Optimizer optimizer : AllOptimizers()) {
    EXPECT_EQ(FindOptimizer(OptimizerName(optimizer)), optimizer);
    EXPECT_FALSE(SlotNames(optimizer).empty());
  }
  EXPECT_EQ(OptimizerName(Optimizer::kAdamW), "adamw");
  EXPECT_FALSE(FindOptimizer("adam"));
  EXPECT_FALSE(FindOptimizer(""));
}

TEST(Update, RoundsEachOperationOnceAtEveryLevel) {
  base::Rng rng(3);
  for (const Optimizer optimizer : AllOptimizers()) {
    for (const std::size_t size : {1u, 8u, 4096u, 5003u}) {
      for (const float factor : {1.0F, 0.3F}) {
        const OptimizerStep step = Step(optimizer);
        const auto gradient = testing::NormalRows(rng, 1, size)[0];
        Memory naive = RandomMemory(optimizer, size, size);
        testing::NaiveUpdate(step, factor, gradient, naive.x, naive.slots);
        if (optimizer == Optimizer::kLamb) {
          testing::NaiveMove(step, Places(0, size), naive.x, naive.slots);
        }
        for (const simd::Level level : testing::SupportedLevels()) {
          Memory found = RandomMemory(optimizer, size, size);
          Advance(step, factor, gradient, found, simd::KernelsFor(level));
          EXPECT_TRUE(testing::SameBits(found.x, naive.x))
              << OptimizerName(optimizer) << " " << simd::LevelName(level) << " " << size;
          for (std::size_t k = 0; k < found.slots.size(); ++k) {
            EXPECT_TRUE(testing::SameBits(found.slots[k], naive.slots[k]))
                << OptimizerName(optimizer) << " " << simd::LevelName(level) << " slot " << k;
          }
        }
      }
    }
  }
}

TEST(Update, OfAdamWByHand) {
  std::vector<float> x = {1}, m = {0}, v = {0};
  OptimizerStep step = Step(Optimizer::kAdamW);
  step.beta1 = 0.5;
  step.beta2 = 0.75;
  step.epsilon = 0.5;
  step.rate = 0.25F;
  step.decay = 0.5F;
  step.updates = 1;
  const std::vector<std::span<float>> slots = {m, v};
  Update(step, 1, std::vector<float>{2}, x, slots);
  EXPECT_EQ(m[0], 1.0F);  // 0.5 * 2
  EXPECT_EQ(v[0], 1.0F);  // 0.25 * 4
  // Corrected, they are 2 and 4: u = 2 / (2 + 0.5) = 0.8.
  EXPECT_FLOAT_EQ(x[0], 1 - 0.25F * (0.8F + 0.5F));
}

TEST(Update, OfNesterovByHand) {
  std::vector<float> x = {1}, v = {2};
  OptimizerStep step = Step(Optimizer::kNesterov);
  step.rate = 0.5F;
  step.momentum = 0.25F;
  step.decay = 0.125F;
  const std::vector<std::span<float>> slots = {v};
  Update(step, 1, std::vector<float>{3}, x, slots);
  EXPECT_EQ(v[0], 3.5F);
  EXPECT_EQ(x[0], 1 - 0.5F * (3 + 0.25F * 3.5F + 0.125F));
}

TEST(Update, OfLambByHand) {
  // Two tensors: one whose direction is a quarter as long as it is, one of zeros.
  std::vector<float> x = {4, 0, 0}, m = {0, 0, 0}, v = {0, 0, 0};
  OptimizerStep step = Step(Optimizer::kLamb);
  step.beta1 = 0.5;
  step.beta2 = 0.75;
  step.epsilon = 1e-8;
  step.rate = 0.25F;
  step.decay = 0;
  step.updates = 1;
  const std::vector<std::span<float>> slots = {m, v};
  const Extent whole = {0, 3};
  Update(step, 1, std::vector<float>{2, 3, 3}, x, slots);
  EXPECT_EQ(x, (std::vector<float>{4, 0, 0})) << "moved before its tensor's length was known";
  MoveTensors(step, {{"a", {1}}, {"b", {2}}}, {&whole, 1}, x, slots);
  // After one step u is the sign of the gradient.
  EXPECT_FLOAT_EQ(x[0], 4 - 0.25F * 4);
  EXPECT_FLOAT_EQ(x[1], -0.25F) << "a tensor of zeros could never leave 0";
  EXPECT_FLOAT_EQ(x[2], -0.25F);
}

TEST(Update, OfLambTakesNoStepOfMoreThanTenTimesItsDirection) {
  std::vector<float> x = {100}, m = {0}, v = {0};
  OptimizerStep step = Step(Optimizer::kLamb);
  step.rate = 0.05F;
  step.decay = 0;
  step.updates = 1;
  const std::vector<std::span<float>> slots = {m, v};
  const Extent whole = {0, 1};
  Update(step, 1, std::vector<float>{2}, x, slots);
  MoveTensors(step, {{"a", {1}}}, {&whole, 1}, x, slots);
  EXPECT_FLOAT_EQ(x[0], 100 - 0.05F * 10);
}

// Cuts of columns go through tensors, and a void column is no part of a tensor's length.
TEST(MoveTensors, CountsAppliedCoordinatesOfItsTensorAlone) {
  const base::TensorLayout layout = {{"a", {7, 11}}, {"b", {}}, {"c", {4500}}, {"d", {9}}};
  const std::uint64_t size = base::ElementCount(layout);
  const std::vector<Extent> applied = {{0, 40}, {60, 70}, {75, 4321}, {4322, 4580}};
  const OptimizerStep step = Step(Optimizer::kLamb);
  Memory naive = RandomMemory(Optimizer::kLamb, size, 11);
  const Memory before = naive;
  std::uint64_t begin = 0;
  for (const base::TensorSpec& tensor : layout) {
    std::vector<std::uint64_t> places;
    for (std::uint64_t at = begin; at < begin + tensor.element_count(); ++at) {
      for (const Extent& extent : applied) {
        if (at >= extent.begin && at < extent.end) places.push_back(at);
      }
    }
    testing::NaiveMove(step, places, naive.x, naive.slots);
    begin += tensor.element_count();
  }
  for (const simd::Level level : testing::SupportedLevels()) {
    Memory found = before;
    const std::vector<std::span<float>> views(found.slots.begin(), found.slots.end());
    MoveTensors(step, layout, applied, found.x, views, simd::KernelsFor(level));
    EXPECT_TRUE(testing::SameBits(found.x, naive.x)) << simd::LevelName(level);
    EXPECT_EQ(found.x[50], before.x[50]) << "a void coordinate moved";
    EXPECT_NE(found.x[65], before.x[65]);
  }
}

TEST(MoveTensors, LeavesWhatOtherOptimizersMoved) {
  for (const Optimizer optimizer : {Optimizer::kSgd, Optimizer::kNesterov, Optimizer::kAdamW}) {
    Memory memory = RandomMemory(optimizer, 5, 1);
    const std::vector<float> before = memory.x;
    const std::vector<std::span<float>> views(memory.slots.begin(), memory.slots.end());
    const Extent whole = {0, 5};
    MoveTensors(Step(optimizer), {{"x", {5}}}, {&whole, 1}, memory.x, views);
    EXPECT_EQ(memory.x, before) << OptimizerName(optimizer);
  }
}

// inf - inf is a negative NaN on x86 and a positive one on ARM.
TEST(Update, StoresOneNanAndNoSubnormalInASlot) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Optimizer optimizer : AllOptimizers()) {
    OptimizerStep step = Step(optimizer);
    step.momentum = 0.5F;
    step.beta1 = step.beta2 = 0.5;
    for (const simd::Level level : testing::SupportedLevels()) {
      // By element: NaN everywhere, a slot that ends at a subnormal, one at the least normal.
      std::vector<float> x = {kInfinity, 1, 1};
      std::vector<std::vector<float>> slots(SlotNames(optimizer).size(),
                                            {-kInfinity, -0x1p-126F, 0x1p-125F});
      const std::vector<std::span<float>> views(slots.begin(), slots.end());
      const simd::Kernels& kernels = simd::KernelsFor(level);
      Update(step, 1, std::vector<float>{kInfinity, 0, 0}, x, views, kernels);
      const Extent whole = {0, 3};
      MoveTensors(step, {{"x", {3}}}, {&whole, 1}, x, views, kernels);
      const std::string name(simd::LevelName(level));
      EXPECT_EQ(std::bit_cast<std::uint32_t>(x[0]), 0x7fc00000U) << name;
      for (const auto& slot : slots) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(slot[0]), 0x7fc00000U) << name;
        EXPECT_EQ(std::bit_cast<std::uint32_t>(slot[1]), 0U) << name;
        EXPECT_EQ(slot[2], 0x1p-126F) << name;
      }
    }
  }
}

// docs/decisions/0025: with the limits of a manifest nothing can overflow.
TEST(Update, OfAdamWStaysFiniteAtTheLimitsOfAManifest) {
  OptimizerStep step = Step(Optimizer::kAdamW);
  step.rate = 1;
  step.decay = 1;
  step.beta1 = 0.999;
  step.beta2 = 0;
  step.epsilon = 1e-12;
  std::vector<float> x = {1e30F}, m = {1e6F}, v = {0};
  const std::vector<std::span<float>> slots = {m, v};
  for (step.updates = 1; step.updates <= 1000; ++step.updates) {
    const float g = step.updates % 2 == 1 ? 0 : 1e6F;
    Update(step, 1, std::vector<float>{g}, x, slots);
    ASSERT_TRUE(std::isfinite(x[0]) && std::isfinite(m[0]) && std::isfinite(v[0]));
  }
}

// A trust of ten and a rate of 0.1 together are 1: what decays never overshoots 0.
TEST(Update, OfLambStaysFiniteAtTheLimitsOfAManifest) {
  OptimizerStep step = Step(Optimizer::kLamb);
  step.rate = 0.1F;
  step.decay = 1;
  step.beta1 = 0.999;
  step.beta2 = 0;
  step.epsilon = 1e-12;
  std::vector<float> x = {1e30F}, m = {1e6F}, v = {0};
  const std::vector<std::span<float>> slots = {m, v};
  const Extent whole = {0, 1};
  for (step.updates = 1; step.updates <= 1000; ++step.updates) {
    const float g = step.updates % 2 == 1 ? 0 : 1e6F;
    Update(step, 1, std::vector<float>{g}, x, slots);
    MoveTensors(step, {{"x", {1}}}, {&whole, 1}, x, slots);
    ASSERT_TRUE(std::isfinite(x[0]) && std::isfinite(m[0]) && std::isfinite(v[0]));
  }
}

TEST(Power, IsThePowerAndEndsAtZero) {
  EXPECT_EQ(Power(0.5, 0), 1.0);
  EXPECT_EQ(Power(0.5, 10), 0x1p-10);
  EXPECT_EQ(Power(0, 1), 0.0);
  EXPECT_NEAR(Power(0.999, 1000), std::pow(static_cast<long double>(0.999), 1000), 1e-14);
  EXPECT_EQ(1.0 - Power(0.9999, 1'000'000'000'000), 1.0);
}

TEST(ClipFactor, ShrinksOnlyWhatIsLarger) {
  EXPECT_EQ(GradientClipFactor(4, 1), 0.25F);
  EXPECT_EQ(GradientClipFactor(1, 1), 1.0F);
  EXPECT_EQ(GradientClipFactor(0, 1), 1.0F);
  EXPECT_EQ(GradientClipFactor(1e300, 0), 1.0F) << "off";
}

TEST(SquareSum, IsTheNorm) {
  base::Rng rng(5);
  const auto row = testing::NormalRows(rng, 1, 1003)[0];
  long double sum = 0;
  for (const float value : row) sum += static_cast<long double>(value) * value;
  SquareSum found;
  found.Add(0, row);
  EXPECT_NEAR(found.Norm(), static_cast<double>(std::sqrt(sum)), 1e-12);
  EXPECT_EQ(SquareSum().Norm(), 0.0);
}

TEST(SquareSum, IsTheSameToTheBitInAnyCut) {
  base::Rng rng(6);
  const auto row = testing::NormalRows(rng, 1, 1003)[0];
  SquareSum whole;
  whole.Add(0, row);
  for (std::size_t cut = 0; cut <= row.size(); cut += 7) {
    SquareSum pieces;
    pieces.Add(0, std::span(row).first(cut));
    pieces.Add(cut, std::span(row).subspan(cut));
    EXPECT_EQ(pieces.Norm(), whole.Norm()) << cut;
  }
}

TEST(SquareSum, HoldsTheLargestFloats) {
  const std::vector<float> row(1000, std::numeric_limits<float>::max());
  SquareSum found;
  found.Add(0, row);
  EXPECT_TRUE(std::isfinite(found.Norm()));
}

}  // namespace
}  // namespace ostraka::aggregation::optimizer_test
