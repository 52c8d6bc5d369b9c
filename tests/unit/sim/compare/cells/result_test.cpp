#include "sim/compare/cells/result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace ostraka::compare::result_test {
namespace {

CellResult Example() {
  CellResult result;
  result.curve = {{0, 0.1, 2.5, 0.11, 2.6}, {10, 0.8, 0.5, 0.9, 0.4}, {20, 0.7, 0.6, 0.6, 0.7}};
  result.byzantine_selected = 0.25;
  result.bytes = 12345;
  result.protocol = ProtocolFacts{{{7, true, "verdict"}, {9, false, "drop"}}, 3, 21, 2};
  return result;
}

TEST(Result, JsonReadsBack) {
  const CellResult result = Example();
  const auto back = ResultOf(nlohmann::json::parse(JsonOf(result).dump()));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(*back, result);
  CellResult plain = result;
  plain.protocol.reset();
  plain.byzantine_selected.reset();
  EXPECT_EQ(*ResultOf(JsonOf(plain)), plain);
}

TEST(Result, DivergedLossReadsBackAsNan) {
  CellResult result = Example();
  result.curve.back().test_loss = std::numeric_limits<double>::infinity();
  const auto back = ResultOf(nlohmann::json::parse(JsonOf(result).dump()));
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::isnan(back->curve.back().test_loss));
}

TEST(Result, RefusesOtherJson) {
  for (const char* text : {"{}", "[]", R"({"curve":[],"bytes":1})", R"({"curve":[[1]],"bytes":1})",
                           R"({"curve":[["a",1,1,1,1]],"bytes":1})"}) {
    EXPECT_FALSE(ResultOf(nlohmann::json::parse(text)).ok()) << text;
  }
}

TEST(Result, FinalBestAndLowest) {
  const CellResult result = Example();
  EXPECT_EQ(FinalOf(result).step, 20u);
  EXPECT_EQ(BestTestAccuracy(result), 0.9);
  EXPECT_EQ(WorstTestAccuracyFrom(result, 0), 0.6);
  EXPECT_EQ(WorstTestAccuracyFrom(result, 15), 0.6);
  EXPECT_EQ(WorstTestAccuracyFrom(result, 100), 0.6);  // nothing after it: the end
}

}  // namespace
}  // namespace ostraka::compare::result_test
