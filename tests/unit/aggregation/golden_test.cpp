// Known answers (tests/vectors/aggregation.json) where a published definition is ours.
//
// Published centered clipping runs a given number of steps; where tau clips nothing, one step from
// anywhere is the fixed point, so those cases are ours too. The others are not and are left out.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregation/centered_clip.h"
#include "aggregation/mean.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation {
namespace {

using nlohmann::json;
using testing::Matrix;
using testing::RowsOf;

const json& Golden() {
  static const json golden = json::parse(std::ifstream("tests/vectors/aggregation.json"));
  return golden;
}

// The cases of one library's rule whose parameters include `parameters`.
std::vector<json> CasesOf(const std::string& lib, const std::string& rule,
                          const json& parameters = json::object()) {
  std::vector<json> found;
  for (const json& test_case : Golden()["cases"]) {
    bool matches = test_case["lib"] == lib && test_case["rule"] == rule;
    for (const auto& [name, value] : parameters.items()) {
      matches = matches && test_case["params"].contains(name) && test_case["params"][name] == value;
    }
    if (matches) found.push_back(test_case);
  }
  return found;
}

Matrix InputOf(const json& test_case) {
  return Golden()["inputs"][test_case["input"].get<std::string>()].get<Matrix>();
}

void ExpectNear(const std::vector<float>& found, const json& test_case) {
  const auto expected = test_case["output"].get<std::vector<double>>();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t c = 0; c < found.size(); ++c) {
    EXPECT_NEAR(found[c], expected[c], 1e-6 * (1 + std::abs(expected[c]))) << test_case;
  }
}

void ExpectRule(const Rule& rule, const std::vector<json>& cases, std::size_t how_many) {
  ASSERT_EQ(cases.size(), how_many);
  for (const json& test_case : cases) {
    const Matrix rows = InputOf(test_case);
    std::vector<float> out(rows[0].size());
    ASSERT_TRUE(rule.Aggregate(RowsOf(rows), SerialExecutor(), out).ok());
    ExpectNear(out, test_case);
  }
}

TEST(Golden, Mean) { ExpectRule(Mean(), CasesOf("byzfl", "Average"), 2); }

TEST(Golden, CenteredClipWhereNothingIsClipped) {
  ExpectRule(CenteredClip({100.0, 1e-6}), CasesOf("byzfl", "CenteredClipping", {{"tau", 100.0}}),
             2);
}

}  // namespace
}  // namespace ostraka::aggregation
