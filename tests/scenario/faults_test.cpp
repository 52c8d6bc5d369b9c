// Crashes, lost disks and partitions, alone and with attackers: what docs/simulation.md promises of
// such runs. The checkers do the watching: agreement of seals and blocks, no double signature over
// restarts, no ban lost, nobody honest banned, honest peers dropped only if a fault hit them, who
// lost its disk asks to rejoin first, and progress within the stated bound once the fault is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim {
namespace {

SimOptions Eight(std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.byzantine = 0;
  options.steps = 40;
  options.dimension = 200;
  return options;
}

SimResult RunWell(const SimOptions& options) {
  auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  EXPECT_GE(result->steps, options.steps) << "also those who were away";
  return std::move(result).value();
}

// The `recovery` checker holds every run to its bound; this run must have put it to the test.
void ExpectRecovered(const SimResult& result) {
  ASSERT_TRUE(result.recovery) << "the run was over before the fault was";
  EXPECT_LE(result.recovery->took, result.recovery->bound);
}

std::size_t BansOf(const SimResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.removals.begin(), result.removals.end(),
                    [](const wire::Removal& removal) { return wire::IsBan(removal.kind); }));
}

// --- crashes ------------------------------------------------------------------------------------

TEST(Crashes, QuickRestartLosesNothing) {
  SimOptions options = Eight(1);
  options.crashes = 10;
  options.crash_down = base::Milliseconds(200);
  EXPECT_EQ(RunWell(options).honest_removed, 0U);
}

TEST(Crashes, LongAbsentMemberIsDroppedThenFollowsAndReturns) {
  SimOptions options = Eight(2);
  options.steps = 60;
  options.crashes = 2;
  options.crash_down = base::Seconds(120);
  const SimResult result = RunWell(options);
  EXPECT_GT(result.honest_removed, 0U);
  EXPECT_GT(result.returns, 0U);
  EXPECT_EQ(BansOf(result), 0U);
}

TEST(Crashes, PeerWithoutItsDiskReturnsOnlyByRejoin) {
  SimOptions options = Eight(3);
  options.crashes = 2;
  options.lose_disk = true;
  const SimResult result = RunWell(options);
  EXPECT_GT(result.returns, 0U);
  EXPECT_EQ(BansOf(result), 0U);
}

// Found by the machine's fuzzer: one that had lost its disk fetched blocks, was killed again and
// took them for its own past. It went on as a member and signed a second time what it had signed.
TEST(Crashes, PeerKilledAgainBeforeItsAdmissionSignsNothing) {
  for (const std::uint64_t seed : {1, 4, 9}) {
    SimOptions options;
    options.seed = seed;
    options.byzantine = 0;
    options.steps = 20;
    options.crashes = 3;
    options.lose_disk = true;
    const SimResult result = RunWell(options);
    EXPECT_GT(result.faults.disks_lost, 0U);
    EXPECT_EQ(BansOf(result), 0U);
  }
}

SimOptions LongWithLostDisks(std::uint64_t seed, std::uint32_t crashes, std::uint64_t steps) {
  SimOptions options = Eight(seed);
  options.steps = steps;
  options.dimension = 60;
  options.crashes = crashes;
  options.lose_disk = true;
  return options;
}

// Disks are lost again and again. One that was lost soon after its owner had been admitted was
// followed by a store that met that admission among the blocks of the past, and took it for its
// own: two signatures of one slot.
TEST(Crashes, AdmissionOfALostStoreDoesNotCount) {
  const SimResult result = RunWell(LongWithLostDisks(7, 40, 500));
  EXPECT_GT(result.returns, 0U);
  EXPECT_EQ(BansOf(result), 0U);
}

