// Every rule of the registry against its slow reference, and what all rules promise together.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "aggregation/pipeline.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation {
namespace {

using testing::Indices;
using testing::Matrix;
using testing::RowsOf;
using testing::Vector;

// Rows without ties: a cluster and a few others, some of them far away.
struct Draw {
  Matrix rows;
  std::size_t f = 0;
};

Draw DrawRows(std::size_t least_rows, std::size_t most_rows, int rows_per_fault, int spare) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto n = static_cast<std::size_t>(
      rng.Between(static_cast<std::int64_t>(least_rows), static_cast<std::int64_t>(most_rows)));
  Draw draw{testing::NormalRows(rng, n, 1 + rng.Below(12)), 0};
  const std::size_t most =
      (n - static_cast<std::size_t>(spare)) / static_cast<std::size_t>(rows_per_fault);
  draw.f = rng.Below(most + 1);
  for (std::size_t i = 0; i < draw.f; ++i) {
    const double factor = testing::PowerOfTen(static_cast<int>(rng.Between(0, 6)));
    testing::Multiply(draw.rows[rng.Below(n)], factor);
  }
  return draw;
}
Draw DrawMinority(std::size_t most_rows = 11) { return DrawRows(3, most_rows, 2, 1); }

std::vector<float> Run(const std::string& text, const Matrix& rows, Report* report = nullptr,
                       const std::vector<float>* reference = nullptr) {
  const auto element = ParseElement(text);
  const auto rule = MakeRule(element->name, element->arguments);
  if (!rule.ok()) RC_FAIL(std::string(rule.status().message()));
  Rows view = RowsOf(rows);
  if (reference != nullptr) view.reference = reference->data();
  std::vector<float> out(view.dimension);
  const SerialExecutor executor;
  const base::Status status = (*rule)->Aggregate(view, Call(executor, nullptr, report), out);
  if (!status.ok()) RC_FAIL(text + ": " + std::string(status.message()));
  return out;
}

// Within float32's rounding of the result, and a little for sums of large rows in double.
void ExpectNear(const std::vector<float>& found, const Vector& expected, const Matrix& rows,
                double slack = 1e-12) {
  long double largest = 0;
  for (const auto& row : rows) largest = std::max(largest, testing::SlowNorm(row));
  RC_ASSERT(found.size() == expected.size());
  for (std::size_t c = 0; c < found.size(); ++c) {
    const long double allowed = std::abs(expected[c]) * 0x1p-23L + largest * slack + 1e-30L;
    RC_ASSERT(std::abs(found[c] - expected[c]) <= allowed);
  }
}

std::string F(std::size_t f) { return "f=" + std::to_string(f); }

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

RC_GTEST_PROP(ReferenceProperty, KrumInAllItsVariants, ()) {
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
  // The library measures from the median as it is stored, in float32.
  const auto median = Run("median", rows);
  const Vector to_median = testing::SlowDistancesTo(rows, testing::SlowRow(median));
  ExpectNear(Run("aksel:" + F(f), rows),
             testing::SlowMeanOf(rows, testing::SlowSmallest(to_median, (n + 1) / 2)), rows);
}

RC_GTEST_PROP(ReferenceProperty, FiltersOnTheDirectionOfMostVariance, ()) {
  const auto [rows, f] = DrawMinority();
  // A direction is only as sure as the gap below its eigenvalue: rows of one scale keep it open.
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

// --- all rules together --------------------------------------------------------------------------

// Each rule with what it requires; every other parameter at its default.
std::string TextOf(const RuleInfo& info, std::size_t f) {
  std::string text = std::string(info.about.name) + ":" + F(f);
  for (const ParameterInfo& parameter : info.about.parameters) {
    if (parameter.default_kind == Default::kRequired && parameter.name != "f") {
      text += "," + std::string(parameter.name) + "=5";
    }
  }
  return text;
}

template <typename Body>
void ForEachRule(const Matrix& rows, std::size_t f, const Body& body) {
  for (const RuleInfo* info : Rules()) {
    const auto element = ParseElement(TextOf(*info, f));
    const auto parameters = ParametersOf(info->about, "rule", element->arguments);
    const auto limit = info->about.largest_f(rows.size(), *parameters);
    if (limit && f <= *limit) body(*info, TextOf(*info, f));
  }
}

RC_GTEST_PROP(AllRulesProperty, ThreadsChangeNoBit, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const Matrix rows = testing::NormalRows(rng, 11, 1 + rng.Below(2500));
  const std::vector<float>& reference = rows[3];
  const testing::ThreadedExecutor threads(3);
  ForEachRule(rows, 2, [&](const RuleInfo&, const std::string& text) {
    const auto serial = Run(text, rows, nullptr, &reference);
    const auto element = ParseElement(text);
    const auto rule = MakeRule(element->name, element->arguments);
    Rows view = RowsOf(rows);
    view.reference = reference.data();
    std::vector<float> out(view.dimension);
    RC_ASSERT((*rule)->Aggregate(view, threads, out).ok());
    RC_ASSERT(testing::SameBits(out, serial));
  });
}

// Rules that say so do not care for the order of their rows, but for ties. Three rules meet ties on
// any rows: signguard's clusters lie on a grid of shares; bulyan's last choices look at a single
// neighbour, so that two rows that are nearest to each other score the same; and the pair that
// makes a diameter is in many subsets of mda.
RC_GTEST_PROP(AllRulesProperty, OrderOfRowsDoesNotMatter, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  Matrix rows = testing::NormalRows(rng, 11, 2 + rng.Below(40));
  const std::vector<float> reference = rows[0];
  Matrix shuffled = rows;
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[rng.Below(i)]);
  }
  ForEachRule(rows, 2, [&](const RuleInfo& info, const std::string& text) {
    const std::string_view name = info.about.name;
    const bool ties = name == "signguard" || name == "bulyan" || name == "mda";
    if (!info.about.exchangeable || ties) return;
    const auto a = Run(text, rows, nullptr, &reference);
    const auto b = Run(text, shuffled, nullptr, &reference);
    for (std::size_t c = 0; c < a.size(); ++c) {
      if (!(std::abs(a[c] - b[c]) <= 3e-5f)) RC_FAIL(text);
    }
  });
}

