// Rules by lengths, signs and histories against their slow references: in one call, and in many
// calls with the State passed from each to the next.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/property/aggregation_draws.h"
#include "tests/unit/aggregation/history_references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::history_rules_test {
namespace {

using testing::ExpectNear;
using testing::Matrix;
using testing::Mixed;
using testing::Run;
using testing::Vector;

base::Rng AnyRng() { return base::Rng(*rc::gen::arbitrary<std::uint64_t>()); }

RC_GTEST_PROP(HistoryProperty, SignGuard, ()) {
  base::Rng rng = AnyRng();
  Matrix rows = testing::NormalRows(rng, 3 + rng.Below(10), 1 + rng.Below(300));
  for (auto& row : rows) {
    testing::Multiply(row, testing::PowerOfTen(static_cast<int>(rng.Between(-1, 1))));
    // Some rows lean to one sign and some contain zeros, which gives clusters of signs.
    const auto lean = static_cast<float>(rng.Between(-1, 1));
    const bool zeros = rng.Chance(1, 3);
    for (float& value : row) value = zeros && rng.Chance(1, 4) ? 0.0f : value + lean;
  }
  const auto expected = testing::SlowSignGuard(rows, 0.5L, 2.0L);
  ExpectNear(Run("signguard:low=0.5,high=2", rows), expected, rows);
}

RC_GTEST_PROP(HistoryProperty, SafeguardOverManyCalls, ()) {
  base::Rng rng = AnyRng();
  const std::size_t n = 3 + rng.Below(8);
  const std::size_t d = 1 + rng.Below(8);
  const auto t0 = static_cast<std::size_t>(rng.Between(1, 4));
  const auto t1 = static_cast<std::size_t>(rng.Between(2, 9));
  const double th0 = 0.2 + rng.Unit();
  const double th1 = 0.3 + 2 * rng.Unit();
  const std::string text = "safeguard:T0=" + std::to_string(t0) + ",T1=" + std::to_string(t1) +
                           ",th0=" + std::to_string(th0) + ",th1=" + std::to_string(th1);
  // With the values as the text rounds them.
  testing::SlowSafeguard slow({t0, std::stod(std::to_string(th0))},
                              {t1, std::stod(std::to_string(th1))});
  State state;
  for (int call = 0; call < 10; ++call) {
    Matrix rows = testing::NormalRows(rng, n, d);
    if (rng.Chance(1, 2)) testing::Multiply(rows[rng.Below(n)], 8);
    // Two windows may expel each other's medians.
    if (!slow.trusts_any()) {
      const auto element = ParseElement(text);
      std::vector<float> out(d);
      const auto rule = MakeRule(element->name, element->arguments);
      const SerialExecutor executor;
      const Call again(executor, &state, nullptr);
      RC_ASSERT(!(*rule)->Aggregate(testing::RowsOf(rows), again, out).ok());
      return;
    }
    ExpectNear(Run(text, rows, nullptr, nullptr, &state), slow(rows), rows);
  }
  RC_ASSERT(state.calls == 10u);
}

// Cosines are of each row's sum over all calls; weights apply to this call's rows.
RC_GTEST_PROP(HistoryProperty, FoolsGoldOverManyCalls, ()) {
  base::Rng rng = AnyRng();
  const std::size_t n = 3 + rng.Below(6);
  const std::size_t d = 2 + rng.Below(8);
  State state;
  Matrix sums(n, std::vector<float>(d, 0.0f));
  for (int call = 0; call < 4; ++call) {
    Matrix rows(n, std::vector<float>(d));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < d; ++c) {  // eighths add exactly
        rows[i][c] = static_cast<float>(rng.Between(-4000, 4000)) / 8;
        sums[i][c] += rows[i][c];
      }
    }
    Vector weights = testing::SlowFoolsGold(sums);
    const long double sum = std::accumulate(weights.begin(), weights.end(), 0.0L);
    for (long double& w : weights) w /= sum;
    ExpectNear(Run("foolsgold", rows, nullptr, nullptr, &state),
               testing::SlowWeightedSum(rows, weights), rows, 1e-8);
  }
}

RC_GTEST_PROP(HistoryProperty, ClippedClusteringOverManyCalls, ()) {
  base::Rng rng = AnyRng();
  const std::size_t n = 3 + rng.Below(5);
  State state;
  Vector lengths;
  for (int call = 0; call < 4; ++call) {
    Matrix rows = testing::NormalRows(rng, n, 5);
    for (auto& row : rows) testing::Multiply(row, testing::PowerOfTen(call % 2));
    const Vector now = testing::SlowNorms(rows);
    lengths.insert(lengths.end(), now.begin(), now.end());
    std::sort(lengths.begin(), lengths.end());
    const long double limit = std::min(testing::MedianOfSorted(lengths), 12.0L);
    const testing::Indices kept = testing::SlowLargerCluster(rows);
    Vector weights(n, 0.0L);
    for (const std::size_t i : kept) {
      weights[i] = testing::ClipFactor(now[i], limit) / static_cast<long double>(kept.size());
    }
    ExpectNear(Run("clipped_clustering:largest=12", rows, nullptr, nullptr, &state),
               testing::SlowWeightedSum(rows, weights), rows);
  }
}

RC_GTEST_PROP(HistoryProperty, WorkerMomentumOverManyCalls, ()) {
  base::Rng rng = AnyRng();
  const std::size_t n = 1 + rng.Below(6);
  const std::size_t d = 1 + rng.Below(300);
  State state;
  std::vector<Vector> momentum(n, Vector(d, 0.0L));
  for (int call = 0; call < 5; ++call) {
    const Matrix rows = testing::NormalRows(rng, n, d);
    const Matrix found = Mixed("worker_momentum:beta=0.75", rows, &state);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < d; ++c) {
        momentum[i][c] = 0.75L * momentum[i][c] + 0.25L * rows[i][c];
      }
      ExpectNear(found[i], momentum[i], rows);
    }
  }
}

}  // namespace
}  // namespace ostraka::aggregation::history_rules_test
