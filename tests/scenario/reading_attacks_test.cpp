// Attacks that reviewers found who had not written the rules. When it was found, each removed
// honest members or made all others wait for ever (sim/attacks/messages/seal_tricks.cpp,
// free_ride.cpp). The simulator's checkers, including the premises and `lateness`, watch every
// step.
#include <gtest/gtest.h>

#include <string>

#include "node/protocol/ground/manifest.h"
#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::reading_attacks_test {
namespace {

SimResult RunAttack(const Swarm& swarm, const std::string& attack, const AttackParams& params,
                    std::uint64_t seed, std::uint32_t steps) {
  SimOptions options;
  options.peers = swarm.peers;
  options.byzantine = swarm.byzantine;
  options.attack = attack;
  options.attack_params = params;
  options.seed = seed;
  options.steps = steps;
  options.dimension = 200;
  options.await_removal = false;
  return RunWithoutHarm(options);
}

void ExpectHarmless(const Swarm& swarm, const std::string& attack, const AttackParams& params,
                    std::uint32_t steps = 20) {
  std::uint64_t misdeeds = 0;
  for (std::uint64_t seed = 1; seed <= (swarm.peers > 8 ? 1 : SeedsUpTo(2)); ++seed) {
    misdeeds += RunAttack(swarm, attack, params, seed, steps).misdeeds;
  }
  EXPECT_GT(misdeeds, 0U) << "nobody attacked";
}

// Seconds a step above an honest run's.
double ExcessPerStep(const Swarm& swarm, const SimResult& result) {
  const SimResult honest = RunAttack({swarm.peers, 0}, "none", {}, 1, 20);
  return result.virtual_time.seconds() / static_cast<double>(result.steps) -
         honest.virtual_time.seconds() / static_cast<double>(honest.steps);
}

double DeltaSeconds() { return protocol::Manifest().delta.seconds(); }

void ExpectAllRemoved(const Swarm& swarm, const SimResult& result) {
  EXPECT_EQ(MembersRemoved(result), swarm.byzantine) << result.replay;
}

// --- honest members lost their place -------------------------------------------------------------

class SealTrick : public testing::TestWithParam<Swarm> {};

// [The ECHO's parent made it count in the seal in progress, and the member that got it went on
// alone.]
TEST_P(SealTrick, ThirdFrameForASlotOfAnotherPhaseCountsNowhere) {
  if (GetParam().byzantine > 1) ExpectHarmless(GetParam(), "seal_trick", {{"idea", "1"}});
  ExpectHarmless(GetParam(), "seal_trick", {{"idea", "2"}});
}

// [The member that decided by it forwarded the first two, and was ahead of all others by more than
// 2 Delta.]
TEST_P(SealTrick, ThirdEchoIsForwardedByTheMemberThatDecidedByIt) {
  ExpectHarmless(GetParam(), "seal_trick", {{"idea", "3"}});
  ExpectHarmless(GetParam(), "seal_trick", {{"idea", "6"}});
}

// [The copy counted as in time, and the owner was charged for the part that came at the last
// moment.]
TEST_P(SealTrick, UnacceptableCopyOfAPartDoesNotCount) {
  ExpectHarmless(GetParam(), "seal_trick", {{"idea", "4"}});
}

// [ECHOs at the others' deadlines of seal A seemed hasty to a member that had opened it 1.3 Delta
// later.]
TEST_P(SealTrick, MemberThatOpensAStepLateNamesNobody) {
  ExpectHarmless(GetParam(), "seal_trick", {{"idea", "5"}}, GetParam().peers > 8 ? 20 : 40);
}

// [It testified that it held the part in time, when its owner no longer waited.]
TEST_P(SealTrick, LateMemberForwardsNoLongerThanOthers) {
  if (GetParam().byzantine > 1) ExpectHarmless(GetParam(), "seal_trick", {{"idea", "7"}}, 40);
}

// [The member whose testimony was needed had no room for a disputed part.]
TEST_P(SealTrick, MemberThatEndsAStepLateStillGetsDisputedParts) {
  if (GetParam().byzantine > 1) ExpectHarmless(GetParam(), "seal_trick", {{"idea", "8"}});
}

INSTANTIATE_TEST_SUITE_P(Swarms, SealTrick, testing::ValuesIn(Swarms()), NameOfParam);

class FreeRide : public testing::TestWithParam<Swarm> {};

// [A member that had not begun the step kept two arbitrary parts of each worker, and nobody asked
// for the others.]
TEST_P(FreeRide, PartThatCameTooEarlyIsRequested) {
  ExpectHarmless(GetParam(), "free_ride", {{"kind", "4"}}, 20);
  if (GetParam().byzantine > 1) ExpectHarmless(GetParam(), "free_ride", {{"kind", "5"}}, 20);
}

// [One member was asked for it each half Delta, and PROOFs waited.]
TEST_P(FreeRide, ExhibitShownToAFewReachesAllInTime) {
  ExpectHarmless(GetParam(), "free_ride", {{"kind", "6"}, {"all", "2"}}, 30);
}

// --- all others waited ---------------------------------------------------------------------------

TEST_P(FreeRide, EchoAfterTheGateThatLacksAnEntryIsDropped) {
  for (const char* echo : {"1.1", "1.4", "2.4"}) {
    const SimResult result =
        RunAttack(GetParam(), "free_ride", {{"kind", "2"}, {"echo", echo}}, 1, 30);
    ExpectAllRemoved(GetParam(), result);
    EXPECT_LT(result.slow_steps, 6U) << echo;
  }
}

TEST_P(FreeRide, EchoAtTheLastMomentIsDropped) {
  ExpectAllRemoved(GetParam(),
                   RunAttack(GetParam(), "free_ride", {{"kind", "1"}, {"echo", "3.3"}}, 1, 40));
}

// [A lag included the wait of Delta/4 before its author asked, so that each lag raised the next
// Delta.]
TEST_P(FreeRide, MessagesForOneMemberOnlyDoNotRaiseDelta) {
  const SimResult result = RunAttack(GetParam(), "free_ride", {{"kind", "3"}}, 1, 60);
  EXPECT_LT(ExcessPerStep(GetParam(), result), DeltaSeconds()) << result.replay;
}

// Everything that no rule charges, at once: docs/protocol/waits.md bounds its cost.
TEST_P(FreeRide, UnchargedTimeIsBounded) {
  const SimResult result = RunAttack(GetParam(), "free_ride",
                                     {{"kind", "1"},
                                      {"commit", "3.7"},
                                      {"agg", "7.3"},
                                      {"reveal", "1.3"},
                                      {"result", "3.7"},
                                      {"proof", "7.3"},
                                      {"echo", "1.4"}},
                                     1, 30);
  EXPECT_LT(ExcessPerStep(GetParam(), result), 22 * DeltaSeconds()) << result.replay;
}

// [A late COMMIT counted twice: it moved the bar of the AGGs, and excused them.]
TEST_P(FreeRide, ColludersOfALateWorkerPayForTheirOwnLateness) {
  if (GetParam().byzantine == 1) return;  // it has no colluder
  const SimResult result = RunAttack(GetParam(), "free_ride",
                                     {{"kind", "9"}, {"commit", "20.5"}, {"agg", "41.0"}}, 1, 30);
  const protocol::Manifest manifest;
  const double deadline = (manifest.part_timeout * 2 + manifest.delta * 2).seconds();
  const double places = static_cast<double>(result.removals.size());
  EXPECT_GT(places, 0);
  EXPECT_LT(result.virtual_time.seconds(), 60 + 5 * deadline * places) << result.replay;
}

INSTANTIATE_TEST_SUITE_P(Swarms, FreeRide, testing::ValuesIn(Swarms()), NameOfParam);

// --- one line of script --------------------------------------------------------------------------

// Its AGG, REVEAL or PROOF reaches one honest member just before the deadline and nobody else.
// [That member's ECHO named an entry that was sealed absent, and counted as never shown.]
TEST(ShownToOne, JustBeforeTheDeadlineRemovesNobodyElse) {
  for (const char* word : {"aggregate@a", "reveal@b", "proof@c"}) {
    for (std::uint64_t seed = 1; seed <= SeedsUpTo(4); ++seed) {
      const std::string script =
          std::string("h2=0,solo;") + word + "*0>one0:hold(deadline-1);" + word + "*0>all:drop";
      SimOptions options;
      options.peers = 8;
      options.byzantine = 1;
      options.attack = "free";
      options.attack_params["script"] = script;
      options.seed = seed;
      options.steps = 12;
      options.dimension = 200;
      options.await_removal = false;
      RunWithoutHarm(options);
    }
  }
}

}  // namespace
}  // namespace ostraka::sim::reading_attacks_test
