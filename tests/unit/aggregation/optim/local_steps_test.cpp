#include "aggregation/optim/local_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "aggregation/optim/optimizer.h"

namespace ostraka::aggregation::local_steps_test {
namespace {

constexpr LocalSteps kPlan = {.count = 4,
                              .rate = 0.01,
                              .warmup = 2,
                              .clip_norm = 1,
                              .beta1 = 0.9,
                              .beta2 = 0.95,
                              .epsilon = 1e-8};

// docs/numerics.md, 2 and 10, written once more.
double NaiveNorm(const std::vector<float>& values) {
  double sum = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += 4096) {
    float lanes[16] = {};
    const std::size_t end = std::min(values.size(), begin + 4096);
    for (std::size_t i = begin; i < end; ++i) {
      float& lane = lanes[(i - begin) % 16];
      lane = std::fma(values[i], values[i], lane);
    }
    for (const std::size_t width : {8, 4, 2, 1}) {
      for (std::size_t i = 0; i < width; ++i) lanes[i] = lanes[i] + lanes[i + width];
    }
    sum = sum + double{lanes[0]};
  }
  return std::sqrt(sum);
}

std::vector<float> Drawn(std::size_t size, float scale) {
  std::mt19937 random(static_cast<std::uint32_t>(size));
  std::vector<float> values(size);
  for (float& value : values) {
    value = (static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F) * scale;
  }
  return values;
}

TEST(LocalSteps, TheNormIsTheWrittenOneAtEveryLevel) {
  for (const std::size_t size : {0, 1, 7, 8, 9, 15, 16, 17, 24, 4095, 4096, 4097, 9000}) {
    for (const float scale : {1.0F, 0x1p-70F, 0x1p60F}) {
      const std::vector<float> values = Drawn(size, scale);
      for (const simd::Level level : simd::kAllLevels) {
        if (!simd::IsSupported(level)) continue;
        EXPECT_EQ(BlockwiseNorm(values, simd::KernelsFor(level)), NaiveNorm(values))
            << size << " " << scale << " " << simd::LevelName(level);
      }
    }
  }
}

TEST(LocalSteps, SquaresBeyondFloatsMakeTheNormInfiniteAndTheStepZero) {
  std::vector<float> huge(3, std::numeric_limits<float>::max());
  EXPECT_EQ(BlockwiseNorm(huge), std::numeric_limits<double>::infinity());
  const std::vector<float> from = {1, 2, 3};
  LocalDescent descent(kPlan, from);
  descent.Step(huge);
  EXPECT_EQ(descent.TakeDistance(), std::vector<float>(3));
}

TEST(LocalSteps, AreAdamWFromMomentsOfZero) {
  const std::vector<float> from = Drawn(5000, 1);
  LocalDescent descent(kPlan, from);
  std::vector<float> expected = from;
  Descent naive(Optimizer::kAdamW, {{"x", {from.size()}}});
  for (std::uint64_t h = 0; h < kPlan.count; ++h) {
    std::vector<float> gradient = Drawn(5000, 0.1F * static_cast<float>(h + 1));
    const float factor = GradientClipFactor(NaiveNorm(gradient), kPlan.clip_norm);
    std::vector<float> clipped = gradient;
    if (factor != 1) {
      for (float& value : clipped) value *= factor;
    }
    naive.Step({.optimizer = Optimizer::kAdamW,
                .rate = h == 0 ? 0.005F : 0.01F,
                .beta1 = 0.9,
                .beta2 = 0.95,
                .epsilon = 1e-8,
                .updates = h + 1},
               clipped, expected);
    descent.Step(gradient);
    EXPECT_EQ(std::vector<float>(descent.at().begin(), descent.at().end()), expected) << h;
  }
  EXPECT_EQ(descent.count(), kPlan.count);
  const std::vector<float> distance = descent.TakeDistance();
  for (std::size_t i = 0; i < from.size(); ++i) EXPECT_EQ(distance[i], from[i] - expected[i]);
}

TEST(LocalSteps, ValuesThatAreNotFiniteMoveNothing) {
  const std::vector<float> from = {1, 2, 3, std::numeric_limits<float>::infinity()};
  LocalDescent descent(kPlan, from);
  std::vector<float> gradient = {std::nanf(""), -std::numeric_limits<float>::infinity(), 1, 0};
  descent.Step(gradient);
  const std::vector<float> distance = descent.TakeDistance();
  EXPECT_EQ(distance[0], 0);
  EXPECT_EQ(distance[1], 0);
  EXPECT_GT(distance[2], 0);
  EXPECT_EQ(distance[3], 0) << "infinity less itself";
}

}  // namespace
}  // namespace ostraka::aggregation::local_steps_test
