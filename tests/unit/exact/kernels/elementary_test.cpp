// The elementary functions against libm in double, and at their special values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "tests/unit/exact/testing.h"

namespace ostraka::exact::elementary_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> Apply(Map map, std::vector<float> a, std::vector<float> b = {}) {
  std::vector<float> out(a.size());
  BestKernels().RunMap(map, {a.data(), b.data(), nullptr, 0, out.data(), a.size()});
  return out;
}

float ApplyOne(Map map, float a, float b = 0) { return Apply(map, {a}, {b}).front(); }

// The largest error over `from`..`to`, in units of 2^-24 of the value, or of `floor` if the value
// is smaller.
double WorstError(Map map, double from, double to, double floor,
                  const std::function<double(double)>& truth, bool backward = false) {
  constexpr int kPoints = 400'000;
  std::vector<float> x;
  for (int i = 0; i <= kPoints; ++i)
    x.push_back(static_cast<float>(from + (to - from) * i / kPoints));
  const std::vector<float> ones(x.size(), 1);
  const std::vector<float> got = backward ? Apply(map, ones, x) : Apply(map, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = truth(x[i]);
    const double scale = std::max(std::abs(expected), floor);
    worst = std::max(worst, std::abs(got[i] - expected) / scale * 0x1p24);
  }
  return worst;
}

double Normal(double x) { return 0.5 * (1 + std::erf(x / std::sqrt(2))); }
double Density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
double GeluTanhOf(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Elementary, ForwardFunctionsAreWithinAFewUnits) {
  EXPECT_LT(WorstError(Map::kExp, -87, 88.7, 0, [](double x) { return std::exp(x); }), 2);
  EXPECT_LT(WorstError(Map::kTanh, -12, 12, 0, [](double x) { return std::tanh(x); }), 4);
  EXPECT_LT(WorstError(Map::kErf, -6, 6, 0, [](double x) { return std::erf(x); }), 4);
  EXPECT_LT(WorstError(Map::kSigmoid, -20, 20, 0, Logistic), 5);
  EXPECT_LT(WorstError(Map::kSilu, -20, 20, 0, [](double x) { return x * Logistic(x); }), 5);
  EXPECT_LT(WorstError(Map::kGelu, -6, 6, 1, [](double x) { return x * Normal(x); }), 3);
  EXPECT_LT(WorstError(Map::kGeluTanh, -6, 6, 0.01, GeluTanhOf), 15);
}

TEST(Elementary, BackwardFunctionsAreTheSlopes) {
  const auto slope_of = [](double (*function)(double)) {
    return [function](double x) { return (function(x + 1e-5) - function(x - 1e-5)) / 2e-5; };
  };
  EXPECT_LT(
      WorstError(
          Map::kGeluBackward, -6, 6, 1, [](double x) { return Normal(x) + x * Density(x); }, true),
      5);
  EXPECT_LT(WorstError(Map::kGeluTanhBackward, -6, 6, 1, slope_of(GeluTanhOf), true), 40);
  EXPECT_LT(WorstError(Map::kSiluBackward, -20, 20, 1,
                       slope_of([](double x) { return x * Logistic(x); }), true),
            20);
}

TEST(Elementary, ExpIsDefinedAtItsEnds) {
  EXPECT_EQ(ApplyOne(Map::kExp, 0), 1);
  EXPECT_EQ(ApplyOne(Map::kExp, -0.0F), 1);
  EXPECT_GT(ApplyOne(Map::kExp, -87), 0x1p-126F);
  EXPECT_EQ(ApplyOne(Map::kExp, std::nextafter(-87.0F, -100.0F)), 0);
  EXPECT_EQ(ApplyOne(Map::kExp, -kInfinity), 0);
  EXPECT_LT(ApplyOne(Map::kExp, 0x1.62e42ep6F), kInfinity);
  EXPECT_EQ(ApplyOne(Map::kExp, 0x1.62e43p6F), kInfinity);
  EXPECT_EQ(ApplyOne(Map::kExp, 100), kInfinity);
  EXPECT_EQ(ApplyOne(Map::kExp, kInfinity), kInfinity);
}