// Rows on a grid and an offset of 2^20 grid steps: exact in float32, so the selection and the
// moved result are too.
RC_GTEST_PROP(AllRulesProperty, ACommonOffsetMovesTheResultAndNoSelection, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  Matrix rows(11, std::vector<float>(1 + rng.Below(30)));
  for (auto& row : rows) {
    for (float& value : row) value = static_cast<float>(rng.Between(-8, 8)) / 8;
  }
  Matrix moved = rows;
  for (auto& row : moved) {
    for (float& value : row) value += 1048576.0f;
  }
  for (const char* name :
       {"krum", "multi_krum", "bulyan", "mda", "smea", "monna", "aksel", "median", "trimmed_mean",
        "meamed", "mean", "centered_clip", "geometric_median", "dnc"}) {
    const std::string text = std::string(name) + ":f=2";
    Report here, there;
    const auto a = Run(text, rows, &here);
    const auto b = Run(text, moved, &there);
    RC_ASSERT(here.selected == there.selected);
    for (std::size_t c = 0; c < a.size(); ++c)
      RC_ASSERT(std::abs(b[c] - 1048576.0f - a[c]) <= 0.15f);
  }
}

// f rows as far away as float32 allows, alike or not: the result stays with the honest rows.
RC_GTEST_PROP(AllRulesProperty, FaultyRowsCannotCarryARobustRuleAway, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  Matrix rows = testing::NormalRows(rng, 11, 1 + rng.Below(20));
  for (auto& row : rows) {
    for (float& value : row) value += 3;  // rules by angle need one
  }
  const std::vector<float> reference = rows[10];
  long double reach = 0;
  for (const auto& row : rows) reach = std::max(reach, testing::SlowNorm(row));
  const double factor = testing::PowerOfTen(static_cast<int>(rng.Between(3, 36)));
  testing::Multiply(rows[1], factor);
  testing::Multiply(rows[7], rng.Chance(1, 2) ? -factor : -factor / 3);
  if (rng.Chance(1, 2)) rows[7] = rows[1];
  // What these promise is another thing: nothing (mean), attackers that are alike (foolsgold), and
  // trust that is lost only after a call (safeguard).
  const std::vector<std::string_view> others = {"mean", "foolsgold", "safeguard"};
  ForEachRule(rows, 2, [&](const RuleInfo& info, const std::string& text) {
    if (std::find(others.begin(), others.end(), info.about.name) != others.end()) return;
    const auto out = Run(text, rows, nullptr, &reference);
    RC_ASSERT(testing::SlowNorm(out) <= 4 * reach);
  });
}

RC_GTEST_PROP(AllRulesProperty, EveryValueThatIsNotFiniteIsRefusedByName, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  Matrix rows = testing::NormalRows(rng, 11, 1 + rng.Below(700));
  const std::vector<float> reference = rows[0];
  const std::size_t row = rng.Below(rows.size());
  const std::size_t at = rng.Below(rows[0].size());
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity()};
  rows[row][at] = bad[rng.Below(3)];
  const std::string expected = "row " + std::to_string(row) + ", coordinate " + std::to_string(at);
  const auto names_it = [&](const base::Status& status) {
    return status.code() == absl::StatusCode::kInvalidArgument &&
           base::MessageOf(status).starts_with(expected + " is ");
  };
  Rows view = RowsOf(rows);
  view.reference = reference.data();
  ForEachRule(rows, 2, [&](const RuleInfo&, const std::string& text) {
    const auto element = ParseElement(text);
    std::vector<float> out(view.dimension);
    RC_ASSERT(names_it(MakeRule(element->name, element->arguments)
                           .value()
                           ->Aggregate(view, SerialExecutor(), out)));
  });
  for (const PreInfo* info : PreAggregations()) {
    const auto pre = MakePreAggregation(info->about.name, {{"f", "2"}});
    std::vector<float> out((*pre)->OutputRows(rows.size()) * view.dimension);
    RC_ASSERT(names_it((*pre)->Apply(view, SerialExecutor(), out)));
  }
}

}  // namespace
}  // namespace ostraka::aggregation
