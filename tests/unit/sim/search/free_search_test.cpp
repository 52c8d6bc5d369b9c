#include "sim/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/run/shrink.h"
#include "sim/script/simplify.h"

namespace ostraka::sim::free_search_test {
namespace {

TEST(FreeSearchTest, IsAFunctionOfItsSeedAndExtendsAShorterOne) {
  SearchOptions options;
  options.runs = 3;
  std::size_t places_after_three = 0;
  const auto three = SearchFree(options);
  options.runs = 5;
  const auto five = SearchFree(options, [&](const SearchResult& now) {
    if (now.runs == 3) places_after_three = now.marks;
  });
  ASSERT_TRUE(three.ok() && five.ok());
  EXPECT_EQ(three->runs, 3U);
  EXPECT_EQ(three->marks, places_after_three);
  EXPECT_GT(three->corpus, 0U) << "the first run has been where none was";
}

TEST(FreeSearchTest, EveryStageIsAValidRun) {
  bool cut = false;
  bool from_genesis = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimOptions options = DrawStage(seed);
    EXPECT_TRUE(CheckOptions(options).ok()) << FormatOptions(options);
    EXPECT_GT(options.byzantine, 0U);
    cut |= options.cut != "none";
    from_genesis |= options.attack_from_step == 0;
    EXPECT_EQ(options.cut == "none", IsTimely(options)) << FormatOptions(options);
  }
  EXPECT_TRUE(cut && from_genesis);
}

TEST(SimplifyTest, RemovesDeviationsOneByOneAndChangesNoOther) {
  const auto script = ParseScript(
      "h2=14,deaf;echo@a*0>h1:unreadable;aggregate@a>all:hold(echo.h1.last+31);"
      "vote@b.i1>h2:swap;any@c.s2>one1:later");
  ASSERT_TRUE(script.ok());
  const auto simpler = SimplerScripts(*script);
  for (std::size_t i = 0; i < script->deviations.size(); ++i) {
    Script without = *script;
    without.deviations.erase(without.deviations.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_TRUE(std::any_of(simpler.begin(), simpler.end(), [&](const SimplerScript& one) {
      return one.script == without;
    })) << i;
  }
  for (const SimplerScript& one : simpler) {
    EXPECT_NE(one.script, *script) << one.what;
    EXPECT_TRUE(ParseScript(FormatScript(one.script)).ok()) << one.what;
  }
  EXPECT_TRUE(std::any_of(simpler.begin(), simpler.end(), [](const SimplerScript& one) {
    return FormatScript(one.script).starts_with("h2=3,deaf");
  })) << "the same number of members, the first ones";
}

TEST(SimplifyTest, ShrinkTriesSimplerScriptsAndNeverDrawsAnother) {
  SimOptions options = DrawStage(1);
  options.attack_params["script"] = "h2=1,twins;echo@a>h1:drop;proof@c>all:drop";
  bool simpler = false;
  for (const Smaller& one : Simplifications(options)) {
    const auto script = one.options.attack_params.find("script");
    if (one.options.attack == "free") {
      ASSERT_NE(script, one.options.attack_params.end()) << one.what;
      simpler |= script->second == "h2=1,twins;proof@c>all:drop";
    }
  }
  EXPECT_TRUE(simpler);
}

}  // namespace
}  // namespace ostraka::sim::free_search_test
