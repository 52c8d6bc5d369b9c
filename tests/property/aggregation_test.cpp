// Promises of rules for all inputs; rapidcheck chooses and shrinks them.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "aggregation/kernels/projection.h"
#include "aggregation/rules/centered_clip.h"
#include "aggregation/rules/mean.h"
#include "tests/property/aggregation_draws.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::aggregation_test {
namespace {

using testing::AnyRows;
using testing::Matrix;
using testing::RowsOf;

Matrix TameRows(int max_rows, int max_dimension) {
  Matrix rows = AnyRows(max_rows, max_dimension);
  for (auto& row : rows) {
    for (float& value : row) value = std::clamp(value, -10.0f, 10.0f);
  }
  return rows;
}

double AnyTau() { return testing::PowerOfTen(*rc::gen::inRange(-4, 4)); }

std::vector<float> Clip(const Matrix& rows, double tau, double eps = 1e-6) {
  std::vector<float> out(rows[0].size());
  const auto status = CenteredClip({tau, eps}).Aggregate(RowsOf(rows), SerialExecutor(), out);
  RC_ASSERT(status.ok());
  return out;
}

long double Bound(const Matrix& rows, const std::vector<float>& out, double eps = 1e-6) {
  return static_cast<long double>(rows.size()) * (eps + 0x1p-23L * testing::SlowNorm(out));
}

RC_GTEST_PROP(CenteredClipProperty, ResidualIsWithinItsBoundForAnyRows, ()) {
  const Matrix rows = AnyRows(9, 12);
  const double tau = AnyTau();
  const auto out = Clip(rows, tau);
  RC_ASSERT(testing::SlowResidual(rows, out, tau) <= Bound(rows, out));
}

// If the minimum is not unique, another order may reach another minimum, but f is equal there.
RC_GTEST_PROP(CenteredClipProperty, OrderOfRowsDoesNotChangeTheObjective, ()) {
  const Matrix rows = TameRows(9, 6);
  const double tau = AnyTau();
  Matrix shuffled = rows;
  std::rotate(shuffled.begin(),
              shuffled.begin() +
                  *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(rows.size())),
              shuffled.end());
  if (*rc::gen::arbitrary<bool>()) std::reverse(shuffled.begin(), shuffled.end());
  const auto a = Clip(rows, tau);
  const auto b = Clip(shuffled, tau);
  // |f(a) - f(b)| <= residual * |a - b| by convexity.
  const long double slack = std::max(Bound(rows, a), Bound(rows, b)) * testing::SlowDistance(a, b);
  const long double difference =
      testing::SlowObjective(rows, a, tau) - testing::SlowObjective(rows, b, tau);
  RC_ASSERT(std::abs(difference) <= slack + 1e-9L);
}

RC_GTEST_PROP(CenteredClipProperty, IsTranslationEquivariant, ()) {
  const Matrix rows = TameRows(9, 6);
  const double tau = AnyTau();
  Matrix moved = rows;
  // Multiples of 1/8 below 2^10 add exactly to multiples of 1/2; others round, within the slack.
  const float shift = static_cast<float>(*rc::gen::inRange(-800, 801)) / 8;
  for (auto& row : moved) {
    for (float& value : row) value += shift;
  }
  std::vector<float> back = Clip(moved, tau);
  const long double bound = Bound(moved, back);
  for (float& value : back) value -= shift;
  const auto d = static_cast<long double>(back.size());
  const long double rounding =
      static_cast<long double>(rows.size()) * 0x1p-22L * 120 * std::sqrt(d);
  RC_ASSERT(testing::SlowResidual(rows, back, tau) <= bound + 2 * rounding);
}

RC_GTEST_PROP(CenteredClipProperty, StaysInTheBoxOfItsRows, ()) {
  const Matrix rows = AnyRows(9, 6);
  const auto out = Clip(rows, AnyTau());
  for (std::size_t c = 0; c < out.size(); ++c) {
    float low = rows[0][c], high = rows[0][c], largest = 0;
    for (const auto& row : rows) {
      low = std::min(low, row[c]);
      high = std::max(high, row[c]);
      largest = std::max(largest, std::abs(row[c]));
    }
    const float slack = largest * 0x1p-22f;
    RC_ASSERT(out[c] >= low - slack);
    RC_ASSERT(out[c] <= high + slack);
  }
}

