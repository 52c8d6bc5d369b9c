// Defects found in published libraries (../shared/research/aggregation.md, 1d), each as a test that
// we pass, by its number there. 4 (four Krums) are known answers in golden_test.cpp and references
// in tests/property/aggregation_rules_test.cpp; 10 (searches that miss a third of the damage) is
// attack_search_test.cpp; 11 and 12 concern programs around rules.
#include <gtest/gtest.h>

#include <limits>

#include "aggregation/rules/pipeline.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::defects_test {
namespace {

using testing::Indices;
using testing::Matrix;
using testing::RowsOf;

std::vector<float> RunRule(const std::string& text, const Matrix& rows, Report* report = nullptr) {
  const auto element = ParseElement(text);
  const auto rule = MakeRule(element->name, element->arguments);
  EXPECT_TRUE(rule.ok()) << rule.status();
  std::vector<float> out(rows[0].size());
  const SerialExecutor executor;
  const base::Status status =
      (*rule)->Aggregate(RowsOf(rows), Call(executor, nullptr, report), out);
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

// 1. A far row makes the published CAF loop 3,362 times (at 1e3), or for ever (from 1e5 on).
TEST(Defects, CafTerminatesHoweverFarARowIs) {
  base::Rng rng(1);
  for (const float distance : {1e2f, 1e3f, 1e5f, 1e10f, 1e30f}) {
    Matrix rows = testing::NormalRows(rng, 9, 20);
    for (float& value : rows[4]) value = distance;
    Report report;
    const auto out = RunRule("caf:f=2", rows, &report);
    EXPECT_LE(report.iterations, 9u);
    EXPECT_LT(testing::SlowNorm(out), 10);
  }
}

// 2. An estimate of the eigenvalue by one power step chose the wrong subset in 35 of 36 trials, and
// another subset when called again.
TEST(Defects, SmeaChoosesTheRightSubsetEachTime) {
  base::Rng rng(2);
  for (int trial = 0; trial < 12; ++trial) {
    const Matrix rows = testing::NormalRows(rng, 10, 10);
    Indices best;
    long double least = 0;
    for (const Indices& subset : testing::SubsetsOf(10, 7)) {
      const long double variance = testing::VarianceOf(rows, subset);
      if (best.empty() || variance < least) {
        best = subset;
        least = variance;
      }
    }
    Report report;
    const auto once = RunRule("smea:f=3", rows, &report);
    EXPECT_EQ(report.selected, best);
    EXPECT_TRUE(testing::SameBits(once, RunRule("smea:f=3", rows)));
  }
}

// 3. One NaN breaks eight rules of one library, and its Krum selects the row of NaNs.
TEST(Defects, ARowOfNaNsIsNeverSelected) {
  base::Rng rng(3);
  Matrix rows = testing::NormalRows(rng, 9, 40);
  std::fill(rows[5].begin(), rows[5].end(), std::numeric_limits<float>::quiet_NaN());
  std::vector<float> out(40);
  for (const char* name :
       {"krum", "median", "geometric_median", "centered_clip", "caf", "meamed"}) {
    const auto pipeline = Pipeline::Make({{name, {}}, {}, 2, true});
    ASSERT_TRUE(pipeline.ok());
    Report report;
    ASSERT_TRUE(pipeline->Aggregate(RowsOf(rows), SerialExecutor(), out, nullptr, &report).ok());
    EXPECT_EQ(report.dropped, (Indices{5}));
    for (const std::size_t i : report.selected) EXPECT_NE(i, 5u);
    for (const float value : out) EXPECT_TRUE(std::isfinite(value));
  }
}

// 5. Distances from a float32 product of n > 25 rows are off by a quarter at an offset of 1000
// times the spread, and the wrong row is chosen. Here at a million times.
TEST(Defects, ManyRowsFarFromZeroAreDistinguished) {
  base::Rng rng(5);
  Matrix rows(40, std::vector<float>(50));
  for (auto& row : rows) {
    for (float& value : row) value = static_cast<float>(rng.Between(-8, 8)) / 8;
  }
  Report near, far;
  RunRule("krum:f=5", rows, &near);
  for (auto& row : rows) {
    for (float& value : row) value += 1e6f;
  }
  RunRule("krum:f=5", rows, &far);
  EXPECT_EQ(near.selected, far.selected);
  EXPECT_EQ(near.scores, far.scores);
}

// 6. A new Bulyan whose output was said to "remain identical" differs from the old one on 190 of
// 200 inputs. Ours are two variants, and the paper's is the default.
TEST(Defects, BothDefinitionsOfBulyanAreVariants) {
  base::Rng rng(6);
  int different = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix rows = testing::NormalRows(rng, 15, 10);
    const auto paper = RunRule("bulyan:f=3", rows);
    EXPECT_TRUE(testing::SameBits(paper, RunRule("bulyan:f=3,variant=paper", rows)));
    if (!testing::SameBits(paper, RunRule("bulyan:f=3,variant=multi_krum", rows))) ++different;
  }
  EXPECT_GT(different, 0);
}

// 7. Weights kept in a set made a "geometric median" the first row if all weights were equal, and a
// "coordinate-wise trimmed mean" sorted rows by something else than their values.
TEST(Defects, ValuesDecideAndNotTheRowIndex) {
  base::Rng rng(7);
  Matrix rows = testing::NormalRows(rng, 9, 6);
  testing::Multiply(rows[0], 1e6);
  const Matrix reversed(rows.rbegin(), rows.rend());
  for (const char* text : {"geometric_median:f=2", "trimmed_mean:f=2"}) {
    const auto out = RunRule(text, rows);
    const auto mirrored = RunRule(text, reversed);
    EXPECT_LT(testing::SlowNorm(out), 10) << text;
    for (std::size_t c = 0; c < out.size(); ++c) EXPECT_NEAR(out[c], mirrored[c], 1e-5) << text;
  }
}

// 8. A Bulyan returned the mean distance to the median in place of the values, which does not move
// with its rows.
TEST(Defects, BulyanIsTranslationEquivariant) {
  const Matrix rows(7, std::vector<float>{-4, 0, 9});
  EXPECT_EQ(RunRule("bulyan:f=1", rows), rows[0]);
}

// 9. Clipping and ARC overwrite the caller's array; float64 is silently made float32.
TEST(Defects, InputIsNeverWritten) {
  base::Rng rng(9);
  const Matrix rows = testing::NormalRows(rng, 9, 300);
  const Matrix before = rows;
  for (const PreInfo* info : PreAggregations()) {
    const auto pre = MakePreAggregation(info->about.name, {{"f", "2"}});
    std::vector<float> out((*pre)->OutputRows(9) * 300);
    ASSERT_TRUE((*pre)->Apply(RowsOf(rows), SerialExecutor(), out).ok());
    EXPECT_EQ(rows, before) << info->about.name;
  }
}

TEST(Defects, Float64StaysFloat64) {
  const std::vector<double> a = {1 + 1e-12}, b = {1 + 3e-12}, c = {1 + 4e-12};
  DoubleRows rows;
  rows.dimension = 1;
  rows.row = {c.data(), a.data(), b.data()};
  for (const char* name : {"median", "mean", "krum", "geometric_median", "trimmed_mean"}) {
    const auto rule = MakeRule(
        name, name == std::string("median") ? Arguments{{"f", "1"}} : Arguments{{"f", "0"}});
    ASSERT_TRUE(rule.ok());
    std::vector<double> out(1);
    ASSERT_TRUE((*rule)->Aggregate(rows, SerialExecutor(), out).ok()) << name;
    EXPECT_GT(out[0], 1 + 0.5e-12) << name;
    EXPECT_LT(out[0], 1 + 4.5e-12) << name;
  }
}

// float64 values that are too far from the others for one arithmetic are named, not turned into
// infinities; scales_test.cpp has every rule at every scale.
TEST(Defects, Float64BeyondItsLimitIsNamed) {
  const std::vector<double> a = {1, 1e200}, b = {1, 2};
  DoubleRows rows;
  rows.dimension = 2;
  rows.row = {b.data(), a.data(), b.data()};
  std::vector<double> out(2);
  EXPECT_EQ(base::MessageOf(
                MakeRule("krum", {{"f", "0"}}).value()->Aggregate(rows, SerialExecutor(), out)),
            "row 1 has values more than 2^400 times as large as row 2, the middle one, and their "
            "distances do not fit into float64: leave it out, as drop_invalid does");
}

}  // namespace
}  // namespace ostraka::aggregation::defects_test
