#include "sim/compare/plan/grid_toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::compare::grid_toml_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseGrid, TakesOneValueOrAListOrARange) {
  const auto grid = ParseGrid(R"(
name = "x"
rules = "mean"
byzantine = [1, "3..5"]
seeds = "0..3"
learning_rate = [0.1, 1]
study = true
)");
  ASSERT_TRUE(grid.ok()) << grid.status().ToString();
  EXPECT_EQ(grid->name, "x");
  EXPECT_THAT(grid->rules, ElementsAre("mean"));
  EXPECT_THAT(grid->byzantine, ElementsAre(1u, 3u, 4u, 5u));
  EXPECT_THAT(grid->seeds, ElementsAre(0u, 1u, 2u, 3u));
  EXPECT_THAT(grid->learning_rate, ElementsAre(0.1, 1.0));
  EXPECT_TRUE(grid->study);
  EXPECT_EQ(grid->steps, Grid().steps);  // a default
}

TEST(ParseGrid, PresetGivesDefaults) {
  const auto grid = ParseGrid("preset = \"smoke\"\nseeds = 7\n");
  ASSERT_TRUE(grid.ok()) << grid.status().ToString();
  EXPECT_THAT(grid->seeds, ElementsAre(7u));
  EXPECT_EQ(grid->rules, ParseGrid(*PresetText("smoke"))->rules);
}

TEST(ParseGrid, WriteGridReadsBack) {
  Grid grid = *ParseGrid(*PresetText("btard-2022"));
  grid.name = "a \"quoted\"\nname\\";
  const std::string text = WriteGrid(grid);
  const auto back = ParseGrid(text);
  ASSERT_TRUE(back.ok()) << back.status().ToString() << "\n" << text;
  EXPECT_EQ(back->name, grid.name);
  EXPECT_EQ(WriteGrid(*back), text);
  EXPECT_THAT(back->tolerate, ElementsAre());
  EXPECT_EQ(back->rules, grid.rules);
  EXPECT_EQ(back->weight_decay, grid.weight_decay);
}

TEST(ParseGrid, ErrorsNameTheLineAndTheProblem) {
  const auto error = [](const char* text) { return base::MessageOf(ParseGrid(text).status()); };
  EXPECT_THAT(error("rules = [\"mean\"]\natacks = \"none\"\n"),
              testing::AllOf(HasSubstr("line 2"), HasSubstr("did you mean 'attacks'?")));
  EXPECT_THAT(error("seeds = -1"), HasSubstr("whole number"));
  EXPECT_THAT(error("seeds = \"4..1\""), HasSubstr("whole number"));
  EXPECT_THAT(error("seeds = \"0..18446744073709551615\""), HasSubstr("whole number"));
  EXPECT_THAT(error("seeds = []"), HasSubstr("empty list"));
  EXPECT_THAT(error("learning_rate = \"fast\""), HasSubstr("must be a number"));
  EXPECT_THAT(error("rules = [1]"), HasSubstr("list of strings"));
  EXPECT_THAT(error("steps = [1, 2]"), HasSubstr("whole number"));
  EXPECT_THAT(error("preset = \"smok\""), HasSubstr("did you mean 'smoke'?"));
  EXPECT_THAT(error("rules = [\"mean\""), HasSubstr("grid line 1"));
  EXPECT_THAT(error("study = 1"), HasSubstr("true or false"));
}

}  // namespace
}  // namespace ostraka::compare::grid_toml_test
