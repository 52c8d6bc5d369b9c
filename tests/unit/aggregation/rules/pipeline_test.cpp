#include "aggregation/rules/pipeline.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::pipeline_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(PipelineTest, ParsesElements) {
  const auto element = ParseElement("bucketing:s=2,seed=7");
  ASSERT_TRUE(element.ok());
  EXPECT_EQ(element->name, "bucketing");
  EXPECT_EQ(element->arguments, (Arguments{{"s", "2"}, {"seed", "7"}}));
  EXPECT_TRUE(ParseElement("nnm")->arguments.empty());
  EXPECT_FALSE(ParseElement("nnm:f").ok());
}

TEST(PipelineTest, AnInvalidRowIsRefusedByName) {
  const auto pipeline = Pipeline::Make({{"mean", {}}, {}, 1, false});
  ASSERT_TRUE(pipeline.ok());
  const Matrix rows = {{1, 2}, {3, kNaN}, {5, 6}};
  std::vector<float> out(2);
  EXPECT_EQ(base::MessageOf(pipeline->Aggregate(RowsOf(rows), SerialExecutor(), out)),
            "row 1, coordinate 1 is NaN");
}

TEST(PipelineTest, DroppedRowsCountAgainstF) {
  const auto pipeline = Pipeline::Make({{"mean", {}}, {}, 1, true});
  ASSERT_TRUE(pipeline.ok());
  Matrix rows = {{1, 2}, {3, kNaN}, {5, 6}};
  std::vector<float> out(2);
  Report report;
  ASSERT_TRUE(pipeline->Aggregate(RowsOf(rows), SerialExecutor(), out, nullptr, &report).ok());
  EXPECT_EQ(out, (std::vector<float>{3, 4}));
  EXPECT_EQ(report.dropped, (std::vector<std::size_t>{1}));
  EXPECT_EQ(report.selected, (std::vector<std::size_t>{0, 2}));
  rows[2][0] = kInfinity;
  EXPECT_EQ(base::MessageOf(pipeline->Aggregate(RowsOf(rows), SerialExecutor(), out)),
            "2 rows are not finite or too large, more than f = 1; the first is row 1");
}

TEST(PipelineTest, RuleThatRemembersRowsByIndexDropsNoRow) {
  const auto pipeline = Pipeline::Make({{"foolsgold", {}}, {}, 1, true});
  ASSERT_TRUE(pipeline.ok());
  const Matrix rows = {{1, 2}, {3, kNaN}, {5, 6}};
  std::vector<float> out(2);
  EXPECT_EQ(
      base::MessageOf(pipeline->Aggregate(RowsOf(rows), SerialExecutor(), out)),
      "row 1 is not finite or too large, and this pipeline remembers rows by their place: none "
      "can be dropped");
}

TEST(PipelineTest, FIsGivenOnceForAllElements) {
  const auto pipeline = Pipeline::Make({{"centered_clip", {{"f", "2"}}}, {}, std::nullopt, false});
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ(pipeline->spec().f, 2u);
  EXPECT_FALSE(Pipeline::Make({{"centered_clip", {{"f", "2"}}}, {}, 3, false}).ok());
}

TEST(PipelineTest, UnknownNamesAndParametersAreRefusedAtOnce) {
  EXPECT_EQ(base::MessageOf(Pipeline::Make({{"meam", {}}, {}, {}, false}).status()),
            "unknown rule 'meam'; did you mean 'mean'?");
  EXPECT_FALSE(Pipeline::Make({{"mean", {{"tau", "1"}}}, {}, {}, false}).ok());
  EXPECT_FALSE(Pipeline::Make({{"mean", {}}, {{"nmn", {}}}, {}, false}).ok());
}

}  // namespace
}  // namespace ostraka::aggregation::pipeline_test
