#include "node/base/suggest.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace ostraka::base::suggest_test {
namespace {

const std::vector<std::string> kWords = {"steps", "momentum", "learning_rate", "eps", "eps_g"};

TEST(ClosestNameTest, FindsEachKindOfSlip) {
  EXPECT_EQ(ClosestName("steps", kWords), "steps");
  EXPECT_EQ(ClosestName("stepss", kWords), "steps");               // a letter too many
  EXPECT_EQ(ClosestName("stps", kWords), "steps");                 // one missing
  EXPECT_EQ(ClosestName("staps", kWords), "steps");                // a wrong one
  EXPECT_EQ(ClosestName("setps", kWords), "steps");                // two swapped
  EXPECT_EQ(ClosestName("lerning-rat", kWords), "learning_rate");  // three slips of thirteen
}

TEST(ClosestNameTest, IsSilentWhenNothingIsClose) {
  EXPECT_EQ(ClosestName("abracadabra", kWords), "");
  EXPECT_EQ(ClosestName("tempo", kWords), "");  // three slips of five
  EXPECT_EQ(ClosestName("foo", {"rop"}), "") << "two slips of three";
  EXPECT_EQ(ClosestName("gtp", {"gpt"}), "gpt");
  EXPECT_EQ(ClosestName("gererate", {"aggregate"}), "") << "three slips of eight";
  EXPECT_EQ(ClosestName("steps", {}), "");
  EXPECT_EQ(ClosestName(std::string(100'000, 's'), kWords), "");  // and quick
}

TEST(ClosestNameTest, SwappedNeighboursAreOneSlip) {
  // Two swaps are two slips; as substitutions they would be four, too many for five letters.
  EXPECT_EQ(ClosestName("tspes", {"steps"}), "steps");
}

TEST(ClosestNameTest, TheLeastDistanceWinsAndTiesGoToTheFirst) {
  EXPECT_EQ(ClosestName("eps_", {"eps", "eps_g"}), "eps");
  EXPECT_EQ(ClosestName("eps_", {"eps_g", "eps"}), "eps_g");
  EXPECT_EQ(ClosestName("eps_h", {"eps", "eps_g"}), "eps_g");
}

RC_GTEST_PROP(ClosestNameProperty, OneSlipIsAlwaysCorrected, ()) {
  const auto word =
      *rc::gen::suchThat(rc::gen::container<std::string>(rc::gen::inRange('a', 'z')),
                         [](const auto& s) { return s.size() >= 1 && s.size() < 40; });
  std::string slip = word;
  const auto at = *rc::gen::inRange<std::size_t>(0, word.size());
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      slip.erase(at, 1);
      break;
    case 1:
      slip.insert(at, 1, '_');
      break;
    default:
      slip[at] = '_';
  }
  RC_ASSERT(ClosestName(slip, {word}) == word);
}

TEST(SuggestionForTest, SuggestsOrLists) {
  EXPECT_EQ(SuggestionFor("stps", kWords), "; did you mean 'steps'?");
  EXPECT_EQ(SuggestionFor("abracadabra", {"a", "b"}), "; known: a, b");
}

}  // namespace
}  // namespace ostraka::base::suggest_test
