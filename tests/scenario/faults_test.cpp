// Crashes, lost disks and partitions, alone and with attackers: the promises of docs/simulation.md
// for such runs. The checkers watch agreement of seals and blocks, double signatures over restarts,
// lost bans, bans of honest members, drops of peers that no fault hit, rejoining before signing
// after a lost disk, and progress within the stated bound after the fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::faults_test {
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

// The `recovery` checker holds every run to its bound; this run must have tested it.
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
  EXPECT_GT(result.returned.size(), 0U);
  EXPECT_EQ(BansOf(result), 0U);
}

TEST(Crashes, PeerWithoutItsDiskReturnsOnlyByRejoin) {
  SimOptions options = Eight(3);
  options.crashes = 2;
  options.lose_disk = true;
  const SimResult result = RunWell(options);
  EXPECT_GT(result.returned.size(), 0U);
  EXPECT_EQ(BansOf(result), 0U);
}

// Found by the machine's fuzzer: a member that had lost its disk fetched blocks, was killed again
// and took them for its own past. It went on as a member and signed slots that it had signed
// before.
TEST(Crashes, PeerKilledAgainBeforeItsAdmissionSignsNothing) {
  for (const std::uint64_t seed : FirstOf({1, 4, 9})) {
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

// Disks are lost again and again. A disk was lost soon after its owner had been admitted. The next
// store found that admission among the blocks of the past and took it for its own: two signatures
// for one slot.
TEST(Crashes, AdmissionOfALostStoreDoesNotCount) {
  const SimResult result = RunWell(LongWithLostDisks(7, 40, 500));
  EXPECT_GT(result.returned.size(), 0U);
  EXPECT_EQ(BansOf(result), 0U);
}

// Catching up from a fetched state is interrupted. The state was stored without its block and could
// not be used, and each block that arrived caused a request for thirty-two more.
TEST(Crashes, CatchingUpContinuesAfterAKill) {
  for (const std::uint64_t seed : FirstOf({1, 4})) {
    SimOptions options = LongWithLostDisks(seed, 8, 400);
    options.dimension = 100;
    const SimResult result = RunWell(options);
    EXPECT_GT(result.returned.size(), 0U);
    EXPECT_EQ(BansOf(result), 0U);
  }
}

// The returning member is served while two members request everything from everybody.
TEST(Crashes, FloodPreventsNoReturn) {
  if (!InSoak()) GTEST_SKIP() << "guests_test has floods, with fewer messages";
  SimOptions options = Eight(3);
  options.byzantine = 2;
  options.attack = "flood";
  options.attack_params["rate"] = "500";
  options.attack_params["most"] = "0";
  options.attack_from_step = 1;
  options.crashes = 2;
  options.lose_disk = true;
  const SimResult result = RunWell(options);
  EXPECT_GT(result.returned.size(), 0U);
  EXPECT_EQ(result.byzantine_removed, 0U);
  EXPECT_EQ(BansOf(result), 0U);
}

// Two of the members that it asks for blocks, results and the state spoil their answers.
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
    EXPECT_GT(result.returned.size(), 0U);
    EXPECT_GT(result.misdeeds, 0U) << "nobody asked them";
    EXPECT_EQ(result.byzantine_removed, 0U);
    EXPECT_EQ(BansOf(result), 0U);
  }
}

// Two Byzantine peers and the killed one are as many as eight peers bear.
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
// gone on. It came back into iteration 2 of that seal and waited there. Nobody helped it, because
// members help only members, and it asked for heads only at the beginning of an iteration.
TEST(Crashes, MemberRestartedInASealThatEndedLeavesIt) {
  const SimOptions options = Replayed(
      "seed=1735 peers=6 byzantine=1 attack=lying_echo attack_from_step=8 await_removal=0 "
      "mode=third "
      "steps=40 validators=3 dimension=105 batch_size=25 delay_min_ns=4000000 "
      "delay_max_ns=17000000 "
      "jitter_ns=3000000 bytes_per_second=1600000 fsync_max_ns=4000000 drift_ppm=475 crashes=4 "
      "crash_down_ns=2493000000");
  const SimResult result = RunWell(options);
  // Liars are dropped, so few seals are slow, and the member may be back before the others drop it.
  EXPECT_LE(result.honest_removed, 1U);
  ExpectRecovered(result);
}