// A long way back, from a fetched state, is interrupted. The state was stored without its block,
// and could not be used; and each block that came was one more question for thirty-two.
TEST(Crashes, CatchingUpContinuesAfterAKill) {
  for (const std::uint64_t seed : {1, 4}) {
    SimOptions options = LongWithLostDisks(seed, 8, 400);
    options.dimension = 100;
    const SimResult result = RunWell(options);
    EXPECT_GT(result.returns, 0U);
    EXPECT_EQ(BansOf(result), 0U);
  }
}

// Who comes back is helped while two members ask everybody for everything.
TEST(Crashes, FloodPreventsNoReturn) {
  SimOptions options = Eight(3);
  options.byzantine = 2;
  options.attack = "flood";
  options.attack_params["rate"] = "500";
  options.attack_params["most"] = "0";
  options.attack_from_step = 1;
  options.crashes = 2;
  options.lose_disk = true;
  const SimResult result = RunWell(options);
  EXPECT_GT(result.returns, 0U);
  EXPECT_EQ(result.byzantine_removed, 0U);
  EXPECT_EQ(BansOf(result), 0U);
}

// Two of those whom it asks for blocks, results and the state spoil what they give.
TEST(Crashes, PoisonedAnswerIsRequestedFromAnotherMember) {
  for (const char* cut : {"0", "1"}) {
    SimOptions options = Eight(3);
    options.byzantine = 2;
    options.attack = "state_poison";
    options.attack_params["cut"] = cut;
    options.attack_from_step = 1;
    options.crashes = 2;
    options.lose_disk = true;
    options.steps = 60;
    const SimResult result = RunWell(options);
    EXPECT_GT(result.returns, 0U);
    EXPECT_GT(result.misdeeds, 0U) << "nobody asked them";
    EXPECT_EQ(result.byzantine_removed, 0U);
    EXPECT_EQ(BansOf(result), 0U);
  }
}

// Two Byzantine and the killed one are what eight peers bear.
TEST(Crashes, KillsDuringAttacksChangeNoVerdict) {
  for (const char* attack : {"sign_flip", "equivocate", "false_accuse", "wrong_aggregate"}) {
    SimOptions options = Eight(4);
    options.byzantine = 2;
    options.attack = attack;
    options.crashes = 12;
    options.steps = 80;
    const SimResult result = RunWell(options);
    EXPECT_GE(result.byzantine_removed, 2U) << attack;
  }
}

// One member was killed in a seal, and again in its slow path, until the others had dropped it and
// gone on. It came back into iteration 2 of that seal, waited for others in it, and was helped by
// nobody: they help members, and it asked for heads at the beginning of an iteration only.
TEST(Crashes, MemberRestartedInASealThatEndedLeavesIt) {
  const SimOptions options = Replayed(
      "seed=1735 peers=6 byzantine=1 attack=lying_echo attack_from_step=8 await_removal=0 "
      "mode=third "
      "steps=40 validators=3 dimension=105 batch_size=25 delay_min_ns=4000000 "
      "delay_max_ns=17000000 "
      "jitter_ns=3000000 bytes_per_second=1600000 fsync_max_ns=4000000 drift_ppm=475 crashes=4 "
      "crash_down_ns=2493000000");
  const SimResult result = RunWell(options);
  // Since liars are dropped, few seals are slow, and it may be back before the others drop it.
  EXPECT_LE(result.honest_removed, 1U);
  ExpectRecovered(result);
}

// A false complainer's victim was killed, and once also dropped, before it could complain for the
// second time. It finds another: what it says of who has left is nobody's concern.
TEST(Crashes, FalseComplainerFindsAnotherVictimAfterACrash) {
  const SimResult result = RunWell(Replayed(
      "seed=7064 peers=16 byzantine=1 attack=false_complaint attack_from_step=1 mode=third "
      "steps=40 dimension=34 batch_size=31 delay_min_ns=3000000 delay_max_ns=3000000 "
      "jitter_ns=8000000 bytes_per_second=6400000 fsync_max_ns=7000000 loss_permille=5 "
      "duplicate_permille=53 drift_ppm=274 crashes=1 crash_down_ns=1976000000 attack.kind=2"));
  EXPECT_LE(result.honest_removed, 1U) << "the one that was killed";
  EXPECT_GE(result.byzantine_removed, 1U);
}

