// Every rule of the registry against its slow reference; rules with a state over many calls are in
// history_rules_test.cpp.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/property/aggregation_draws.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::aggregation_rules_test {
namespace {

using testing::DrawMinority;
using testing::DrawRows;
using testing::ExpectNear;
using testing::F;
using testing::Indices;
using testing::Matrix;
using testing::Run;
using testing::Vector;

RC_GTEST_PROP(ReferenceProperty, ColumnRules, ()) {
  const auto [rows, f] = DrawMinority(40);
  ExpectNear(Run("median", rows), testing::SlowMedian(rows), rows);
  ExpectNear(Run("median:variant=lower", rows), testing::SlowLowerMedian(rows), rows);
  ExpectNear(Run("trimmed_mean:" + F(f), rows), testing::SlowTrimmedMean(rows, f), rows);
  ExpectNear(Run("meamed:" + F(f), rows), testing::SlowMeamed(rows, f), rows);
  ExpectNear(Run("phocas:" + F(f), rows), testing::SlowPhocas(rows, f), rows);
  ExpectNear(Run("sign_majority", rows), testing::SlowSignMajority(rows), rows);
}

// Small integers: many ties, and arithmetic that is exact everywhere.
RC_GTEST_PROP(ReferenceProperty, ColumnRulesWithTies, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 20);
  const auto d = *rc::gen::inRange<std::size_t>(1, 300);
  const auto f = *rc::gen::inRange<std::size_t>(0, (n - 1) / 2 + 1);
  const auto rows = *rc::gen::container<Matrix>(
      n, rc::gen::container<std::vector<float>>(
             d, rc::gen::map(rc::gen::inRange(-3, 4), [](int v) { return 0.5f * v; })));
  ExpectNear(Run("median", rows), testing::SlowMedian(rows), rows);
  ExpectNear(Run("trimmed_mean:" + F(f), rows), testing::SlowTrimmedMean(rows, f), rows);
  ExpectNear(Run("meamed:" + F(f), rows), testing::SlowMeamed(rows, f), rows);
  ExpectNear(Run("sign_majority", rows), testing::SlowSignMajority(rows), rows);
}

RC_GTEST_PROP(ReferenceProperty, KrumInAllVariants, ()) {
  const auto [rows, f] = DrawRows(3, 12, 2, 3);
  const std::size_t n = rows.size();
  struct Variant {
    const char* name;
    std::size_t neighbours;
    int power;
    std::size_t count;
  };
  const std::size_t few = n > f + 2 ? n - f - 2 : 1;
  for (const Variant& variant :
       {Variant{"paper", few, 2, few}, Variant{"byzfl", n - f - 1, 2, n - f},
        Variant{"epfl", few, 4, 1}, Variant{"byzmom", n - f - 1, 1, few}}) {
    const Vector scores = testing::SlowKrumScores(rows, variant.neighbours, variant.power);
    const std::string given = std::string("variant=") + variant.name + "," + F(f);
    Report report;
    Run("krum:" + given, rows, &report);
    RC_ASSERT(report.selected == testing::SlowSmallest(scores, 1));
    const auto found = Run("multi_krum:" + given, rows, &report);
    const Indices expected = testing::SlowSmallest(scores, variant.count);
    RC_ASSERT(report.selected == expected);
    ExpectNear(found, testing::SlowMeanOf(rows, expected), rows);
  }
}

RC_GTEST_PROP(ReferenceProperty, Bulyan, ()) {
  const auto [rows, f] = DrawRows(3, 15, 4, 3);
  Report report;
  const auto found = Run("bulyan:" + F(f), rows, &report);
  const Indices chosen = testing::SlowBulyanSet(rows, f);
  RC_ASSERT(report.selected == chosen);
  Matrix kept;
  for (const std::size_t i : chosen) kept.push_back(rows[i]);
  const std::size_t beta = kept.size() - 2 * f;
  ExpectNear(found,
             testing::ByColumn(kept,
                               [&](const Vector& x) {
                                 return testing::MeanOfNearestTo(x, testing::MedianOfSorted(x),
                                                                 beta);
                               }),
             rows);
}

