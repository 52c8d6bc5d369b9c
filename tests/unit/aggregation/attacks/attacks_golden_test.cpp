// Known answers of attacks (tests/vectors/aggregation.json) whose published definition is ours.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregation/attacks/attacks.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::attacks_golden_test {
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

std::vector<float> Sent(std::string_view name, const Arguments& given, const Matrix& honest) {
  const auto attack = MakeAttack(name, given);
  EXPECT_TRUE(attack.ok()) << attack.status();
  AttackView view;
  view.honest = RowsOf(honest);
  view.own = honest.front();
  const auto sent = ApplyAttack(*attack, view);
  EXPECT_TRUE(sent.ok()) << sent.status();
  return *sent;
}

void ExpectAttack(std::string_view name, const Arguments& given, const std::string& lib,
                  const std::string& rule, const json& parameters = json::object()) {
  const auto cases = CasesOf(lib, rule, parameters);
  ASSERT_EQ(cases.size(), 1u) << rule;
  ExpectNear(Sent(name, given, InputOf(cases[0])), cases[0]);
}

// There the mean of the honest rows is reversed, and not the attacker's own gradient.
TEST(Golden, SignFlipping) { ExpectAttack("ipm", {{"eps", "1"}}, "byzfl", "SignFlipping"); }

TEST(Golden, InnerProductManipulation) {
  ExpectAttack("ipm", {{"eps", "2"}}, "byzfl", "InnerProductManipulation");
}

// There it is mu + tau sigma with sigma over n - 1.
TEST(Golden, Alie) {
  ExpectAttack("alie", {{"z", "-1.5"}, {"ddof", "1"}}, "byzfl", "ALittleIsEnough");
}

TEST(Golden, Mimic) { ExpectAttack("mimic", {{"epsilon", "3"}}, "byzfl", "Mimic"); }

// There the largest step is searched for and found to 1e-5; here it is the root of a quadratic. So
// the vector there may stop 1e-5 short, in units of the perturbation (of the sample's deviation).
TEST(Golden, MinMaxAndMinSum) {
  for (const auto& [rule, name] :
       {std::pair("minmax", "min_max"), std::pair("minsum", "min_sum")}) {
    for (const auto& [dev, perturbation] :
         {std::pair("std", "std"), std::pair("sign", "sign"), std::pair("unit_vec", "unit")}) {
      const auto cases = CasesOf("ndss21", rule, {{"dev", dev}});
      ASSERT_EQ(cases.size(), 1u);
      const Matrix honest = InputOf(cases[0]);
      const auto expected = cases[0]["output"].get<std::vector<double>>();
      const auto found = Sent(name, {{"perturbation", perturbation}}, honest);
      for (std::size_t c = 0; c < found.size(); ++c) {
        EXPECT_NEAR(found[c], expected[c], 4e-5) << rule << " " << dev;
      }
    }
  }
}

}  // namespace
}  // namespace ostraka::aggregation::attacks_golden_test
