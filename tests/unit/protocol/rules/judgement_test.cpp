// The block as a whole: what it records, what seals prove, the order of removals, tau, Delta.
#include "node/protocol/rules/judgement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::judgement_test {
namespace {

using scene::Banned;
using scene::DigestOf;
using scene::HonestStep;
using scene::MakeHonestStep;
using scene::NumbersOfPeers;
using scene::PeerNumber;
using scene::RecordHonestStep;
using scene::Removed;
using wire::RemovalKind;

constexpr std::uint64_t kStep = 20;

HonestStep StepWith(std::vector<Case> cases, std::uint32_t n = 8) {
  return MakeHonestStep({.n = n, .step = kStep, .cases = std::move(cases)});
}

// --- the block itself ----------------------------------------------------------------------------

TEST(JudgeStepTest, AnHonestStepRemovesNobody) {
  const HonestStep step = MakeHonestStep({.step = kStep});
  const Block block = step.Judge();
  EXPECT_EQ(block.step, kStep);
  EXPECT_FALSE(block.genesis);
  EXPECT_EQ(block.decision, DigestOf(6000));
  EXPECT_EQ(block.previous, wire::BlockDigest(step.head));
  EXPECT_EQ(block.randomness, step.randomness);
  EXPECT_EQ(block.members, step.head.members);
  EXPECT_EQ(block.thresholds, (Thresholds{8, 3, 1}));
  EXPECT_EQ(block.columns, std::vector<ColumnFate>(8, ColumnFate::kApplied));
  EXPECT_TRUE(block.removals.empty());
  EXPECT_TRUE(block.cases.empty());
  EXPECT_EQ(block.state_root, std::nullopt);
}

// --- evidence ------------------------------------------------------------------------------------

TEST(JudgeStepTest, AProvenFaultBansAndRecomputesTheThresholds) {
  const HonestStep step = MakeHonestStep({.step = kStep});
  const Block block = step.Judge({{PeerNumber(3), {FaultKind::kBan, {.old_text = "signed twice"}}},
                                  {PeerNumber(99), {FaultKind::kBan, {.old_text = "no member"}}}});
  ASSERT_EQ(block.removals.size(), 1u);
  EXPECT_EQ(block.removals[0].peer, PeerNumber(3));
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kEvidence);
  EXPECT_EQ(block.removals[0].step, kStep);
  EXPECT_EQ(wire::TextOf(block.removals[0].reason), "signed twice");
  EXPECT_EQ(NumbersOfPeers(block.members), (std::vector<int>{0, 1, 2, 4, 5, 6, 7}));
  EXPECT_EQ(block.thresholds, (Thresholds{7, 2, 1}));
}

TEST(FindImpossibleMessagesTest, NamesThePeerAndThePart) {
  HonestStep step = MakeHonestStep();
  SealedFaults faults;
  FindImpossibleMessages(step.sealed, step.head, faults);
  EXPECT_TRUE(faults.empty());

  step.ProofOf(PeerNumber(2)).columns[4].norm = std::numeric_limits<double>::infinity();
  step.ProofOf(PeerNumber(6)).columns[1].s[3] = 100;
  FindImpossibleMessages(step.sealed, step.head, faults);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(wire::TextOf(faults.at(PeerNumber(2)).reason),
            "its PROOF states impossible numbers for part 4");
  EXPECT_EQ(wire::TextOf(faults.at(PeerNumber(6)).reason),
            "its PROOF states impossible numbers for part 1");
}

TEST(FindImpossibleMessagesTest, KeepsAnEarlierReason) {
  HonestStep step = MakeHonestStep();
  step.ProofOf(PeerNumber(2)).columns[4].norm = -1;
  SealedFaults faults = {{PeerNumber(2), {FaultKind::kBan, {.old_text = "equivocated"}}}};
  FindImpossibleMessages(step.sealed, step.head, faults);
  EXPECT_EQ(wire::TextOf(faults.at(PeerNumber(2)).reason), "equivocated");
}

TEST(FindImpossibleMessagesTest, MissingNumbersAreNone) {
  HonestStep step = MakeHonestStep();
  step.ProofOf(PeerNumber(2)).columns[4] = {.missing = true, .s = {}, .norm = 0};
  SealedFaults faults;
  FindImpossibleMessages(step.sealed, step.head, faults);
  EXPECT_TRUE(faults.empty());
}

