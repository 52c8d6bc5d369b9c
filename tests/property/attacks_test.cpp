// What attacks promise for all honest rows, with rapidcheck choosing and shrinking them.
#include "aggregation/attacks.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

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
  for (const AttackInfo& attack : Attacks()) {
    if (attack.flips_labels) continue;
    const AttackView view{rows[0], RowsOf(rows), 2, nullptr, seed};
    const auto sent = ApplyAttack(attack.name, {}, view);
    RC_ASSERT(sent.ok());
    RC_ASSERT(std::all_of(sent->begin(), sent->end(), [](float v) { return std::isfinite(v); }));
    RC_ASSERT(testing::SameBits(*sent, *ApplyAttack(attack.name, {}, view)));
  }
}

}  // namespace
}  // namespace ostraka::aggregation