RC_GTEST_PROP(ReferenceProperty, SearchesOverSubsetsAreExact, ()) {
  const auto [rows, f] = DrawMinority(9);
  Report report;
  Indices narrowest, calmest;
  long double least_diameter = 0, least_variance = 0;
  for (const Indices& subset : testing::SubsetsOf(rows.size(), rows.size() - f)) {
    const long double diameter = testing::DiameterOf(rows, subset);
    const long double variance = testing::VarianceOf(rows, subset);
    if (narrowest.empty() || diameter < least_diameter) {
      narrowest = subset;
      least_diameter = diameter;
    }
    if (calmest.empty() || variance < least_variance * (1 - 1e-9L)) {
      calmest = subset;
      least_variance = variance;
    }
  }
  ExpectNear(Run("mda:" + F(f), rows, &report), testing::SlowMeanOf(rows, narrowest), rows);
  RC_ASSERT(report.selected == narrowest);
  ExpectNear(Run("smea:" + F(f), rows, &report), testing::SlowMeanOf(rows, calmest), rows);
  RC_ASSERT(report.selected == calmest);
  RC_ASSERT(std::abs(report.residual - least_variance) <= 1e-9L * least_variance + 1e-30L);
}

RC_GTEST_PROP(ReferenceProperty, NearestRows, ()) {
  const auto [rows, f] = DrawMinority();
  const std::size_t n = rows.size();
  ExpectNear(Run("cge:" + F(f), rows),
             testing::SlowMeanOf(rows, testing::SlowSmallest(testing::SlowNorms(rows), n - f)),
             rows);
  const std::size_t own = *rc::gen::inRange<std::size_t>(0, n);
  const Vector to_own = testing::SlowDistancesTo(rows, testing::SlowRow(rows[own]));
  ExpectNear(Run("monna:" + F(f) + ",idx=" + std::to_string(own), rows),
             testing::SlowMeanOf(rows, testing::SlowSmallest(to_own, n - f)), rows);
  // The library measures from the stored median, which is float32.
  const auto median = Run("median", rows);
  const Vector to_median = testing::SlowDistancesTo(rows, testing::SlowRow(median));
  ExpectNear(Run("aksel:" + F(f), rows),
             testing::SlowMeanOf(rows, testing::SlowSmallest(to_median, (n + 1) / 2)), rows);
}

RC_GTEST_PROP(ReferenceProperty, FiltersOnTheDirectionOfMostVariance, ()) {
  const auto [rows, f] = DrawMinority();
  // A direction is only as certain as the gap below its eigenvalue; rows of one scale keep the gap
  // large.
  for (const auto& row : rows) RC_PRE(testing::SlowNorm(row) < 100);
  const auto caf = Run("caf:" + F(f), rows);
  ExpectNear(caf, testing::SlowCaf(rows, f, false), rows, 1e-5);

  Vector mean;
  const auto v =
      testing::SlowTopEigen(testing::SlowCovariance(rows, Vector(rows.size(), 1.0L), mean)).second;
  Vector scores;
  for (const auto& row : rows) {
    Vector difference = testing::SlowRow(row);
    for (std::size_t c = 0; c < mean.size(); ++c) difference[c] -= mean[c];
    scores.push_back(std::pow(testing::Dot(difference, v), 2));
  }
  ExpectNear(Run("dnc:" + F(f), rows),
             testing::SlowMeanOf(rows, testing::SlowSmallest(scores, rows.size() - f)), rows);
}

