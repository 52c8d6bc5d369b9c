// Promises that all rules of the registry make.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "tests/property/aggregation_draws.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::aggregation_promises_test {
namespace {

using testing::F;
using testing::Matrix;
using testing::RowsOf;
using testing::Run;

// Each rule with its required parameters; all others at their defaults.
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

// The order of rows does not matter to a rule that says so, except for ties. Three rules meet ties
// on any rows: signguard's clusters lie on a grid of shares; bulyan's last choices look at a single
// neighbour, so that two rows that are nearest to each other have equal scores; and the pair that
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
RC_GTEST_PROP(AllRulesProperty, CommonOffsetMovesTheResultAndNoSelection, ()) {
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

// f rows as far away as float32 allows, equal or different: the result stays near the honest rows.
RC_GTEST_PROP(AllRulesProperty, FaultyRowsCannotCarryARobustRuleAway, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  Matrix rows = testing::NormalRows(rng, 11, 1 + rng.Below(20));
  for (auto& row : rows) {
    for (float& value : row) value += 3;  // rules by angle need a common direction
  }
  const std::vector<float> reference = rows[10];
  long double reach = 0;
  for (const auto& row : rows) reach = std::max(reach, testing::SlowNorm(row));
  const double factor = testing::PowerOfTen(static_cast<int>(rng.Between(3, 36)));
  testing::Multiply(rows[1], factor);
  testing::Multiply(rows[7], rng.Chance(1, 2) ? -factor : -factor / 3);
  if (rng.Chance(1, 2)) rows[7] = rows[1];
  // These rules promise something else: mean nothing; foolsgold resists only attackers that are
  // alike; safeguard withdraws trust only after a call; dnc removes outliers of one pass along one
  // direction (a faulty row can hide behind a larger one on its side, which draws the centre past
  // it).
  const std::vector<std::string_view> others = {"mean", "foolsgold", "safeguard", "dnc"};
  ForEachRule(rows, 2, [&](const RuleInfo& info, const std::string& text) {
    if (std::find(others.begin(), others.end(), info.about.name) != others.end()) return;
    const auto out = Run(text, rows, nullptr, &reference);
    if (!(testing::SlowNorm(out) <= 4 * reach)) RC_FAIL(text);
  });
}

// A case that the property above found: the mean lies beyond the smaller faulty row, so an honest
// row seems to be further out.
TEST(Dnc, LargerRowHidesASmallerRowOnItsSide) {
  Matrix rows(11, std::vector<float>{3, 3});
  rows[1] = {3e6F, 3e6F};
  rows[7] = {5e5F, 5e5F};
  EXPECT_GT(testing::Run("dnc:f=2", rows)[0], 1000);
  rows[7] = {-5e5F, -5e5F};
  EXPECT_LT(testing::Run("dnc:f=2", rows)[0], 4) << "on the other side it cannot hide";
}

RC_GTEST_PROP(AllRulesProperty, NonFiniteValuesAreRefusedWithTheirPlace, ()) {
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
}  // namespace ostraka::aggregation::aggregation_promises_test