RC_GTEST_PROP(RuleProperty, LevelsAndExecutorsAgreeOnEveryBit, ()) {
  const Matrix rows = AnyRows(7, 700);
  const double tau = AnyTau();
  const testing::ThreadedExecutor threads(3);
  std::vector<float> clip = Clip(rows, tau);
  std::vector<float> mean(clip.size());
  RC_ASSERT(Mean().Aggregate(RowsOf(rows), SerialExecutor(), mean).ok());
  for (const simd::Level level : testing::SupportedLevels()) {
    const simd::Kernels& kernels = simd::KernelsFor(level);
    std::vector<float> out(clip.size());
    RC_ASSERT(CenteredClip({tau, 1e-6}, kernels).Aggregate(RowsOf(rows), threads, out).ok());
    RC_ASSERT(testing::SameBits(out, clip));
    RC_ASSERT(Mean(kernels).Aggregate(RowsOf(rows), threads, out).ok());
    RC_ASSERT(testing::SameBits(out, mean));
  }
}

RC_GTEST_PROP(RuleProperty, SingleNonFiniteValueIsFoundAndNamed, ()) {
  Matrix rows = AnyRows(6, 600);
  const auto row = static_cast<std::size_t>(*rc::gen::inRange<std::size_t>(0, rows.size()));
  const auto at = static_cast<std::size_t>(*rc::gen::inRange<std::size_t>(0, rows[0].size()));
  rows[row][at] = *rc::gen::element(std::numeric_limits<float>::quiet_NaN(),
                                    std::numeric_limits<float>::infinity(),
                                    -std::numeric_limits<float>::infinity());
  const std::string expected = "row " + std::to_string(row) + ", coordinate " + std::to_string(at);
  std::vector<float> out(rows[0].size());
  for (const Rule* rule : {static_cast<const Rule*>(new CenteredClip({1.0, 1e-6})),
                           static_cast<const Rule*>(new Mean())}) {
    const std::unique_ptr<const Rule> owned(rule);
    const base::Status status = owned->Aggregate(RowsOf(rows), SerialExecutor(), out);
    RC_ASSERT(status.code() == absl::StatusCode::kInvalidArgument);
    RC_ASSERT(base::MessageOf(status).starts_with(expected + " is "));
  }
}

// V2's sum check (docs/protocol/numbers.md): the projections of honest parts about an honest
// aggregate cancel to within T = 8 n (eps + 2^-23 |out|) / sqrt(p), with probability 1 - 2e^-32 a
// direction.
RC_GTEST_PROP(ProjectionProperty, AnHonestAggregatorPassesTheSumCheck, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  base::Rng rng(seed);
  const auto family = *rc::gen::elementOf(std::vector<testing::Family>(
      std::begin(testing::kAllFamilies), std::end(testing::kAllFamilies)));
  const Matrix rows = testing::HostileRows(rng, family, 1 + rng.Below(12), 2 + rng.Below(300));
  const double tau = AnyTau();
  const auto out = Clip(rows, tau);
  std::vector<std::uint8_t> signs(SignBytes(out.size()));
  for (auto& byte : signs) byte = static_cast<std::uint8_t>(rng.Below(256));
  std::array<double, kProjectionCount> sums{};
  for (const auto& row : rows) {
    const Projection projection = ClippedProjection(row, out, tau, signs);
    for (std::size_t k = 0; k < kProjectionCount; ++k) sums[k] += projection.s[k];
  }
  const auto threshold =
      static_cast<double>(8 * Bound(rows, out) / std::sqrt(static_cast<long double>(out.size())));
  for (const double sum : sums) RC_ASSERT(std::abs(sum) <= threshold);
}

}  // namespace
}  // namespace ostraka::aggregation::aggregation_test
