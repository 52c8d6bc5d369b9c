#include "aggregation/shared/byzfl_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "aggregation/attacks/attacks.h"
#include "aggregation/rules/registry.h"

namespace ostraka::aggregation::byzfl_names_test {
namespace {

// The arguments of an entry as the registries take them; with f, which some require.
Arguments ArgumentsOf(std::string_view text, bool with_f) {
  Arguments arguments;
  if (with_f) arguments.emplace_back("f", "1");
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t equal = one.find('=');
    arguments.emplace_back(one.substr(0, equal), one.substr(equal + 1));
  }
  return arguments;
}

base::Status Made(const ByzflName& entry) {
  if (entry.kind == "rule") {
    return MakeRule(entry.ours, ArgumentsOf(entry.arguments, true)).status();
  }
  if (entry.kind == "pre-aggregation") {
    return MakePreAggregation(entry.ours, ArgumentsOf(entry.arguments, true)).status();
  }
  return MakeAttack(entry.ours, ArgumentsOf(entry.arguments, false)).status();
}

TEST(ByzflNamesTest, EveryEntryIsOneOfOursWithItsArguments) {
  std::set<std::string_view> seen;
  for (const ByzflName& entry : ByzflNames()) {
    EXPECT_TRUE(Made(entry).ok()) << entry.theirs << ": " << Made(entry);
    EXPECT_TRUE(seen.insert(entry.theirs).second) << entry.theirs << " twice";
  }
  EXPECT_GT(seen.size(), 25U);
}

TEST(ByzflNamesTest, HintsNameTheKindAndTheArguments) {
  EXPECT_EQ(ByzflHint("TrMean"), "; TrMean is the rule 'trimmed_mean' here (docs/from-byzfl.md)");
  EXPECT_EQ(ByzflHint("ALittleIsEnough"),
            "; ALittleIsEnough is the attack 'alie' with z=-1.5 ddof=1 here (docs/from-byzfl.md)");
  EXPECT_EQ(ByzflHint("trmean"), "");
}

TEST(ByzflNamesTest, TheRegistriesGiveTheHint) {
  EXPECT_EQ(base::MessageOf(FindRule("NNM").status()),
            "unknown rule 'NNM'; NNM is the pre-aggregation 'nnm' here (docs/from-byzfl.md)");
  EXPECT_EQ(base::MessageOf(MakeAttack("Mimic", {}).status()),
            "unknown attack 'Mimic'; Mimic is the attack 'mimic' here (docs/from-byzfl.md)");
}

}  // namespace
}  // namespace ostraka::aggregation::byzfl_names_test
