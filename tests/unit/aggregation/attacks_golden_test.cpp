// Known answers of attacks (tests/vectors/aggregation.json) where a published definition is ours.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregation/attacks.h"
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

TEST(Golden, InnerProductManipulation) {
  const auto cases = CasesOf("byzfl", "InnerProductManipulation");
  ASSERT_EQ(cases.size(), 1u);
  for (const json& test_case : cases) {
    ExpectNear(InnerProductManipulation(RowsOf(InputOf(test_case)),
                                        test_case["params"]["tau"].get<double>()),
               test_case);
  }
}

// There it is mu + tau sigma with sigma over n - 1.
TEST(Golden, Alie) {
  const auto cases = CasesOf("byzfl", "ALittleIsEnough");
  ASSERT_EQ(cases.size(), 1u);
  for (const json& test_case : cases) {
    const Matrix honest = InputOf(test_case);
    const auto n = static_cast<double>(honest.size());
    const double z = -test_case["params"]["tau"].get<double>() * std::sqrt(n / (n - 1));
    ExpectNear(Alie(RowsOf(honest), z), test_case);
  }
}

}  // namespace
}  // namespace ostraka::aggregation
