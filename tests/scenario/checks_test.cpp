// One named scenario for each check of the protocol: an attack that needs it, the reaction of the
// check, and that no honest run triggers it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/run/cluster.h"

namespace ostraka::sim::checks_test {
namespace {

SimResult RunWith(const std::string& attack) {
  SimOptions options;
  options.attack = attack;
  options.steps = 60;
  options.dimension = 200;
  auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->message << "\n" << result->replay;
  return std::move(result).value();
}

std::uint64_t CountOf(const std::map<std::string, std::uint64_t>& counts, const std::string& key) {
  const auto entry = counts.find(key);
  return entry == counts.end() ? 0 : entry->second;
}

TEST(Checks, NoCheckFiresInAnHonestRun) {
  const SimResult result = RunWith("none");
  EXPECT_THAT(result.suspicions, testing::IsEmpty());
  EXPECT_THAT(result.removals, testing::IsEmpty());
  EXPECT_THAT(result.columns, testing::ElementsAre(testing::Pair("applied", testing::Ge(7U * 60))));
}

// V1: each aggregator finds the workers that lied about the parts that it holds.
TEST(Checks, V1NamesWorkersWhoseNumbersContradictTheirParts) {
  const SimResult result = RunWith("false_proof");
  EXPECT_GT(CountOf(result.suspicions, "V1"), 0U);
  EXPECT_GT(CountOf(result.columns, "sum_check"), 0U) << "what the lies touch is not applied";
  EXPECT_EQ(result.honest_removed, 0U);
}

// V2: the sums of a shifted aggregate do not vanish, so it is never applied.
TEST(Checks, V2VoidsAShiftedAggregate) {
  const SimResult result = RunWith("wrong_aggregate");
  EXPECT_GT(CountOf(result.columns, "sum_check"), 0U);
  EXPECT_GT(CountOf(result.columns, "applied"), CountOf(result.columns, "sum_check"));
  EXPECT_EQ(result.honest_removed, 0U);
}

// Column rule: a column without 2b + 1 senders is void, so a selective bitmap cannot hand it to
// colluders.
TEST(Checks, ColumnWithTooFewSendersIsVoid) {
  const SimResult result = RunWith("selective_send");
  EXPECT_GT(CountOf(result.columns, "too_few_senders"), 0U);
  EXPECT_GT(CountOf(result.columns, "applied"), 0U);
  EXPECT_EQ(result.honest_removed, 0U);
}

// Validators: a false gradient is recomputed, accused, judged by the others and banned.
TEST(Checks, ValidatorsConvictAFalseGradient) {
  const SimResult result = RunWith("sign_flip");
  EXPECT_EQ(result.byzantine_removed, 3U);
  for (const wire::Removal& removal : result.removals) {
    EXPECT_EQ(removal.kind, wire::RemovalKind::kVerdict);
    EXPECT_THAT(wire::TextOf(removal.reason), testing::HasSubstr("does not follow from its batch"));
  }
}

// A false accusation costs the accuser its membership, and the accused nothing.
TEST(Checks, AFalseAccusationBansTheAccuser) {
  const SimResult result = RunWith("false_accuse");
  EXPECT_EQ(result.byzantine_removed, 3U);
  for (const wire::Removal& removal : result.removals) {
    EXPECT_EQ(removal.kind, wire::RemovalKind::kVerdict);
    EXPECT_THAT(wire::TextOf(removal.reason), testing::HasSubstr("falsely"));
  }
}

// Equivocation that all members see is sealed as such, and the block of that step bans for it.
TEST(Checks, EquivocationIsSealedAndBanned) {
  const SimResult result = RunWith("equivocate");
  EXPECT_EQ(result.byzantine_removed, 3U);
  EXPECT_GT(CountOf(result.suspicions, "equivocation"), 0U);
  EXPECT_EQ(result.detection_steps, 0U);
}

}  // namespace
}  // namespace ostraka::sim::checks_test
