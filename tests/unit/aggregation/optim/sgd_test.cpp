#include "aggregation/optim/sgd.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::sgd_test {
namespace {

// Each operation stored to a volatile float: rounded once, never fused, whatever the compiler.
void SlowSgd(const SgdOptions& options, const std::vector<float>& gradient, std::vector<float>& x,
             std::vector<float>& v) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    volatile float kept = options.momentum * v[i];
    volatile float velocity = kept + gradient[i];
    volatile float decayed = options.decay * x[i];
    volatile float sum = velocity + decayed;
    volatile float step = options.rate * sum;
    x[i] = x[i] - step;
    v[i] = velocity;
  }
}

TEST(SgdStep, RoundsEachOperationOnceAtEveryLevel) {
  base::Rng rng(11);
  for (const std::size_t length : {1u, 8u, 1003u}) {
    const auto start = testing::NormalRows(rng, 3, length);
    const SgdOptions options{0.05f, 0.9f, 1e-3f};
    std::vector<float> x = start[1], v = start[2];
    for (int step = 0; step < 3; ++step) SlowSgd(options, start[0], x, v);
    for (const simd::Level level : testing::SupportedLevels()) {
      std::vector<float> found_x = start[1], found_v = start[2];
      for (int step = 0; step < 3; ++step) {
        SgdStep(options, start[0], found_x, found_v, simd::KernelsFor(level));
      }
      EXPECT_TRUE(testing::SameBits(found_x, x)) << simd::LevelName(level);
      EXPECT_TRUE(testing::SameBits(found_v, v)) << simd::LevelName(level);
    }
  }
}

TEST(SgdStep, MatchesHandComputedValues) {
  std::vector<float> x = {1.0f}, v = {2.0f};
  SgdStep({0.5f, 0.25f, 0.125f}, std::vector<float>{3.0f}, x, v);
  EXPECT_EQ(v[0], 3.5f);      // 0.25 * 2 + 3
  EXPECT_EQ(x[0], -0.8125f);  // 1 - 0.5 * (3.5 + 0.125 * 1)
}

TEST(SgdStep, EmptyIsFine) {
  std::vector<float> none;
  SgdStep({0.1f, 0, 0}, none, none, none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace ostraka::aggregation::sgd_test
