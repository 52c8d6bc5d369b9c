#include "aggregation/shared/parameters.h"

#include <gtest/gtest.h>

namespace ostraka::aggregation::parameters_test {
namespace {

constexpr Choice kColours[] = {{"red", "like a tomato"}, {"green", "like grass"}};
constexpr ParameterInfo kInfos[] = {
    {.name = "f", .type = ValueType::kInteger, .meaning = "how many", .high = 9},
    {.name = "tau",
     .meaning = "radius",
     .default_kind = Default::kValue,
     .default_text = "0.5",
     .low_open = true},
    {.name = "m",
     .type = ValueType::kInteger,
     .meaning = "rows",
     .default_kind = Default::kDerived,
     .default_text = "n - f",
     .low = 1},
    {.name = "colour",
     .type = ValueType::kChoice,
     .meaning = "what it looks like",
     .default_kind = Default::kValue,
     .default_text = "red",
     .choices = kColours},
};

std::string ErrorOf(const Arguments& given) {
  const auto parsed = ParseParameters("rule x", kInfos, given);
  EXPECT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  return parsed.ok() ? "" : base::MessageOf(parsed.status());
}

TEST(ParametersTest, TakesGivenValuesAndDefaultsForTheOthers) {
  const auto parsed = ParseParameters("rule x", kInfos, {{"f", "3"}, {"tau", "2e-3"}});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->Integer("f"), 3u);
  EXPECT_EQ(parsed->Real("tau"), 0.002);
  EXPECT_EQ(parsed->Choice("colour"), "red");
  EXPECT_FALSE(parsed->Has("m"));
  EXPECT_EQ(parsed->IntegerOr("m", 17), 17u);
}

TEST(ParametersTest, ErrorsNameTheProblem) {
  EXPECT_EQ(ErrorOf({}), "rule x needs parameter f: how many");
  EXPECT_EQ(ErrorOf({{"f", "1"}, {"taw", "1"}}),
            "rule x has no parameter 'taw'; did you mean 'tau'?");
  EXPECT_EQ(ErrorOf({{"f", "1"}, {"f", "1"}}), "rule x: parameter f is given twice");
  EXPECT_EQ(ErrorOf({{"f", "10"}}), "rule x: f=10 must be integer in [0, 9]");
  EXPECT_EQ(ErrorOf({{"f", "1"}, {"m", "0"}}), "rule x: m=0 must be integer >= 1");
  EXPECT_EQ(ErrorOf({{"f", "1"}, {"colour", "blue"}}),
            "rule x: colour=blue must be one of red, green");
}

TEST(ParametersTest, RefusesMalformedNumbers) {
  for (const char* text : {"", "1.5", "-1", "1x", " 1", "99999999999999999999", "0x1", "nan"}) {
    EXPECT_EQ(ErrorOf({{"f", text}}),
              "rule x: f=" + std::string(text) + " must be integer in [0, 9]");
  }
  for (const char* text : {"", "0", "-1", "nan", "inf", "1e999", "1,5", "one"}) {
    EXPECT_EQ(ErrorOf({{"f", "1"}, {"tau", text}}),
              "rule x: tau=" + std::string(text) + " must be real > 0");
  }
}

TEST(ParametersTest, SplitsAtTheFirstEqualsSign) {
  const auto argument = ParseArgument("key=a=b");
  ASSERT_TRUE(argument.ok());
  EXPECT_EQ(argument->first, "key");
  EXPECT_EQ(argument->second, "a=b");
  EXPECT_FALSE(ParseArgument("key").ok());
  EXPECT_FALSE(ParseArgument("=value").ok());
}

}  // namespace
}  // namespace ostraka::aggregation::parameters_test
