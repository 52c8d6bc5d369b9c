#include "aggregation/rules/mixing.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::mixing_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

// A pipeline that ends in the mean gets these rows.
TEST(Mixing, IsWhatAPipelineDoesBeforeItsRule) {
  base::Rng rng(4);
  const Matrix matrix = testing::NormalRows(rng, 9, 30);
  const SerialExecutor serial;
  const std::vector<ElementSpec> elements = {{"clipping", {{"c", "3"}}}, {"nnm", {}}};
  const auto mixing = Mixing::Make(elements, 2);
  ASSERT_TRUE(mixing.ok()) << mixing.status();
  ASSERT_EQ(mixing->OutputRows(9), 9u);
  std::vector<float> mixed(9 * 30);
  std::vector<State> states;
  ASSERT_TRUE(mixing->Apply(RowsOf(matrix), serial, states, mixed).ok());
  Matrix rows;
  for (std::size_t i = 0; i < 9; ++i) {
    rows.emplace_back(mixed.begin() + static_cast<std::ptrdiff_t>(30 * i),
                      mixed.begin() + static_cast<std::ptrdiff_t>(30 * (i + 1)));
  }
  std::vector<float> mean(30);
  ASSERT_TRUE((*MakeRule("mean", {}))->Aggregate(RowsOf(rows), serial, mean).ok());
  const auto pipeline = Pipeline::Make({{"mean", {}}, elements, 2, false});
  std::vector<float> expected(30);
  ASSERT_TRUE(pipeline->Aggregate(RowsOf(matrix), serial, expected).ok());
  EXPECT_TRUE(testing::SameBits(mean, expected));
}

TEST(Mixing, ChangesTheNumberOfRows) {
  const auto mixing = Mixing::Make({{"bucketing", {{"s", "3"}}}}, std::nullopt);
  ASSERT_TRUE(mixing.ok());
  EXPECT_EQ(mixing->OutputRows(9), 3u);
  EXPECT_EQ(mixing->OutputRows(10), 4u);
}

TEST(Mixing, UpdatesTheGivenState) {
  const auto mixing = Mixing::Make({{"worker_momentum", {{"beta", "0.5"}}}}, std::nullopt);
  ASSERT_TRUE(mixing.ok()) << mixing.status();
  const Matrix ones = {{1}, {3}};
  const SerialExecutor serial;
  std::vector<State> states;
  std::vector<float> first(2);
  std::vector<float> second(2);
  ASSERT_TRUE(mixing->Apply(RowsOf(ones), serial, states, first).ok());
  ASSERT_TRUE(mixing->Apply(RowsOf(ones), serial, states, second).ok());
  EXPECT_NE(first, second);
}

TEST(Mixing, RefusesUnknownNames) {
  EXPECT_FALSE(Mixing::Make({}, 1).ok());
  const auto wrong = Mixing::Make({{"nmn", {}}}, 1);
  EXPECT_NE(base::MessageOf(wrong.status()).find("did you mean 'nnm'?"), std::string::npos);
}

}  // namespace
}  // namespace ostraka::aggregation::mixing_test