TEST(Elementary, SaturatesWithoutNans) {
  EXPECT_EQ(ApplyOne(Map::kTanh, 50), 1);
  EXPECT_EQ(ApplyOne(Map::kTanh, -kInfinity), -1);
  EXPECT_EQ(ApplyOne(Map::kErf, kInfinity), 1);
  EXPECT_EQ(ApplyOne(Map::kErf, -4.5F), -1);
  EXPECT_EQ(ApplyOne(Map::kSigmoid, -kInfinity), 0);
  EXPECT_EQ(ApplyOne(Map::kSigmoid, kInfinity), 1);
  EXPECT_EQ(ApplyOne(Map::kSilu, -100), 0);
  EXPECT_EQ(ApplyOne(Map::kGeluTanh, -100), 0);
  EXPECT_EQ(ApplyOne(Map::kGeluTanh, 100), 100);
}

TEST(Elementary, ReluIsDefinedEverywhere) {
  EXPECT_EQ(testing::BitsOf(Apply(Map::kRelu, {-0.0F, -3, 0x1p-149F, 5, kInfinity})),
            testing::BitsOf({0.0F, 0, 0x1p-149F, 5, kInfinity}));
  EXPECT_EQ(testing::BitsOf(Apply(Map::kReluBackward, {7, 7, 7, 7}, {-1, 0, 2, -0.0F})),
            testing::BitsOf({0.0F, 0, 7, 0}));
}

TEST(Elementary, EveryNanBecomesTheCanonicalOne) {
  const auto nan = std::bit_cast<float>(0xffc01234U);
  for (std::size_t map = 0; map < kMapCount; ++map) {
    const std::vector<float> nans(3, nan);
    std::vector<float> out(3);
    BestKernels().maps[map]({nans.data(), nans.data(), nans.data(), 1, out.data(), 3});
    for (const float value : out) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(value), kCanonicalNanBits) << map;
    }
  }
}

TEST(Elementary, ArithmeticRoundsOnce) {
  std::vector<float> out(1);
  const auto run = [&](Map map, float a, float b, float s) {
    BestKernels().RunMap(map, {&a, &b, nullptr, s, out.data(), 1});
    return out[0];
  };
  EXPECT_EQ(run(Map::kAdd, 1, 0x1p-24F, 0), 1);
  EXPECT_EQ(run(Map::kSub, 3, 5, 0), -2);
  EXPECT_EQ(run(Map::kMul, 3, 5, 0), 15);
  EXPECT_EQ(run(Map::kDiv, 1, 3, 0), 1.0F / 3);
  EXPECT_EQ(run(Map::kAddScalar, 3, 0, 0.5F), 3.5F);
  EXPECT_EQ(run(Map::kMulScalar, 3, 0, -0.5F), -1.5F);
  EXPECT_EQ(run(Map::kDivScalar, 1, 0, 3), 1.0F / 3);
  EXPECT_EQ(run(Map::kRsqrt, 4, 0, 0), 0.5F);
  EXPECT_EQ(run(Map::kRsqrtBackward, 2, 0.5F, 0), -0.125F);
  EXPECT_EQ(run(Map::kTanhBackward, 2, 0.5F, 0), 1.5F);
  EXPECT_EQ(run(Map::kSigmoidBackward, 2, 0.25F, 0), 0.375F);
  const float g = 2;
  const float a = 3;
  const float b = 4;
  BestKernels().RunMap(Map::kDivBackward, {&g, &a, &b, 0, out.data(), 1});
  EXPECT_EQ(out[0], -2.0F * 3 / 16);
}

}  // namespace
}  // namespace ostraka::exact::elementary_test