TEST(Crashes, CrashesCountAsFaults) {
  SimOptions options = Eight(1);
  options.byzantine = 3;
  options.crashes = 1;
  const auto refused = RunSimulation(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(base::MessageOf(refused.status()), testing::HasSubstr("counts as faulty"));
}

// Power fails everywhere at once, again and again.
TEST(Crashes, RunContinuesFromTheLastSealedBlockAfterABlackout) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    SimOptions options = Eight(seed);
    options.blackouts = 3;
    const SimResult result = RunWell(options);
    EXPECT_EQ(BansOf(result), 0U) << "seed " << seed;
  }
}

// --- partitions ---------------------------------------------------------------------------------

class Partition : public testing::TestWithParam<std::string> {};

TEST_P(Partition, NeverForksAndTheRunContinuesAfterIt) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SimOptions options = Eight(seed);
    options.cut = GetParam();
    const SimResult result = RunWell(options);
    EXPECT_EQ(BansOf(result), 0U);
    ExpectRecovered(result);
  }
}

TEST_P(Partition, DoesNotForkWithOneTwoFacedMember) {
  for (const std::uint64_t seed : {1, 2}) {
    SimOptions options = Eight(seed);
    options.cut = GetParam();
    options.byzantine = 1;  // t_a of eight
    options.attack = "equivocate";
    options.attack_params = {{"split", "1"}};
    options.attack_from_step = 10;  // about when the cut begins
    const SimResult result = RunWell(options);
    EXPECT_EQ(result.byzantine_removed, 1U);
    ExpectRecovered(result);
  }
}

// As many as an untimely network bears, each of whom does its worst in the seals while it is cut.
// `agreement` says that no two certificates came of it, `recovery` that the run went on in time.
TEST_P(Partition, NeitherForksNorStallsWithLyingEchoes) {
  struct Liar {
    const char* attack;
    AttackParams params;
  };
  for (const Liar& liar :
       {Liar{"equivocate", {{"one", "1"}}}, Liar{"withhold_echo", {}},
        Liar{"withhold_echo", {{"half", "1"}}}, Liar{"lying_echo", {}}, Liar{"double_propose", {}},
        Liar{"stale_lock", {}}, Liar{"withhold_result", {{"all", "1"}}}, Liar{"silent", {}}}) {
    SimOptions options = Eight(1);
    options.peers = 10;
    options.mode = protocol::Mode::kThird;
    options.byzantine = 3;  // t_a of ten
    options.cut = GetParam();
    options.attack = liar.attack;
    options.attack_params = liar.params;
    options.attack_from_step = 8;   // before the cut begins
    options.await_removal = false;  // a step in the cut may be the last in which it cheats
    const SimResult result = RunWell(options);
    EXPECT_GT(result.misdeeds, 0U) << liar.attack;
    ExpectRecovered(result);
  }
}

INSTANTIATE_TEST_SUITE_P(Cuts, Partition, testing::Values("halves", "one_way", "flapping", "flaky"),
                         [](const auto& test) { return test.param; });

// Members were sealed absent in one seal here and others in the next, until too few were awake for
// a quorum.
TEST(HealedPartition, NeverMutesMoreMembersThanTheStepCanSpare) {
  SimOptions options = Eight(4);
  options.cut = "flapping";
  RunWell(options);
}

// While each link of four was down in turns nobody heard the ECHO of an honest member. When the
// slow path counted from the own ECHO that cost it its place, and the three others, of whom one
// lies in its ECHOs, stood still.
TEST(HealedPartition, CuttingEachLinkInTurnRemovesNoMember) {
  const SimOptions options = Replayed(
      "seed=117 peers=4 byzantine=1 attack=lying_echo await_removal=0 steps=40 dimension=144 "
      "batch_size=26 delay_min_ns=1000000 delay_max_ns=17000000 bytes_per_second=6400000 "
      "fsync_max_ns=2000000 loss_permille=28 duplicate_permille=42 stall_permille=2 cut=flaky "
      "cut_at_ns=7009000000 cut_for_ns=13481000000");
  EXPECT_EQ(RunWell(options).honest_removed, 0U);
}

