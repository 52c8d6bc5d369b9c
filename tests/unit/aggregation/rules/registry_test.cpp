#include "aggregation/rules/registry.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::registry_test {
namespace {

// Requires every text of a description, and that its defaults parse.
void ExpectComplete(const Description& about, std::string_view kind) {
  SCOPED_TRACE(std::string(about.name));
  for (const std::string_view text : {about.name, about.summary, about.definition, about.source,
                                      about.requirement, about.breakdown}) {
    EXPECT_FALSE(text.empty());
  }
  EXPECT_EQ(about.summary.back() == '.', false);
  EXPECT_GE(about.passes, 1);
  EXPECT_EQ(about.reference == ReferenceUse::kNone, about.reference_meaning.empty());
  for (std::size_t k = 0; k < about.parameters.size(); ++k) {
    const ParameterInfo& info = about.parameters[k];
    EXPECT_EQ(info.name == "f", k == 0 && about.parameters.front().name == "f") << info.name;
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    EXPECT_EQ(info.default_kind == Default::kRequired, info.default_text.empty()) << info.name;
    EXPECT_EQ(info.type == ValueType::kChoice, !info.choices.empty()) << info.name;
    for (const Choice& choice : info.choices) EXPECT_FALSE(choice.meaning.empty());
  }
  Arguments required = {{"f", "1"}};
  for (const ParameterInfo& info : about.parameters) {
    if (info.default_kind == Default::kRequired && info.name != "f") {
      required.emplace_back(info.name, "1");
    }
  }
  const auto parameters = ParametersOf(about, kind, required);
  EXPECT_TRUE(parameters.ok()) << parameters.status();
}

template <typename Infos>
void ExpectSortedAndComplete(const Infos& infos, std::string_view kind) {
  for (std::size_t i = 0; i < infos.size(); ++i) {
    ExpectComplete(infos[i]->about, kind);
    if (i == 0) continue;
    EXPECT_LT(infos[i - 1]->about.name, infos[i]->about.name);
  }
}

TEST(RegistryTest, EveryEntryIsCompleteAndSorted) {
  ExpectSortedAndComplete(Rules(), "rule");
  ExpectSortedAndComplete(PreAggregations(), "pre-aggregation");
}

TEST(RegistryTest, FindsByNameAndSuggests) {
  const auto found = FindRule("centered_clip");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->about.name, "centered_clip");
  const auto missing = FindRule("centred_clip");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(base::MessageOf(missing.status()),
            "unknown rule 'centred_clip'; did you mean 'centered_clip'?");
}

TEST(RegistryTest, TooManyFaultsNameTheRequirement) {
  const auto rule = MakeRule("centered_clip", {{"f", "2"}});
  ASSERT_TRUE(rule.ok());
  const testing::Matrix rows = {{1}, {2}, {3}, {4}};
  std::vector<float> out(1);
  const base::Status status = (*rule)->Aggregate(testing::RowsOf(rows), SerialExecutor(), out);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(base::MessageOf(status),
            "rule centered_clip needs f < n/2, not f = 2 with n = 4 rows; at most f = 1 here");
}

TEST(RegistryTest, NoRowsAndNoCoordinatesAreRefused) {
  const auto rule = MakeRule("mean", {});
  ASSERT_TRUE(rule.ok());
  std::vector<float> none;
  EXPECT_EQ(base::MessageOf((*rule)->Aggregate(Rows(), SerialExecutor(), none)),
            "no rows to aggregate");
  const float value = 1;
  Rows rows;
  rows.row = {&value};
  EXPECT_EQ(base::MessageOf((*rule)->Aggregate(rows, SerialExecutor(), none)),
            "rows have no coordinates");
}

}  // namespace
}  // namespace ostraka::aggregation::registry_test
