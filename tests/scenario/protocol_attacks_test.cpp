// Attacks on the protocol itself: each ends as sim/adversary/registry.h says, by the rule that is
// meant for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster.h"

namespace ostraka::sim {
namespace {

SimResult RunAttack(const std::string& attack, AttackParams params = {}) {
  SimOptions options;
  options.attack = attack;
  options.attack_params = std::move(params);
  options.steps = 120;
  options.dimension = 200;
  auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result).value();
}

void ExpectAllRemoved(const SimResult& result, wire::RemovalKind kind, std::string_view reason) {
  ASSERT_TRUE(result.ok) << result.failure->message << "\n" << result.replay;
  EXPECT_EQ(result.byzantine_removed, 3U);
  for (const wire::Removal& removal : result.removals) {
    EXPECT_EQ(removal.kind, kind) << removal.reason;
    EXPECT_THAT(removal.reason, testing::HasSubstr(reason));
  }
}

TEST(ProtocolAttack, FalseAccusersAreBannedByTheVerdict) {
  ExpectAllRemoved(RunAttack("false_accuse"), wire::RemovalKind::kVerdict, "falsely");
}

TEST(ProtocolAttack, EquivocatorsAreBannedInTheStepThatShowsIt) {
  const SimResult result = RunAttack("equivocate");
  ExpectAllRemoved(result, wire::RemovalKind::kEvidence, "two different COMMITs");
  EXPECT_EQ(result.detection_steps, 0U);
}

TEST(ProtocolAttack, FalseRevealersAreBannedInTheStepThatShowsIt) {
  const SimResult result = RunAttack("bad_reveal");
  ExpectAllRemoved(result, wire::RemovalKind::kEvidence, "does not open its COMMIT");
  EXPECT_EQ(result.detection_steps, 0U);
}

// Contained: the columns that they touch are void, nobody honest is removed, training goes on.
TEST(ProtocolAttack, WrongAggregatesAndWithheldPartsAreContained) {
  const double honest_loss = RunAttack("none").loss;
  for (const char* attack : {"wrong_aggregate", "selective_send"}) {
    const SimResult result = RunAttack(attack);
    EXPECT_TRUE(result.ok) << attack << ": " << result.failure->message;
    EXPECT_EQ(result.honest_removed, 0U) << attack;
    EXPECT_LT(result.loss, 2 * honest_loss) << attack;
  }
}

// With lies about the sums every column is void: training stands still, but nothing false enters.
TEST(ProtocolAttack, FalseProofsAreContained) {
  const SimResult result = RunAttack("false_proof");
  EXPECT_TRUE(result.ok) << result.failure->message;
  EXPECT_EQ(result.honest_removed, 0U);
}

// Halves that hold different COMMITs: safety holds, progress does not (without SEAL's slow path).
TEST(ProtocolAttack, SplitEquivocationStallsButNeverForks) {
  const SimResult result = RunAttack("equivocate", {{"split", "1"}});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->checker, "progress") << result.failure->message;
  EXPECT_EQ(result.honest_removed, 0U);
}

// The test of the tests: what the protocol prevents does happen without it.
TEST(ProtocolAttack, UnprotectedRunsAreRuinedBySignFlip) {
  SimOptions options;
  options.attack = "sign_flip";
  options.steps = 60;
  options.dimension = 200;
  options.unprotected = true;
  const auto ruined = RunSimulation(options);
  ASSERT_TRUE(ruined.ok());
  EXPECT_EQ(ruined->byzantine_removed, 0U);
  options.unprotected = false;
  const auto protected_run = RunSimulation(options);
  ASSERT_TRUE(protected_run.ok());
  EXPECT_FALSE(ruined->loss < 100 * protected_run->loss) << "NaN or huge: " << ruined->loss;
}

}  // namespace
}  // namespace ostraka::sim