// One of four was on a short way back and waited for results from two who were cut off; then the
// way was a long one, a state was to be fetched, and those requests left no room to ask for it.
TEST(HealedPartition, FollowerNearTheHeadMayFallFarBehind) {
  const SimOptions options = Replayed(
      "seed=5311 peers=4 byzantine=0 steps=40 validators=3 dimension=34 batch_size=10 "
      "delay_min_ns=4000000 delay_max_ns=16000000 jitter_ns=0 bytes_per_second=400000 "
      "fsync_max_ns=3000000 duplicate_permille=48 stall_permille=7 skew_ns=23489000000 crashes=2 "
      "crash_down_ns=2551000000 cut=flaky cut_at_ns=1046000000 cut_for_ns=67540000000");
  EXPECT_EQ(RunWell(options).honest_removed, 0U);
}

// Four honest members, of which one or another was not heard when its coin was asked for, until
// both coins of the step were spoilt: every one of them gave the run up.
TEST(HealedPartition, WaitsForTheLastCoin) {
  const SimOptions options = Replayed(
      "seed=9010 peers=4 byzantine=0 steps=80 dimension=193 batch_size=5 delay_min_ns=5000000 "
      "delay_max_ns=24000000 jitter_ns=7000000 bytes_per_second=200000 fsync_max_ns=7000000 "
      "stall_permille=4 drift_ppm=170 cut=flaky cut_at_ns=6323000000 cut_for_ns=63415000000");
  ExpectRecovered(RunWell(options));
}

// A cut spoilt a coin, and what was decided left out one member but not the one that lost its disk.
// There were two coins, and no deadline for the last: all waited for one that only the next block
// could let sign again.
TEST(HealedPartition, WaitsForNoCoinOfALostDisk) {
  const SimOptions options = Replayed(
      "seed=40183 peers=4 byzantine=0 steps=40 validators=3 dimension=8 batch_size=27 "
      "delay_min_ns=57000000 delay_max_ns=176000000 jitter_ns=5000000 bytes_per_second=800000 "
      "fsync_max_ns=5000000 loss_permille=8 duplicate_permille=31 stall_permille=4 "
      "skew_ns=39109000000 crashes=4 crash_down_ns=3870000000 lose_disk=1 cut=halves "
      "cut_at_ns=6337000000 cut_for_ns=12108000000");
  ExpectRecovered(RunWell(options));
}

// One member heard nobody for a while. Then all came at once, and the LOCKs decided the seal it was
// in, whose messages the others had long thrown away; it asked for those and for nothing else.
TEST(HealedPartition, SealWhoseMessagesAreGoneIsLeft) {
  const SimOptions options = Replayed(
      "seed=3511 peers=7 byzantine=1 attack=opt_min_sum attack_from_step=7 await_removal=0 "
      "mode=balanced steps=40 validators=2 dimension=201 batch_size=4 delay_min_ns=6000000 "
      "delay_max_ns=19000000 jitter_ns=6000000 bytes_per_second=400000 fsync_max_ns=6000000 "
      "loss_permille=8 cut=one_way cut_at_ns=5212000000 cut_for_ns=14380000000");
  ExpectRecovered(RunWell(options));
}

// Each half missed the other's echoes and results, and the next block dropped every member.
TEST(HealedPartition, NeverDropsAllMembers) {
  SimOptions options = Eight(1);
  options.cut = "flapping";
  const SimResult result = RunWell(options);
  EXPECT_LT(result.honest_removed, 8U);
}

}  // namespace
}  // namespace ostraka::sim
