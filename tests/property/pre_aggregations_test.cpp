// Every pre-aggregation against its slow reference; worker_momentum is in history_rules_test.cpp.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/property/aggregation_draws.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::pre_aggregations_test {
namespace {

using testing::DrawMinority;
using testing::ExpectNear;
using testing::F;
using testing::Indices;
using testing::Matrix;
using testing::Mixed;
using testing::Vector;

void ExpectScaled(const Matrix& found, const Matrix& rows, long double limit) {
  RC_ASSERT(found.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Vector expected = testing::SlowRow(rows[i]);
    const long double factor = testing::ClipFactor(testing::SlowNorm(rows[i]), limit);
    for (long double& value : expected) value *= factor;
    ExpectNear(found[i], expected, {rows[i]});
  }
}

RC_GTEST_PROP(PreProperty, NearestNeighbourMixing, ()) {
  const auto [rows, f] = DrawMinority();
  const Matrix found = Mixed("nnm:" + F(f), rows);
  RC_ASSERT(found.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Vector distances = testing::SlowDistancesTo(rows, testing::SlowRow(rows[i]));
    const Indices nearest = testing::SlowSmallest(distances, rows.size() - f);
    ExpectNear(found[i], testing::SlowMeanOf(rows, nearest), rows);
  }
}

RC_GTEST_PROP(PreProperty, Clipping, ()) {
  const auto [rows, f] = DrawMinority();
  const int c = *rc::gen::inRange(1, 50);
  ExpectScaled(Mixed("clipping:c=" + std::to_string(c), rows), rows, c);
}

// The k longest rows are shortened to the longest of the others.
RC_GTEST_PROP(PreProperty, AdaptiveClipping, ()) {
  const auto [rows, f] = DrawMinority();
  const std::size_t n = rows.size();
  const std::size_t k = 2 * f * (n - f) / n;
  Vector lengths = testing::SlowNorms(rows);
  std::sort(lengths.begin(), lengths.end());
  lengths.resize(n - k);
  ExpectScaled(Mixed("arc:" + F(f), rows), rows, lengths.back());
}

// Unit vectors as rows show which rows share a bucket.
std::vector<Indices> BucketsOf(const std::string& text, std::size_t n) {
  Matrix unit(n, std::vector<float>(n, 0.0f));
  for (std::size_t i = 0; i < n; ++i) unit[i][i] = 1;
  std::vector<Indices> buckets;
  for (const auto& mean : Mixed(text, unit)) {
    buckets.emplace_back();
    for (std::size_t i = 0; i < n; ++i) {
      if (mean[i] != 0) buckets.back().push_back(i);
    }
  }
  return buckets;
}

RC_GTEST_PROP(PreProperty, Bucketing, ()) {
  const auto [rows, f] = DrawMinority(14);
  const std::size_t n = rows.size();
  const auto s = *rc::gen::inRange<std::size_t>(1, n + 2);
  const auto seed = *rc::gen::inRange(0, 1000);
  const std::string size = "bucketing:s=" + std::to_string(s);
  for (const std::string& text : {size + ",order=given", size + ",seed=" + std::to_string(seed)}) {
    const std::vector<Indices> buckets = BucketsOf(text, n);
    Indices all;
    for (std::size_t k = 0; k < buckets.size(); ++k) {
      RC_ASSERT(buckets[k].size() == (k + 1 < buckets.size() ? s : n - k * s));
      all.insert(all.end(), buckets[k].begin(), buckets[k].end());
    }
    const bool in_order = std::is_sorted(all.begin(), all.end());
    RC_ASSERT(in_order || text.find("given") == std::string::npos);
    std::sort(all.begin(), all.end());
    Indices every(n);
    std::iota(every.begin(), every.end(), std::size_t{0});
    RC_ASSERT(all == every);
    const Matrix found = Mixed(text, rows);
    RC_ASSERT(found.size() == buckets.size());
    for (std::size_t k = 0; k < buckets.size(); ++k) {
      ExpectNear(found[k], testing::SlowMeanOf(rows, buckets[k]), rows);
    }
  }
}

// Another seed gives other buckets, and any two rows meet about equally often.
TEST(Bucketing, DrawsItsBucketsFromTheSeed) {
  constexpr std::size_t kRows = 6;
  constexpr int kSeeds = 3000;
  std::vector<std::vector<int>> met(kRows, std::vector<int>(kRows, 0));
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const Indices& bucket : BucketsOf("bucketing:s=2,seed=" + std::to_string(seed), kRows)) {
      ++met[bucket[0]][bucket[1]];
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = i + 1; j < kRows; ++j) {
      EXPECT_NEAR(met[i][j], kSeeds / 5, 120);  // more than five standard deviations
    }
  }
}

}  // namespace
}  // namespace ostraka::aggregation::pre_aggregations_test