// A false complainer's victim was killed, and once also dropped, before the second complaint. The
// complainer finds another victim, since a complaint about a member that left has no effect.
TEST(Crashes, FalseComplainerFindsAnotherVictimAfterACrash) {
  const SimResult result = RunWell(Replayed(
      "seed=7064 peers=16 byzantine=1 attack=false_complaint attack_from_step=1 mode=third "
      "steps=40 dimension=34 batch_size=31 delay_min_ns=3000000 delay_max_ns=3000000 "
      "jitter_ns=8000000 bytes_per_second=6400000 fsync_max_ns=7000000 loss_permille=5 "
      "duplicate_permille=53 drift_ppm=274 crashes=1 crash_down_ns=1976000000 attack.kind=2"));
  EXPECT_LE(result.honest_removed, 1U) << "the one that was killed";
  EXPECT_GE(result.byzantine_removed, 1U);
}

// One member lost its disk shortly before the end, and followed while it still was a member. When
// the next block was applied, the others forgot that it followed, since it was a member; nobody
// waited for it at the end.
TEST(Crashes, MemberThatLostItsDiskNearTheEndIsAwaited) {
  const SimResult result = RunWell(Replayed(
      "seed=23313023667013 peers=9 byzantine=2 attack=state_poison attack_from_step=6 "
      "await_removal=0 mode=third steps=40 validators=2 dimension=45 batch_size=27 "
      "delay_min_ns=36000000 delay_max_ns=45000000 jitter_ns=1000000 bytes_per_second=6400000 "
      "fsync_max_ns=0 duplicate_permille=24 stall_permille=18 crashes=1 crash_down_ns=3441000000 "
      "lose_disk=1"));
  EXPECT_EQ(result.honest_removed, 1U) << "the one that lost its disk";
}

// Three slow seals of one step: one member lacked all three, asked for all at once, and the answers
// of one other were more messages than the checker of queues allowed.
TEST(Crashes, AnswersForThreeSlowSealsAreNoLeak) {
  if (!InSoak()) GTEST_SKIP() << "has 31 members";
  RunWell(Replayed(
      "seed=210024526682813 peers=31 byzantine=10 attack=stale_lock attack_from_step=5 "
      "await_removal=1 mode=majority steps=40 validators=3 dimension=95 batch_size=21 "
      "delay_min_ns=33000000 delay_max_ns=145000000 jitter_ns=1000000 bytes_per_second=800000 "
      "fsync_max_ns=6000000 duplicate_permille=11 crashes=2 crash_down_ns=3355000000"));
}

