#include "aggregation/shared/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::scaling_test {
namespace {

using testing::BasicMatrix;
using testing::RowsOf;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const SerialExecutor kSerial;

int ExponentOf(Arithmetic arithmetic, const BasicMatrix<double>& rows,
               const State* state = nullptr) {
  const auto found = ExponentFor(arithmetic, RowsOf(rows), state, true, kSerial);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.value_or(0);
}

TEST(Scaling, UsualRowsStandAsTheyAre) {
  for (const double size : {1.0, 1e-30, 1e60}) {
    EXPECT_EQ(ExponentOf(Arithmetic::kMultiplies, {{size}, {0}, {-size}}), 0);
  }
  EXPECT_EQ(ExponentOf(Arithmetic::kMultiplies, {{0}, {0}, {0}}), 0);
  EXPECT_EQ(ExponentOf(Arithmetic::kAdds, {{0x1p999}, {0x1p-1074}, {1}}), 0);
  EXPECT_EQ(ExponentOf(Arithmetic::kCompares, {{0x1p1023}, {0x1p-1074}, {1}}), 0);
}

TEST(Scaling, OthersAreBroughtBelowTheSameLargestValue) {
  for (const int scale : {-1074, -300, -181, 221, 500, 1023}) {
    const double size = std::ldexp(1.0, scale);
    EXPECT_EQ(ExponentOf(Arithmetic::kMultiplies, {{size}, {size}, {0}}), 219 - scale);
  }
  // A huge row takes the usual ones down to where their squares are short of digits.
  EXPECT_EQ(ExponentOf(Arithmetic::kMultiplies, {{0x1p100}, {0x1p-200}, {0x1p-200}}), 119);
  EXPECT_EQ(ExponentOf(Arithmetic::kAdds, {{0x1p1001}, {1}}), -30);
}

TEST(Scaling, AStateCounts) {
  State state;
  state.vectors = {{1, -0x1p250}};
  EXPECT_EQ(ExponentOf(Arithmetic::kMultiplies, {{1}, {1}, {0}}, &state), -31);
  state.vectors.clear();
  state.numbers = {0x1p250};
  EXPECT_EQ(ExponentOf(Arithmetic::kMultiplies, {{1}, {1}, {0}}, &state), -31);
  state.numbers = {0x1p500};
  const BasicMatrix<double> rows = {{1}, {1}, {0}};
  EXPECT_EQ(base::MessageOf(
                ExponentFor(Arithmetic::kMultiplies, RowsOf(rows), &state, true, kSerial).status()),
            "the state has values more than 2^400 times as large as row 0, the middle one, and "
            "their distances do not fit into float64: begin with an empty one");
}

// A minority can neither make others unfit, nor by its zeros.
TEST(Scaling, UnfitAreThoseFarFromTheMiddle) {
  const BasicMatrix<double> rows = {{0x1p-1000}, {1}, {2}, {0x1p401}, {0}, {kInfinity}, {3}};
  EXPECT_EQ(UnfitRows(Arithmetic::kMultiplies, RowsOf(rows), kSerial),
            (std::vector<std::size_t>{5}));
  const BasicMatrix<double> further = {{0x1p-1000}, {1}, {2}, {0x1p403}, {0}, {kInfinity}, {3}};
  EXPECT_EQ(UnfitRows(Arithmetic::kMultiplies, RowsOf(further), kSerial),
            (std::vector<std::size_t>{3, 5}));
  EXPECT_EQ(UnfitRows(Arithmetic::kAdds, RowsOf(further), kSerial), (std::vector<std::size_t>{5}));
}

TEST(Scaling, RowsAreCopiedExactlyAndThoseNearZeroAreZero) {
  const BasicMatrix<double> rows = {{0x1p300, 3}, {0x1p-450, 0}};
  DoubleRows view = RowsOf(rows);
  view.reference = rows[0].data();
  const ScaledRows scaled(Arithmetic::kMultiplies, view, -81, kSerial);
  EXPECT_EQ(scaled.rows().row[0][0], 0x1p219);
  EXPECT_EQ(scaled.rows().row[0][1], 3 * 0x1p-81);
  EXPECT_EQ(scaled.rows().reference[0], 0x1p219);
  EXPECT_EQ(scaled.rows().row[1][0], 0);
}

TEST(Scaling, ResultsStayFinite) {
  std::vector<double> values = {0x1p1000, -0x1p1000, 1, -0x1p-1000};
  Scale(values, 100, kSerial);
  constexpr double kLargest = std::numeric_limits<double>::max();
  EXPECT_EQ(values, (std::vector<double>{kLargest, -kLargest, 0x1p100, -0x1p-900}));
  Scale(values, -300, kSerial);
  EXPECT_FALSE(std::signbit(values[3])) << "never -0";
}

TEST(Scaling, ParametersInTheRowsUnitFollow) {
  const ParameterInfo infos[] = {{.name = "tau", .in_rows_unit = true}, {.name = "beta"}};
  Parameters parameters;
  parameters.Set("tau", 3.0);
  parameters.Set("beta", 0.5);
  const Parameters scaled = ScaledParameters(parameters, infos, -4);
  EXPECT_EQ(scaled.Real("tau"), 0.1875);
  EXPECT_EQ(scaled.Real("beta"), 0.5);
  EXPECT_TRUE(std::isfinite(ScaledParameters(parameters, infos, 1200).Real("tau")));
  EXPECT_GT(ScaledParameters(parameters, infos, -1200).Real("tau"), 0);
}

}  // namespace
}  // namespace ostraka::aggregation::scaling_test
