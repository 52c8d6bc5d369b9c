// What attacks promise for all honest rows, with rapidcheck choosing and shrinking them.
#include "aggregation/attacks.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "aggregation/mean.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation {
namespace {

using testing::Matrix;
using testing::RowsOf;

// Small numbers first, so that failures shrink to rows that a person can read.
rc::Gen<float> Value() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(-8, 9), [](int v) { return v * 0.5f; }),
      rc::gen::map(rc::gen::inRange(-1'000'000, 1'000'001),
                   [](int v) { return static_cast<float>(v) * 1e-5f; }),
      rc::gen::map(rc::gen::pair(rc::gen::inRange(-99, 100), rc::gen::inRange(-30, 31)),
                   [](const std::pair<int, int>& v) {
                     return static_cast<float>(v.first * testing::PowerOfTen(v.second));
                   }));
}

Matrix AnyRows(int max_rows, int max_dimension) {
  const auto n = static_cast<std::size_t>(*rc::gen::inRange(1, max_rows + 1));
  const auto d = static_cast<std::size_t>(*rc::gen::inRange(1, max_dimension + 1));
  return *rc::gen::container<Matrix>(n, rc::gen::container<std::vector<float>>(d, Value()));
}

RC_GTEST_PROP(AttackProperty, ResultsAreFiniteAndDependOnTheSeedAlone, ()) {
  const Matrix rows = AnyRows(6, 40);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  for (const AttackInfo* attack : Attacks()) {
    if (attack->knowledge == Knowledge::kLabels || attack->malformed) continue;
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

// Attacks that look at all honest rows see a set: their order changes roundings and no more.
RC_GTEST_PROP(AttackProperty, TheOrderOfHonestRowsDoesNotMatter, ()) {
  const Matrix rows = AnyRows(6, 20);
  Matrix reversed(rows.rbegin(), rows.rend());
  for (const std::string_view name : {"alie", "ipm", "min_max", "min_sum", "anti_cge"}) {
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
}  // namespace ostraka::aggregation