TEST(Crashes, CrashesCountAsFaults) {
  SimOptions options = Eight(1);
  options.byzantine = 3;
  options.crashes = 1;
  const auto refused = RunSimulation(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(base::MessageOf(refused.status()), testing::HasSubstr("counts as faulty"));
}

// All members lose power at once, again and again.
TEST(Crashes, RunContinuesFromTheLastSealedBlockAfterABlackout) {
  for (const std::uint64_t seed : FirstOf({1, 2, 3, 4, 5, 6, 7, 8}, 2)) {
    SimOptions options = Eight(seed);
    options.blackouts = 3;
    const SimResult result = RunWell(options);
    EXPECT_EQ(BansOf(result), 0U) << "seed " << seed;
  }
}

// A member that is started again has lost the steps before, and cannot vote on them. [Half of the
// voters had: the honest accuser of a liar was dropped as undecided, and the liar stayed.]
TEST(Crashes, VotersThatWereStartedAgainCostNoAccuserItsPlace) {
  for (const std::uint64_t seed : FirstOf({4, 5, 993001}, 2)) {
    SimOptions options = Eight(seed);
    options.byzantine = 1;
    options.attack = "sign_flip";
    options.attack_from_step = 5;
    options.exact = true;
    options.blackouts = 12;
    options.crash_down = base::Seconds(1);
    options.steps = 60;
    const SimResult result = RunWell(options);
    EXPECT_EQ(result.byzantine_removed, 1U) << "seed " << seed;
  }
}

// --- partitions ---------------------------------------------------------------------------------

class Partition : public testing::TestWithParam<std::string> {};

TEST_P(Partition, NeverForksAndTheRunContinuesAfterIt) {
  for (const std::uint64_t seed : FirstOf({1, 2, 3, 4})) {
    SimOptions options = Eight(seed);
    options.cut = GetParam();
    const SimResult result = RunWell(options);
    EXPECT_EQ(BansOf(result), 0U);
    ExpectRecovered(result);
  }
}

TEST_P(Partition, DoesNotForkWithOneTwoFacedMember) {
  for (const std::uint64_t seed : FirstOf({1, 2})) {
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

// As many Byzantine members as an untimely network bears, each doing its worst in the seals during
// the cut. `agreement` checks that no two certificates result, `recovery` that the run goes on in
// time.
TEST_P(Partition, NeitherForksNorStallsWithLyingEchoes) {
  struct Liar {
    const char* attack;
    AttackParams params;
  };
  for (const Liar& liar :
       FirstOf({Liar{"equivocate", {{"one", "1"}}}, Liar{"lying_echo", {}}, Liar{"stale_lock", {}},
                Liar{"withhold_echo", {}}, Liar{"withhold_echo", {{"half", "1"}}},
                Liar{"double_propose", {}}, Liar{"withhold_result", {{"all", "1"}}},
                Liar{"silent", {}}},
               3)) {
    SimOptions options = Eight(1);
    options.peers = 10;
    options.mode = protocol::Mode::kThird;
    options.byzantine = 3;  // t_a of ten
    options.cut = GetParam();
    options.attack = liar.attack;
    options.attack_params = liar.params;
    options.attack_from_step = 8;   // before the cut begins
    options.await_removal = false;  // a step in the cut may be the last in which it attacks
    const SimResult result = RunWell(options);
    EXPECT_GT(result.misdeeds, 0U) << liar.attack;
    ExpectRecovered(result);
  }
}

INSTANTIATE_TEST_SUITE_P(Cuts, Partition, testing::Values("halves", "one_way", "flapping", "flaky"),
                         [](const auto& test) { return test.param; });

// Members were sealed absent in one seal here and others in the next, until fewer than a quorum
// were unmuted.
TEST(HealedPartition, NeverMutesMoreMembersThanTheStepCanSpare) {
  SimOptions options = Eight(4);
  options.cut = "flapping";
  RunWell(options);
}

// While each link of four members was down in turn, nobody received one honest member's ECHO. When
// the slow path counted from the own ECHO, that got the member removed, and the three others, of
// which one lies in its ECHOs, stood still.
TEST(HealedPartition, CuttingEachLinkInTurnRemovesNoMember) {
  const SimOptions options = Replayed(
      "seed=117 peers=4 byzantine=1 attack=lying_echo await_removal=0 steps=40 dimension=144 "
      "batch_size=26 delay_min_ns=1000000 delay_max_ns=17000000 bytes_per_second=6400000 "
      "fsync_max_ns=2000000 loss_permille=28 duplicate_permille=42 stall_permille=2 cut=flaky "
      "cut_at_ns=7009000000 cut_for_ns=13481000000");
  EXPECT_EQ(RunWell(options).honest_removed, 0U);
}

// One of four was catching up by a few blocks and waited for results from two members that were cut
// off. Then it fell further behind and had to fetch a state, and those requests left no room to ask
// for it.
TEST(HealedPartition, FollowerNearTheHeadMayFallFarBehind) {
  const SimOptions options = Replayed(
      "seed=5311 peers=4 byzantine=0 steps=40 validators=3 dimension=34 batch_size=10 "
      "delay_min_ns=4000000 delay_max_ns=16000000 jitter_ns=0 bytes_per_second=400000 "
      "fsync_max_ns=3000000 duplicate_permille=48 stall_permille=7 skew_ns=23489000000 crashes=2 "
      "crash_down_ns=2551000000 cut=flaky cut_at_ns=1046000000 cut_for_ns=67540000000");
  EXPECT_EQ(RunWell(options).honest_removed, 0U);
}

// Four honest members. In each draw one of them was not heard when its coin was due, until both
// coins of the step were spoilt: all four gave the run up.
TEST(HealedPartition, WaitsForTheLastCoin) {
  const SimOptions options = Replayed(
      "seed=9010 peers=4 byzantine=0 steps=80 dimension=193 batch_size=5 delay_min_ns=5000000 "
      "delay_max_ns=24000000 jitter_ns=7000000 bytes_per_second=200000 fsync_max_ns=7000000 "
      "stall_permille=4 drift_ppm=170 cut=flaky cut_at_ns=6323000000 cut_for_ns=63415000000");
  ExpectRecovered(RunWell(options));
}

// A cut spoilt a coin. The decision left out one member, but not the one that lost its disk. There
// were two coins, and no deadline for the last: all waited for a member that could sign again only
// after the next block.
TEST(HealedPartition, WaitsForNoCoinOfALostDisk) {
  const SimOptions options = Replayed(
      "seed=40183 peers=4 byzantine=0 steps=40 validators=3 dimension=8 batch_size=27 "
      "delay_min_ns=57000000 delay_max_ns=176000000 jitter_ns=5000000 bytes_per_second=800000 "
      "fsync_max_ns=5000000 loss_permille=8 duplicate_permille=31 stall_permille=4 "
      "skew_ns=39109000000 crashes=4 crash_down_ns=3870000000 lose_disk=1 cut=halves "
      "cut_at_ns=6337000000 cut_for_ns=12108000000");
  ExpectRecovered(RunWell(options));
}

// One member received nothing for a while. Then all messages came at once, and the LOCKs decided
// its current seal. The others had long discarded the messages of that seal; the member asked for
// those and for nothing else.
TEST(HealedPartition, SealWhoseMessagesAreGoneIsLeft) {
  const SimOptions options = Replayed(
      "seed=3511 peers=7 byzantine=1 attack=opt_min_sum attack_from_step=7 await_removal=0 "
      "mode=balanced steps=40 validators=2 dimension=201 batch_size=4 delay_min_ns=6000000 "
      "delay_max_ns=19000000 jitter_ns=6000000 bytes_per_second=400000 fsync_max_ns=6000000 "
      "loss_permille=8 cut=one_way cut_at_ns=5212000000 cut_for_ns=14380000000");
  ExpectRecovered(RunWell(options));
}

// One of four honest members was dropped just when a cut ended, and was still in a seal of the step
// that dropped it. The others took their last steps within four seconds, before it thought that
// seal slow and asked for heads, though each of them asked it for its own in every step.
TEST(HealedPartition, WhoIsAskedAboutLaterStepsFollows) {
  const SimOptions options = Replayed(
      "seed=1152 peers=5 byzantine=1 attack=eclipse attack_from_step=7 nat=1 await_removal=0 "
      "steps=40 validators=3 dimension=209 batch_size=6 exact=1 delay_min_ns=666666 "
      "delay_max_ns=6333333 jitter_ns=6000000 bytes_per_second=6400000 fsync_max_ns=3000000 "
      "loss_permille=9 cut=halves cut_at_ns=5245000000 cut_for_ns=114571000000");
  ExpectRecovered(RunWell(options));
}

// A cut left three honest members in a seal that only one of them decided. The block dropped the
// liar, and a newcomer that it let in is no member of the block before. The one and the liar showed
// the block to the two others, which left the seal for it just before the LOCKs came that would
// have decided it. No two members that they knew could sign a COMMIT of the next step.
TEST(HealedPartition, WhoLeavesASealForABlockHasIt) {
  const SimOptions options = Replayed(
      "seed=2300 peers=4 byzantine=1 attack=lying_echo attack_from_step=5 "
      "leave_for_ns=6694000000 comes=2 await_removal=0 mode=majority steps=40 validators=2 "
      "alarm_validators=3 dimension=12 batch_size=25 delay_min_ns=12000000 delay_max_ns=108000000 "
      "jitter_ns=8000000 bytes_per_second=6400000 stall_permille=20 drift_ppm=455 "
      "crash_down_ns=2000000000 cut=flaky cut_at_ns=7136000000 cut_for_ns=67591000000 "
      "part_floor_ns=5645000000");
  ExpectRecovered(RunWell(options));
}

// Four of six, and a liar that they had banned, finished the last steps while a cut kept the two
// others away, and left before it ended.
TEST(HealedPartition, RunMayEndWithoutThoseThatItDropped) {
  const auto result = RunSimulation(Replayed(
      "seed=770000000211 peers=7 byzantine=1 attack=label_flip attack_from_step=1 await_removal=0 "
      "mode=majority steps=40 validators=3 dimension=197 batch_size=13 delay_min_ns=3000000 "
      "delay_max_ns=6000000 jitter_ns=3000000 bytes_per_second=100000 fsync_max_ns=3000000 "
      "loss_permille=6 cut=halves cut_at_ns=3752000000 cut_for_ns=63119000000"));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->ok) << result->failure->message;
  EXPECT_TRUE(result->stood_still);
}

// Each half missed the ECHOs and results of the other, and the next block dropped every member.
TEST(HealedPartition, NeverDropsAllMembers) {
  SimOptions options = Eight(1);
  options.cut = "flapping";
  const SimResult result = RunWell(options);
  EXPECT_LT(result.honest_removed, 8U);
}

}  // namespace
}  // namespace ostraka::sim::faults_test
