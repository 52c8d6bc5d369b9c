// Random rows for rapidcheck, and rules run on them: shared by the property tests of aggregation.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "aggregation/rules/pipeline.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::testing {

// Small numbers first, so that failures shrink to rows that a person can read.
inline rc::Gen<float> AnyValue() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(-8, 9), [](int v) { return v * 0.5f; }),
      rc::gen::map(rc::gen::inRange(-1'000'000, 1'000'001),
                   [](int v) { return static_cast<float>(v) * 1e-5f; }),
      rc::gen::map(rc::gen::pair(rc::gen::inRange(-99, 100), rc::gen::inRange(-30, 31)),
                   [](const std::pair<int, int>& v) {
                     return static_cast<float>(v.first * PowerOfTen(v.second));
                   }));
}

inline Matrix AnyRows(int max_rows, int max_dimension) {
  const auto n = static_cast<std::size_t>(*rc::gen::inRange(1, max_rows + 1));
  const auto d = static_cast<std::size_t>(*rc::gen::inRange(1, max_dimension + 1));
  return *rc::gen::container<Matrix>(n, rc::gen::container<std::vector<float>>(d, AnyValue()));
}

// Rows without ties: a cluster and a few others, some of them far away.
struct Draw {
  Matrix rows;
  std::size_t f = 0;
};

inline Draw DrawRows(std::size_t least_rows, std::size_t most_rows, int rows_per_fault, int spare) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto n = static_cast<std::size_t>(
      rng.Between(static_cast<std::int64_t>(least_rows), static_cast<std::int64_t>(most_rows)));
  Draw draw{NormalRows(rng, n, 1 + rng.Below(12)), 0};
  const std::size_t most =
      (n - static_cast<std::size_t>(spare)) / static_cast<std::size_t>(rows_per_fault);
  draw.f = rng.Below(most + 1);
  for (std::size_t i = 0; i < draw.f; ++i) {
    const double factor = PowerOfTen(static_cast<int>(rng.Between(0, 6)));
    Multiply(draw.rows[rng.Below(n)], factor);
  }
  return draw;
}
inline Draw DrawMinority(std::size_t most_rows = 11) { return DrawRows(3, most_rows, 2, 1); }

inline std::vector<float> Run(const std::string& text, const Matrix& rows, Report* report = nullptr,
                              const std::vector<float>* reference = nullptr,
                              State* state = nullptr) {
  const auto element = ParseElement(text);
  const auto rule = MakeRule(element->name, element->arguments);
  if (!rule.ok()) RC_FAIL(std::string(rule.status().message()));
  Rows view = RowsOf(rows);
  if (reference != nullptr) view.reference = reference->data();
  std::vector<float> out(view.dimension);
  const SerialExecutor executor;
  const base::Status status = (*rule)->Aggregate(view, Call(executor, state, report), out);
  if (!status.ok()) RC_FAIL(text + ": " + std::string(status.message()));
  return out;
}

// Allows float32's rounding of the result, and a little for sums of large rows in double.
inline void ExpectNear(const std::vector<float>& found, const Vector& expected, const Matrix& rows,
                       double slack = 1e-12) {
  long double largest = 0;
  for (const auto& row : rows) largest = std::max(largest, SlowNorm(row));
  RC_ASSERT(found.size() == expected.size());
  for (std::size_t c = 0; c < found.size(); ++c) {
    const long double allowed = std::abs(expected[c]) * 0x1p-23L + largest * slack + 1e-30L;
    RC_ASSERT(std::abs(found[c] - expected[c]) <= allowed);
  }
}

// The text "f=2" for f = 2.
inline std::string F(std::size_t f) { return "f=" + std::to_string(f); }

// The rows that a pre-aggregation makes of `rows`.
inline Matrix Mixed(const std::string& text, const Matrix& rows, State* state = nullptr) {
  const auto element = ParseElement(text);
  const auto pre = MakePreAggregation(element->name, element->arguments);
  if (!pre.ok()) RC_FAIL(std::string(pre.status().message()));
  const std::size_t d = rows[0].size();
  std::vector<float> out((*pre)->OutputRows(rows.size()) * d);
  const SerialExecutor executor;
  const base::Status status = (*pre)->Apply(RowsOf(rows), Call(executor, state), out);
  if (!status.ok()) RC_FAIL(text + ": " + std::string(status.message()));
  Matrix mixed;
  for (auto at = out.begin(); at != out.end(); at += static_cast<std::ptrdiff_t>(d)) {
    mixed.emplace_back(at, at + static_cast<std::ptrdiff_t>(d));
  }
  return mixed;
}

}  // namespace ostraka::aggregation::testing