TEST(FindImpossibleMessagesTest, AnAggregateOfWhoIsNoWorker) {
  HonestStep step = MakeHonestStep({.drawn = {{PeerNumber(2), PeerNumber(5), 3, {}}}});
  std::vector<PeerId> senders = step.Senders(1);
  senders.insert(senders.begin() + 2, PeerNumber(2));  // the validator
  step.SetSenders(1, senders);
  step.AggregateOf(4).included.push_back(0);  // longer than the head
  SealedFaults faults;
  FindImpossibleMessages(step.sealed, step.head, faults);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults.at(step.sealed.roles.owners[1]).kind, FaultKind::kBan);
  EXPECT_EQ(faults.at(step.sealed.roles.owners[4]).kind, FaultKind::kBan);
  EXPECT_EQ(step.Judge().removals.size(), 2u) << "the block finds them by itself";
}

// --- order, and the graver fault
// ------------------------------------------------------------------

TEST(JudgeStepTest, BansComeBeforeDropsEachByKey) {
  HonestStep step = StepWith({}, 12);
  SealedFaults faults = Banned({11, 2, 5});
  for (const std::uint32_t absent : {4u, 0u, 8u}) {
    NoteFault(faults, PeerNumber(absent), FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
  }
  const Block block = step.Judge(faults);
  EXPECT_EQ(Removed(block), (std::vector<int>{2, 5, 11, 0, 4, 8}));
  EXPECT_EQ(block.removals[2].kind, RemovalKind::kEvidence);
  EXPECT_EQ(block.removals[3].kind, RemovalKind::kDrop);
  EXPECT_EQ(block.thresholds, ThresholdsFor(Mode::kMajority, 6, 1));
  EXPECT_EQ(block.last_removal_step, kStep);
}

TEST(JudgeStepTest, TheLastRemovalIsRemembered) {
  HonestStep step = MakeHonestStep({.step = kStep});
  EXPECT_EQ(step.Judge().last_removal_step, std::nullopt);
  step.head.last_removal_step = 7;
  EXPECT_EQ(step.Judge().last_removal_step, 7u);
}

// Who was dropped answers for what it signed before, and must not come back.
TEST(JudgeStepTest, ADroppedMemberCanStillBeBannedOnce) {
  HonestStep step = MakeHonestStep({.n = 8, .step = kStep});
  std::erase(step.head.members, PeerNumber(3));
  step.sealed.proofs.erase(PeerNumber(3));
  step.head.standings = {{PeerNumber(3), false, 1, 12, 0}};
  step.sealed.aggregates.clear();
  step.sealed.roles = {};
  const Judged judged{DigestOf(1), DigestOf(2), {}, Banned({3})};
  const Block block = JudgeStep(step.sealed, step.head, step.manifest, judged);
  EXPECT_EQ(Removed(block), std::vector<int>{3});
  EXPECT_EQ(block.members, step.head.members);
  ASSERT_EQ(block.standings.size(), 1u);
  EXPECT_TRUE(block.standings[0].banned);
  EXPECT_EQ(block.standings[0].drops, 1u);
  EXPECT_TRUE(JudgeStep(step.sealed, block, step.manifest, judged).removals.empty());
}

// --- silence
// --------------------------------------------------------------------------------------

class SilenceTest : public testing::Test {
 protected:
  SilenceTest() : step_(MakeHonestStep({.step = kStep})) {}  // t_s = 3
  void Miss(std::uint32_t member, std::uint32_t by) {
    base::Bytes& silent = step_.ProofOf(PeerNumber(by)).silent;
    silent.resize(1);
    silent[0] = static_cast<std::uint8_t>(silent[0] | 1U << member);
  }
  HonestStep step_;
};

TEST_F(SilenceTest, MoreThanTheFaultsMustMissAnEcho) {
  for (const std::uint32_t by : {0u, 1u, 2u}) Miss(6, by);
  EXPECT_TRUE(step_.Judge().removals.empty());
  Miss(6, 3);
  const Block block = step_.Judge();
  EXPECT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_EQ(wire::TextOf(block.removals[0].reason), "withheld its echo: 4 members waited for it");
}

TEST_F(SilenceTest, NoHonestMemberEchoesTooEarlyOrWhatItDoesNotShow) {
  for (const auto& [names, reason] :
       {std::pair{&wire::Proof::hasty, "echoed without what it had to wait for: 4 members saw it"},
        std::pair{&wire::Proof::unshown, "echoed what it did not show: 4 members asked for it"}}) {
    HonestStep step = MakeHonestStep({.step = kStep});
    for (std::uint32_t by = 0; by < 3; ++by) step.ProofOf(PeerNumber(by)).*names = {1U << 6};
    EXPECT_TRUE(step.Judge().removals.empty());
    step.ProofOf(PeerNumber(3)).*names = {1U << 6};
    const Block block = step.Judge();
    EXPECT_EQ(Removed(block), std::vector<int>{6});
    EXPECT_EQ(wire::TextOf(block.removals[0].reason), reason);
  }
}

TEST_F(SilenceTest, StrangersMissNobody) {
  for (const std::uint32_t by : {0u, 1u, 2u}) Miss(6, by);
  step_.sealed.proofs[PeerNumber(50)];
  Miss(6, 50);
  EXPECT_TRUE(step_.Judge().removals.empty());
}

TEST_F(SilenceTest, BitsBeyondTheViewNameNobody) {
  for (std::uint32_t by = 0; by < 8; ++by) {
    step_.ProofOf(PeerNumber(by)).silent = base::Bytes{0, 0xff, 0xff};
  }
  EXPECT_TRUE(step_.Judge().removals.empty());
}

// --- what the block records for the next steps
// ----------------------------------------------------

TEST(BlockRecordTest, WhoAggregatedWhoseParts) {
  HonestStep step = MakeHonestStep({.step = kStep});
  std::vector<PeerId> senders = step.sealed.roles.workers;
  senders.pop_back();
  step.SetSenders(2, senders);
  step.sealed.aggregates[3].reset();
  step.AggregateOf(5).commits_root = DigestOf(1);
  Judged judged = step.JudgedWith();
  judged.fates[2] = ColumnFate::kApplied;  // as if it had aggregated those alone
  const Block block = JudgeStep(step.sealed, step.head, step.manifest, judged);
  ASSERT_EQ(block.aggregated.size(), 8u);
  for (std::size_t j = 0; j < 8; ++j) {
    EXPECT_EQ(block.aggregated[j].owner, step.sealed.roles.owners[j]) << j;
    const bool applied = block.columns[j] == ColumnFate::kApplied;
    EXPECT_EQ(applied, j != 3 && j != 5) << j;
    EXPECT_EQ(block.aggregated[j].senders.size(), j == 2 ? 7u : applied ? 8u : 0u) << j;
    EXPECT_EQ(block.result_roots[j], applied ? step.AggregateOf(j).result_root : Digest{}) << j;
  }
  EXPECT_EQ(block.proven, step.head.members);
  EXPECT_TRUE(block.owing.empty());
}

TEST(BlockRecordTest, OwnersWhoseSumDoesNotVanishOweAName) {
  HonestStep step = MakeHonestStep({.step = kStep});
  wire::Proof& lie = step.ProofOf(PeerNumber(4));
  for (const std::size_t j : {1u, 6u}) {
    lie.columns[j].s[0] = lie.columns[j].s[0] > 0 ? -lie.columns[j].s[0] : 0.5;
  }
  const Block block = step.Judge();
  ASSERT_EQ(block.columns[1], ColumnFate::kSumCheck);
  ASSERT_EQ(block.columns[6], ColumnFate::kSumCheck);
  std::vector<PeerId> owing = {step.sealed.roles.owners[1], step.sealed.roles.owners[6]};
  std::sort(owing.begin(), owing.end());
  EXPECT_EQ(block.owing, owing);
  EXPECT_TRUE(block.removals.empty());
  // Whoever this block removes owes nothing.
  EXPECT_EQ(step.Judge({{owing[0], {FaultKind::kDrop, {.old_text = "absent"}}}}).owing,
            std::vector<PeerId>{owing[1]});
}

TEST(BlockRecordTest, TheNextValidatorsAndWhoAnswersForTheirTargets) {
  HonestStep step = MakeHonestStep({.step = kStep});
  RecordHonestStep(step.head);
  step.head.columns[3] = ColumnFate::kSumCheck;
  std::erase(step.head.aggregated[4].senders, PeerNumber(5));
  const Block block = step.Judge();
  ASSERT_EQ(block.drawn.size(), 1u);
  const Assignment& drawn = block.drawn[0];
  EXPECT_EQ(drawn.step, kStep - 1);
  const auto expected = DrawValidators(step.randomness, step.head, step.head.proven, kStep + 1, 1);
  EXPECT_EQ(drawn.validator, expected[0].validator);
  EXPECT_EQ(drawn.target, expected[0].target);
  EXPECT_EQ(drawn.covering, CoveringOf(drawn.target, step.head, {}));
  EXPECT_GE(drawn.covering.size(), 5u);
}

// --- Delta
// ----------------------------------------------------------------------------------------

class NextDeltaTest : public testing::Test {
 protected:
  NextDeltaTest() : step_(MakeHonestStep({.n = 4})) { step_.head.delta_us = 777'000; }
  std::uint64_t DeltaOf(const std::vector<std::uint64_t>& lags) {
    for (std::size_t i = 0; i < lags.size(); ++i) {
      step_.ProofOf(PeerNumber(static_cast<std::uint32_t>(i))).lag_us = lags[i];
    }
    return NextDelta(step_.sealed, step_.head, step_.manifest);
  }
  HonestStep step_;
};

// t_s = 1 of 4.
TEST_F(NextDeltaTest, IsFourTimesTheLargestLagThatNoMinorityStates) {
  EXPECT_EQ(DeltaOf({700'000, 100'000, 500'000, 200'000}), 2'000'000u);
  EXPECT_EQ(step_.Judge().delta_us, 2'000'000u);
}

TEST_F(NextDeltaTest, StaysWithinTheManifestsBounds) {
  EXPECT_EQ(DeltaOf({0, 0, 0, 0}), 1'000'000u);
  EXPECT_EQ(DeltaOf({~0ull, ~0ull, ~0ull, ~0ull}), 30'000'000u);
  step_.manifest.delta_ceiling = base::Seconds(2);
  EXPECT_EQ(DeltaOf({500'001, 500'001, 500'001, 500'001}), 2'000'000u);
}

TEST_F(NextDeltaTest, AMinorityNeitherRaisesNorLowersIt) {
  EXPECT_EQ(DeltaOf({~0ull, 100'000, 110'000, 120'000}), 1'000'000u);
  EXPECT_EQ(DeltaOf({~0ull, 300'000, 310'000, 320'000}), 1'280'000u);
  EXPECT_EQ(DeltaOf({0, 300'000, 310'000, 320'000}), 1'240'000u);
}

// Seven zeros of sixteen made the lower median the fastest honest member's.
TEST(NextDelta, SevenZerosOfSixteenLeaveTheManifests) {
  HonestStep step = MakeHonestStep({.n = 16});
  for (std::uint32_t i = 0; i < 16; ++i) {
    step.ProofOf(PeerNumber(i)).lag_us = i < 7 ? 0 : i < 9 ? 10'000 : 240'000;
  }
  EXPECT_EQ(NextDelta(step.sealed, step.head, step.manifest), 1'000'000u);
}

TEST_F(NextDeltaTest, StaysWhereNoMoreProofsThanTheBoundAreSealed) {
  step_.sealed.proofs.clear();
  EXPECT_EQ(NextDelta(step_.sealed, step_.head, step_.manifest), 777'000u);
}

// The thresholds keep the t_a of the genesis, not one of the smaller run.
TEST(JudgeStepTest, AsynchronousFaultsAreThoseOfTheGenesis) {
  const HonestStep step = MakeHonestStep({.n = 10, .mode = Mode::kBalanced, .step = kStep});
  const Block block = step.Judge(Banned({3}));
  EXPECT_EQ(block.thresholds, ThresholdsFor(Mode::kBalanced, 9, 2));
  EXPECT_NE(block.thresholds, ThresholdsFor(Mode::kBalanced, 9, 1));
}

// --- state roots ---------------------------------------------------------------------------------

TEST(StateRootVoteTest, IsSealedByOneMoreThanTheFaultsThatAreBorne) {
  HonestStep step = MakeHonestStep({.step = kStep});  // t_s = 3
  for (const std::uint32_t liar : {5u, 6u, 7u}) {
    step.ProofOf(PeerNumber(liar)).state_root = DigestOf(666);
  }
  for (const std::uint32_t honest : {0u, 1u, 2u}) {
    step.ProofOf(PeerNumber(honest)).state_root = DigestOf(1);
  }
  EXPECT_EQ(step.Judge().state_root, std::nullopt);
  step.ProofOf(PeerNumber(3)).state_root = DigestOf(1);
  EXPECT_EQ(step.Judge().state_root, DigestOf(1));
}

// --- numbers that mean nothing -------------------------------------------------------------------

// A liar's number is banned in this block, and must not be what everyone clips by in the next.
TEST(JudgeStepTest, NonFiniteNormsNeverReachTau) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (std::uint32_t liar = 0; liar < 4; ++liar) {
      HonestStep step = MakeHonestStep({.n = 4, .step = kStep, .dimension = 40});
      for (auto& column : step.ProofOf(PeerNumber(liar)).columns) column.norm = bad;
      const Block block = step.Judge();
      EXPECT_TRUE(std::isfinite(block.tau)) << bad << " of " << liar;
      EXPECT_LT(block.tau, 100) << bad << " of " << liar;
    }
  }
}

}  // namespace
}  // namespace ostraka::protocol::judgement_test
