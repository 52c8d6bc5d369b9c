#include "aggregation/kernels/rows.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::rows_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string Complaint(const Matrix& matrix) {
  const base::Status serial = CheckRows(RowsOf(matrix), SerialExecutor());
  const base::Status threaded = CheckRows(RowsOf(matrix), testing::ThreadedExecutor(3));
  EXPECT_EQ(serial, threaded);
  return base::MessageOf(serial);
}

TEST(CheckRows, AcceptsAnyFiniteValues) {
  Matrix rows(3, std::vector<float>(1000, 0.0f));
  rows[1][17] = std::numeric_limits<float>::max();
  rows[2][999] = -std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(CheckRows(RowsOf(rows), SerialExecutor()).ok());
}

TEST(CheckRows, NamesTheRowAndTheCoordinate) {
  Matrix rows(4, std::vector<float>(1000, 1.0f));
  rows[2][999] = kNaN;
  EXPECT_EQ(Complaint(rows), "row 2, coordinate 999 is NaN");
  rows[2][300] = -kInfinity;
  EXPECT_EQ(Complaint(rows), "row 2, coordinate 300 is infinite");
  rows[1][700] = kInfinity;  // an earlier row is named first, whatever its coordinate
  EXPECT_EQ(Complaint(rows), "row 1, coordinate 700 is infinite");
}

TEST(CheckRows, RefusesInvalidInput) {
  EXPECT_EQ(CheckRows(Rows(), SerialExecutor()).code(), absl::StatusCode::kInvalidArgument);
  const std::vector<float> row(1);
  EXPECT_EQ(CheckRows({{row.data()}, 0}, SerialExecutor()).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(base::MessageOf(CheckRows({{row.data(), nullptr}, 1}, SerialExecutor())),
            "row 1 is missing");
}

}  // namespace
}  // namespace ostraka::aggregation::rows_test