RC_GTEST_PROP(ReferenceProperty, StepsTowardsACenter, ()) {
  const auto [rows, f] = DrawMinority();
  const std::size_t d = rows[0].size();
  const int steps = *rc::gen::inRange(1, 8);
  const std::string count = std::to_string(steps);
  std::vector<float> start(d);
  for (float& value : start) value = 0.25f * static_cast<float>(*rc::gen::inRange(-20, 21));
  const Vector from(start.begin(), start.end());
  ExpectNear(Run("centered_clip:variant=steps,tau=1.5,L=" + count, rows, nullptr, &start),
             testing::SlowClipSteps(rows, from, 1.5L, steps), rows, 1e-9);
  ExpectNear(Run("geometric_median:variant=weiszfeld,T=" + count, rows, nullptr, &start),
             testing::SlowWeiszfeld(rows, from, 0.1L, steps), rows, 1e-9);
  ExpectNear(Run("self_centered_clip:f=0,tau=2", rows, nullptr, &start),
             testing::SlowClipSteps(rows, from, 2.0L, 1), rows);
  Vector weights = testing::SlowNorms(rows);
  for (long double& w : weights) {
    w = testing::ClipFactor(w, 2) / static_cast<long double>(rows.size());
  }
  ExpectNear(Run("norm_clipping:c=2", rows), testing::SlowWeightedSum(rows, weights), rows);
}

// The converged geometric median: unit vectors towards the rows cancel, as far as float32 allows.
RC_GTEST_PROP(ReferenceProperty, TheGeometricMedianIsConverged, ()) {
  const auto [rows, f] = DrawMinority();
  const auto found = Run("geometric_median:nu=0.01", rows);
  const Vector far = testing::SlowWeiszfeld(rows, testing::SlowRow(found), 0.01L, 3000);
  long double largest = 0;
  for (const auto& row : rows) largest = std::max(largest, testing::SlowNorm(row));
  const auto objective = [&rows = rows](const Vector& v) {
    long double sum = 0;
    for (const long double distance : testing::SlowDistancesTo(rows, v)) {
      sum += distance < 0.01L ? (distance * distance / 0.02L + 0.005L) : distance;
    }
    return sum;
  };
  RC_ASSERT(objective(testing::SlowRow(found)) <= objective(far) + 1e-6L * largest);
}

RC_GTEST_PROP(ReferenceProperty, DefencesByDirection, ()) {
  const auto [rows, f] = DrawMinority(9);
  const std::size_t n = rows.size();
  const Vector norms = testing::SlowNorms(rows);
  Vector sorted = norms;
  std::sort(sorted.begin(), sorted.end());
  const long double middle = testing::MedianOfSorted(sorted);
  const auto clipped_mean = [&rows = rows, &norms, middle, n](const Indices& kept) {
    Vector weights(n, 0.0L);
    for (const std::size_t i : kept) {
      weights[i] = testing::ClipFactor(norms[i], middle) / static_cast<long double>(kept.size());
    }
    return testing::SlowWeightedSum(rows, weights);
  };
  if (rows[0].size() > 1) {  // with one coordinate every angle is 0 or 180 degrees: all ties
    ExpectNear(Run("clipped_clustering:largest=1e30", rows),
               clipped_mean(testing::SlowLargerCluster(rows)), rows);
    ExpectNear(Run("flame:epsilon=0", rows), clipped_mean(testing::SlowDensestMajority(rows)),
               rows);
    Vector gold = testing::SlowFoolsGold(rows);
    const long double sum = std::accumulate(gold.begin(), gold.end(), 0.0L);
    for (long double& w : gold) w /= sum;
    ExpectNear(Run("foolsgold", rows), testing::SlowWeightedSum(rows, gold), rows, 1e-9);
  }

  Vector trust(n, 0.0L);
  const std::vector<float> server = rows[n - 1];
  const Vector g = testing::SlowRow(server);
  for (std::size_t i = 0; i < n; ++i) {
    trust[i] = std::max(0.0L, testing::Cosine(testing::SlowRow(rows[i]), g));
  }
  const long double sum = std::accumulate(trust.begin(), trust.end(), 0.0L);
  for (std::size_t i = 0; i < n; ++i) trust[i] *= testing::SlowNorm(g) / norms[i] / sum;
  ExpectNear(Run("fltrust", rows, nullptr, &server), testing::SlowWeightedSum(rows, trust), rows);
}

}  // namespace
}  // namespace ostraka::aggregation::aggregation_rules_test
