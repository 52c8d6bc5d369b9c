#include "node/train/initial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tests/unit/train/digest_of.h"

namespace ostraka::train::initial_test {
namespace {

base::TensorLayout MlpLayout(std::uint64_t hidden) {
  return {{"layers.0.weight", {hidden, 64}},
          {"layers.0.bias", {hidden}},
          {"layers.1.weight", {10, hidden}},
          {"layers.1.bias", {10}}};
}

float LargestOf(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

// The fingerprint comes from an independent program.
TEST(UniformByFanIn, IsTheSameOnEveryMachine) {
  EXPECT_EQ(FingerprintOf(UniformByFanIn(MlpLayout(64), SeedOf(5))),
            "b222d57a4ae70351dfdf5e09aaeae5307b06fbeba5255337f147ebc5129d0785");
}

TEST(UniformByFanIn, FillsTheRangeOfEachTensorsFanIn) {
  const std::vector<float> values = UniformByFanIn(MlpLayout(400), SeedOf(1));
  ASSERT_EQ(values.size(), 400u * 64 + 400 + 4000 + 10);
  const std::span<const float> all(values);
  const auto expect_bound = [](std::span<const float> tensor, float bound) {
    EXPECT_LE(LargestOf(tensor), bound);
    EXPECT_GT(LargestOf(tensor), 0.7F * bound);
  };
  expect_bound(all.subspan(0, 400 * 64), 1.0F / 8);
  expect_bound(all.subspan(400 * 64, 400), 1.0F / 8);
  expect_bound(all.subspan(400 * 65, 4000), 1.0F / 20);
  expect_bound(all.subspan(400 * 65 + 4000, 10), 1.0F / 20);
}

TEST(UniformByFanIn, IsUniform) {
  const std::vector<float> values = UniformByFanIn({{"weight", {100, 100}}}, SeedOf(2));
  double mean = 0;
  double square = 0;
  for (const float value : values) {
    mean += value / 1e4;
    square += value * value / 1e4;
  }
  EXPECT_NEAR(mean, 0, 5 * 0.1 / std::sqrt(3e4));  // five standard deviations
  EXPECT_NEAR(square, 0.01 / 3, 5 * 0.01 * std::sqrt(4.0 / 45) / 100);
}

TEST(UniformByFanIn, DiffersByTensorAndBySeed) {
  const base::TensorLayout twice = {{"a", {8, 8}}, {"b", {8, 8}}};
  const std::vector<float> values = UniformByFanIn(twice, SeedOf(1));
  const std::vector<float> first(values.begin(), values.begin() + 64);
  const std::vector<float> second(values.begin() + 64, values.end());
  EXPECT_NE(first, second);
  EXPECT_NE(values, UniformByFanIn(twice, SeedOf(2)));
}

TEST(UniformByFanIn, TensorsAreIndependent) {
  const std::vector<float> values = UniformByFanIn({{"a", {8, 8}}, {"b", {4, 8}}}, SeedOf(1));
  const std::vector<float> larger = UniformByFanIn({{"a", {50, 8}}, {"b", {4, 8}}}, SeedOf(1));
  EXPECT_TRUE(std::equal(values.begin() + 64, values.end(), larger.begin() + 400, larger.end()));
}

}  // namespace
}  // namespace ostraka::train::initial_test
