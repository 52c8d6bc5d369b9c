// Promises of attacks for all honest rows; rapidcheck chooses and shrinks them.
#include "aggregation/attacks/attacks.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "aggregation/rules/mean.h"
#include "tests/property/aggregation_draws.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::attacks_test {
namespace {

using testing::AnyRows;
using testing::Matrix;
using testing::RowsOf;

RC_GTEST_PROP(AttackProperty, ResultsAreFiniteAndDependOnTheSeedAlone, ()) {
  const Matrix rows = AnyRows(6, 40);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  for (const AttackInfo* attack : Attacks()) {
    if (attack->knowledge == Knowledge::kWork || attack->malformed) continue;
    const Victim victim = [](const Rows& given, std::span<float> out) {
      const SerialExecutor serial;
      return Mean().Aggregate(given, serial, out);
    };
    AttackView view;
    view.own = rows[0];
    view.honest = RowsOf(rows);
    view.byzantine_count = 2;
    view.seed = seed;
    view.victim = &victim;
    const auto made = MakeAttack(attack->name, {});
    RC_ASSERT(made.ok());
    const auto sent = ApplyAttack(*made, view);
    RC_ASSERT(sent.ok());
    RC_ASSERT(sent->size() == rows[0].size());
    RC_ASSERT(std::all_of(sent->begin(), sent->end(), [](float v) { return std::isfinite(v); }));
    RC_ASSERT(testing::SameBits(*sent, *ApplyAttack(*made, view)));
  }
}

bool HasEqualNorms(const Matrix& rows) {
  std::vector<double> norms;
  for (const auto& row : rows) {
    norms.push_back(std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0)));
  }
  std::sort(norms.begin(), norms.end());
  return std::adjacent_find(norms.begin(), norms.end(), [](double small, double large) {
           return large - small <= 1e-6 * large;
         }) != norms.end();
}

// Attacks treat the honest rows as a set: their order changes only rounding, and which of two rows
// of equal norm anti_cge sums.
RC_GTEST_PROP(AttackProperty, TheOrderOfHonestRowsDoesNotMatter, ()) {
  const Matrix rows = AnyRows(6, 20);
  Matrix reversed(rows.rbegin(), rows.rend());
  for (const std::string_view name : {"alie", "ipm", "min_max", "min_sum", "anti_cge"}) {
    if (name == "anti_cge" && HasEqualNorms(rows)) continue;
    const auto made = MakeAttack(name, {});
    AttackView view;
    view.honest = RowsOf(rows);
    const auto one = ApplyAttack(*made, view);
    view.honest = RowsOf(reversed);
    const auto two = ApplyAttack(*made, view);
    RC_ASSERT(one.ok() && two.ok());
    double scale = 0;
    for (const auto& row : rows) {
      for (const float value : row) scale = std::max(scale, std::abs(static_cast<double>(value)));
    }
    for (std::size_t c = 0; c < one->size(); ++c) {
      RC_ASSERT(std::abs(static_cast<double>((*one)[c]) - (*two)[c]) <= 1e-4 * scale);
    }
  }
}

}  // namespace
}  // namespace ostraka::aggregation::attacks_test
