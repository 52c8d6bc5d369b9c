// V2 from both sides: an honest aggregator never fails it, and one that shifts its result does.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "aggregation/kernels/projection.h"
#include "node/base/rng.h"
#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/rules/columns.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::protocol_columns_test {
namespace {

constexpr double kEps = 1e-6;

SharedBlob BlobOf(const std::vector<float>& values) {
  const base::ByteView bytes = base::AsBytes(std::span(values));
  return crypto::MakeBlob({bytes.begin(), bytes.end()});
}

std::vector<float> RandomRow(base::Rng rng, std::size_t length, double scale, double offset) {
  std::vector<float> row(length);
  for (float& value : row) value = static_cast<float>(offset + scale * rng.Normal());
  return row;
}

JobResult Run(const JobSpec& spec) {
  return RunJob(
      spec, [](const GradientSpec&) { return base::Internal("no gradients here"); },
      aggregation::SerialExecutor());
}

// The largest of the four sums over its tolerance: V2 passes up to 1.
double SumsOverTolerance(const std::vector<std::vector<float>>& rows, const SharedBlob& result,
                         double tau, std::uint64_t seed) {
  const std::size_t length = rows.front().size();
  const Column column{0, {0, length}, result, scene::DigestOf(seed)};
  std::array<double, wire::kDirections> sums{};
  for (const auto& row : rows) {
    const wire::ColumnNumbers numbers = NumbersOf(row, column, tau);
    EXPECT_TRUE(InHonestRange(numbers, length, tau));
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += numbers.s[k];
  }
  const double tolerance =
      SumTolerance(rows.size(), kEps, SizeOf(Codec::kRaw, *result, length), length);
  double worst = 0;
  for (const double sum : sums) worst = std::max(worst, std::abs(sum) / tolerance);
  return worst;
}

SharedBlob Aggregated(const std::vector<std::vector<float>>& rows, double tau) {
  AggregateSpec spec;
  spec.size = rows.front().size();
  for (const auto& row : rows) spec.parts.push_back(BlobOf(row));
  spec.tau = tau;
  spec.eps = kEps;
  const JobResult result = Run(spec);
  if (const auto* failed = std::get_if<JobFailed>(&result)) RC_FAIL(failed->reason);
  return std::get<AggregateResult>(result).result;
}

double PowerOfTen(int low, int high) { return std::pow(10.0, *rc::gen::inRange(low, high + 1)); }

RC_GTEST_PROP(SumCheckProperty, AnHonestAggregatePasses, ()) {
  const std::size_t honest = *rc::gen::inRange<std::size_t>(1, 10);
  const std::size_t outliers = *rc::gen::inRange<std::size_t>(0, honest);
  const std::size_t length = *rc::gen::inRange<std::size_t>(2, 2000);
  const double scale = PowerOfTen(-4, 3);
  const double tau = scale * PowerOfTen(-3, 2);
  const double far = scale * PowerOfTen(0, 30);
  const base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < honest; ++i) {
    rows.push_back(RandomRow(rng.Fork("honest", i), length, scale, scale));
  }
  const bool together = *rc::gen::arbitrary<bool>();
  for (std::size_t i = 0; i < outliers; ++i) {
    const double side = together || i % 2 == 0 ? 1.0 : -1.0;
    rows.push_back(RandomRow(rng.Fork("outlier", i), length, far, side * far));
  }
  const SharedBlob result = Aggregated(rows, tau);
  RC_ASSERT(HoldsValues(Codec::kRaw, result->data, length));
  RC_ASSERT(SumsOverTolerance(rows, result, tau, 1) <= 1.0);
}

// A shift of a thousandth of the radius, in any direction. Each direction z sees the shift u with
// <z, u> near |u| / sqrt(p); that all four miss has a probability below 1e-8 here.
RC_GTEST_PROP(SumCheckProperty, AShiftedAggregateFails, ()) {
  const std::size_t count = *rc::gen::inRange<std::size_t>(3, 10);
  const std::size_t length = *rc::gen::inRange<std::size_t>(2, 2000);
  const base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(RandomRow(rng.Fork("row", i), length, 1.0, 0.0));
  }
  const double tau = 2 * std::sqrt(static_cast<double>(length));  // most rows are not clipped
  const SharedBlob result = Aggregated(rows, tau);
  const Values values(Codec::kRaw, *result, length);
  std::vector<float> shifted(values.span().begin(), values.span().end());
  const bool one_coordinate = *rc::gen::arbitrary<bool>();
  if (one_coordinate) {
    shifted[*rc::gen::inRange<std::size_t>(0, length)] += static_cast<float>(1e-3 * tau);
  } else {
    const auto direction = RandomRow(rng.Fork("shift"), length, 1.0, 0.0);
    const double norm = aggregation::Norm(direction);
    for (std::size_t c = 0; c < length; ++c) {
      shifted[c] += static_cast<float>(1e-3 * tau / norm * direction[c]);
    }
  }
  RC_ASSERT(SumsOverTolerance(rows, result, tau, 1) <= 1.0);
  RC_ASSERT(SumsOverTolerance(rows, BlobOf(shifted), tau, 1) > 1.0);
}

// The aggregation library promises equal bits for any Executor; the protocol promises that packing
// and summing lose nothing of a gradient.
RC_GTEST_PROP(PackProperty, PartsAreTheGradient, ()) {
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 20);
  const std::size_t dimension = *rc::gen::inRange<std::size_t>(count, 500);
  const auto gradient = std::make_shared<const std::vector<float>>(
      RandomRow(base::Rng(*rc::gen::arbitrary<std::uint64_t>()), dimension, 1.0, 0.0));
  const auto packed =
      std::get<PackResult>(Run(PackSpec{gradient, CutParts(dimension, count), true}));
  std::vector<float> together;
  for (const SharedBlob& part : packed.parts) {
    const Values values(Codec::kRaw, *part, part->data.size() / sizeof(float));
    together.insert(together.end(), values.span().begin(), values.span().end());
  }
  RC_ASSERT(together == *gradient);
}

}  // namespace
}  // namespace ostraka::protocol::protocol_columns_test
