// Every removal rule and the one loser it has.
#include "node/protocol/judgement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::DigestOf;
using scene::HonestStep;
using scene::MakeHonestStep;
using scene::PeerNumber;
using scene::PeersUpTo;
using wire::RemovalKind;
using wire::Verdict;

constexpr std::uint64_t kStep = 20;
constexpr std::uint64_t kAccusedStep = 16;
constexpr std::uint64_t kOpenedStep = 18;

Case CaseOf(std::uint32_t accuser, std::uint32_t target) {
  return {PeerNumber(accuser), PeerNumber(target), kAccusedStep, kOpenedStep, {}};
}

HonestStep StepWith(std::vector<Case> cases, std::vector<Assignment> drawn = {},
                    std::uint32_t n = 8) {
  return MakeHonestStep(
      {.n = n, .step = kStep, .drawn = std::move(drawn), .cases = std::move(cases)});
}

void Vote(HonestStep& step, std::uint32_t voter, const Case& about, Verdict verdict) {
  step.ProofOf(PeerNumber(voter))
      .votes.push_back({about.accuser, about.target, about.accused_step, verdict});
}

std::vector<int> NumbersOfPeers(const std::vector<PeerId>& peers) {
  std::vector<int> numbers;
  for (const PeerId& peer : peers) numbers.push_back(peer.bytes[7]);
  return numbers;
}

std::vector<int> Removed(const Block& block) {
  std::vector<int> numbers;
  for (const wire::Removal& removal : block.removals) numbers.push_back(removal.peer.bytes[7]);
  return numbers;
}

// --- the block itself ----------------------------------------------------------------------------

TEST(JudgeStepTest, AnHonestStepRemovesNobody) {
  const HonestStep step = MakeHonestStep({.step = kStep});
  const Block block = step.Judge();
  EXPECT_EQ(block.step, kStep);
  EXPECT_FALSE(block.genesis);
  EXPECT_EQ(block.decision, DigestOf(6000));
  EXPECT_EQ(block.previous, step.view.decision);
  EXPECT_EQ(block.randomness, step.randomness);
  EXPECT_EQ(block.members, step.view.members);
  EXPECT_EQ(block.thresholds, (Thresholds{8, 3, 1}));
  EXPECT_EQ(block.columns, std::vector<ColumnFate>(8, ColumnFate::kApplied));
  EXPECT_TRUE(block.removals.empty());
  EXPECT_TRUE(block.cases.empty());
  EXPECT_EQ(block.state_root, std::nullopt);
}

// --- evidence ------------------------------------------------------------------------------------

TEST(JudgeStepTest, AProvenFaultBansAndRecomputesTheThresholds) {
  const HonestStep step = MakeHonestStep({.step = kStep});
  const Block block = step.Judge({{PeerNumber(3), "signed twice"}, {PeerNumber(99), "no member"}});
  ASSERT_EQ(block.removals.size(), 1u);
  EXPECT_EQ(block.removals[0].peer, PeerNumber(3));
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kEvidence);
  EXPECT_EQ(block.removals[0].step, kStep);
  EXPECT_EQ(block.removals[0].reason, "signed twice");
  EXPECT_EQ(NumbersOfPeers(block.members), (std::vector<int>{0, 1, 2, 4, 5, 6, 7}));
  EXPECT_EQ(block.thresholds, (Thresholds{7, 2, 1}));
}

TEST(FindImpossibleNumbersTest, NamesThePeerAndThePart) {
  HonestStep step = MakeHonestStep();
  SealedFaults faults;
  FindImpossibleNumbers(step.sealed, faults);
  EXPECT_TRUE(faults.empty());

  step.ProofOf(PeerNumber(2)).columns[4].norm = std::numeric_limits<double>::infinity();
  step.ProofOf(PeerNumber(6)).columns[1].s[3] = 100;
  FindImpossibleNumbers(step.sealed, faults);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults.at(PeerNumber(2)), "its PROOF states impossible numbers for part 4");
  EXPECT_EQ(faults.at(PeerNumber(6)), "its PROOF states impossible numbers for part 1");
}

TEST(FindImpossibleNumbersTest, KeepsAnEarlierReason) {
  HonestStep step = MakeHonestStep();
  step.ProofOf(PeerNumber(2)).columns[4].norm = -1;
  SealedFaults faults = {{PeerNumber(2), "equivocated"}};
  FindImpossibleNumbers(step.sealed, faults);
  EXPECT_EQ(faults.at(PeerNumber(2)), "equivocated");
}

TEST(FindImpossibleNumbersTest, MissingNumbersAreNone) {
  HonestStep step = MakeHonestStep();
  step.ProofOf(PeerNumber(2)).columns[4] = {.missing = true, .s = {}, .norm = 0};
  SealedFaults faults;
  FindImpossibleNumbers(step.sealed, faults);
  EXPECT_TRUE(faults.empty());
}

// --- accusations ---------------------------------------------------------------------------------

class AccusationTest : public testing::Test {
 protected:
  // Member 2 validates what member 5 did in step 18.
  AccusationTest() : step_(StepWith({}, {{PeerNumber(2), PeerNumber(5), kStep - 2}})) {}
  void Accuse(std::uint32_t accuser, std::uint32_t target, std::uint64_t accused_step) {
    step_.ProofOf(PeerNumber(accuser)).accusation = {PeerNumber(target), accused_step};
  }
  HonestStep step_;
};

TEST_F(AccusationTest, TheDrawnValidatorOpensACase) {
  Accuse(2, 5, kStep - 2);
  const Block block = step_.Judge();
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].accuser, PeerNumber(2));
  EXPECT_EQ(block.cases[0].target, PeerNumber(5));
  EXPECT_EQ(block.cases[0].accused_step, kStep - 2);
  EXPECT_EQ(block.cases[0].opened_step, kStep);
  EXPECT_TRUE(block.cases[0].ballots.empty());
  EXPECT_TRUE(block.removals.empty()) << "an accusation removes nobody";
}

TEST_F(AccusationTest, OfAnotherMemberIsVoid) {
  Accuse(2, 6, kStep - 2);
  EXPECT_TRUE(step_.Judge().cases.empty());
}

TEST_F(AccusationTest, OfAnotherStepIsVoid) {
  Accuse(2, 5, kStep - 3);
  EXPECT_TRUE(step_.Judge().cases.empty());
}

TEST_F(AccusationTest, ByAnyoneElseIsVoid) {
  for (const std::uint32_t other : {0u, 5u, 7u}) Accuse(other, 5, kStep - 2);
  Accuse(7, 2, kStep - 2);
  EXPECT_TRUE(step_.Judge().cases.empty());
}

TEST_F(AccusationTest, OfOrByAMemberRemovedInThisBlockIsVoid) {
  Accuse(2, 5, kStep - 2);
  EXPECT_TRUE(step_.Judge({{PeerNumber(5), "fault"}}).cases.empty());
  EXPECT_TRUE(step_.Judge({{PeerNumber(2), "fault"}}).cases.empty());
}

TEST_F(AccusationTest, OfAPartyToAnOpenCaseIsVoid) {
  step_.view.cases = {CaseOf(5, 6)};
  Accuse(2, 5, kStep - 2);
  const Block block = step_.Judge();
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].target, PeerNumber(6));
}

TEST_F(AccusationTest, ByAValidatorWithoutAProofIsVoid) {
  step_.sealed.proofs.erase(PeerNumber(2));
  EXPECT_TRUE(step_.Judge().cases.empty());
}

TEST_F(AccusationTest, VotesOfTheSameBlockDoNotCount) {
  Accuse(2, 5, kStep - 2);
  const Case about{PeerNumber(2), PeerNumber(5), kStep - 2, kStep, {}};
  for (const std::uint32_t voter : {0u, 1u, 3u, 4u, 6u, 7u}) {
    Vote(step_, voter, about, Verdict::kGuilty);
  }
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_TRUE(block.cases[0].ballots.empty());
}

// --- votes ---------------------------------------------------------------------------------------

class VoteTest : public testing::Test {
 protected:
  // Member 1 accuses member 6; the other six are eligible, so four decide.
  VoteTest() : open_(CaseOf(1, 6)), step_(StepWith({open_})) {}
  void VoteAll(std::vector<std::uint32_t> voters, Verdict verdict) {
    for (const std::uint32_t voter : voters) Vote(step_, voter, open_, verdict);
  }
  Case open_;
  HonestStep step_;
};

TEST_F(VoteTest, GuiltyByMoreThanHalfBansTheTarget) {
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  VoteAll({5, 7}, Verdict::kInnocent);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_NE(block.removals[0].reason.find("guilty by 4 of 6"), std::string::npos)
      << block.removals[0].reason;
  EXPECT_TRUE(block.cases.empty()) << "the accuser goes back to work";
  EXPECT_TRUE(IsMember(block.members, PeerNumber(1)));
}

TEST_F(VoteTest, InnocentByMoreThanHalfBansTheAccuser) {
  VoteAll({0, 2, 3, 4}, Verdict::kInnocent);
  VoteAll({5, 7}, Verdict::kGuilty);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_NE(block.removals[0].reason.find("innocent by 4 of 6"), std::string::npos);
  EXPECT_TRUE(block.cases.empty());
}

TEST_F(VoteTest, HalfIsNoMajority) {
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  VoteAll({4, 5, 7}, Verdict::kInnocent);
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].ballots.size(), 6u);
}

TEST_F(VoteTest, ThePartiesDoNotVote) {
  VoteAll({0, 2, 3, 1, 6}, Verdict::kGuilty);
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  EXPECT_EQ(block.cases[0].ballots.size(), 3u);
}

TEST_F(VoteTest, StrangersDoNotVote) {
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  step_.sealed.proofs[PeerNumber(50)];
  step_.sealed.proofs[PeerNumber(51)];
  VoteAll({50, 51}, Verdict::kGuilty);
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  EXPECT_EQ(block.cases[0].ballots.size(), 3u);
}

TEST_F(VoteTest, AbstentionsNeverDecideAndLeaveNoBallot) {
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  VoteAll({4, 5, 7}, Verdict::kAbstain);
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  EXPECT_EQ(block.cases[0].ballots.size(), 3u);
}

TEST_F(VoteTest, TheFirstVerdictOfAVoterCounts) {
  open_.ballots = {{PeerNumber(0), Verdict::kInnocent}};
  step_.view.cases = {open_};
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);  // member 0 has changed its mind
  Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  EXPECT_EQ(block.cases[0].ballots[0].verdict, Verdict::kInnocent);

  VoteAll({5}, Verdict::kAbstain);  // then guilty, in the same PROOF
  VoteAll({5}, Verdict::kGuilty);
  VoteAll({5}, Verdict::kInnocent);
  block = step_.Judge();
  EXPECT_EQ(Removed(block), std::vector<int>{6});
}

TEST_F(VoteTest, AVoteOnAnotherCaseIsNone) {
  Case other = open_;
  ++other.accused_step;
  for (const std::uint32_t voter : {0u, 2u, 3u, 4u}) {
    Vote(step_, voter, other, Verdict::kGuilty);
    Vote(step_, voter, CaseOf(6, 1), Verdict::kGuilty);
  }
  EXPECT_TRUE(step_.Judge().cases[0].ballots.empty());
}

TEST_F(VoteTest, BallotsAddUpOverBlocks) {
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  step_.view.cases = step_.Judge().cases;
  for (auto& [peer, proof] : step_.sealed.proofs) proof.votes.clear();
  EXPECT_TRUE(step_.Judge().removals.empty());
  VoteAll({7}, Verdict::kGuilty);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

TEST_F(VoteTest, TheQuarantinedVoteOnOtherCases) {
  step_.view.cases = {CaseOf(1, 6), CaseOf(0, 2)};
  for (const std::uint32_t voter : {0u, 2u, 3u, 4u}) Vote(step_, voter, open_, Verdict::kGuilty);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

TEST_F(VoteTest, EightBlocksWithoutAMajorityDropTheAccuser) {
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  open_.opened_step = kStep - kCaseBlocks + 1;
  step_.view.cases = {open_};
  EXPECT_TRUE(step_.Judge().removals.empty()) << "the eighth block is still to come";
  open_.opened_step = kStep - kCaseBlocks;
  step_.view.cases = {open_};
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_TRUE(block.cases.empty()) << "the target is freed";
  EXPECT_TRUE(IsMember(block.members, PeerNumber(6)));
}

TEST_F(VoteTest, AMajorityInTheLastBlockStillDecides) {
  open_.opened_step = kStep - kCaseBlocks;
  step_.view.cases = {open_};
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

TEST_F(VoteTest, ACaseEndsWhenAPartyIsBannedOtherwise) {
  for (const std::uint32_t party : {1u, 6u}) {
    const Block block = step_.Judge({{PeerNumber(party), "fault"}});
    EXPECT_EQ(Removed(block), std::vector<int>{static_cast<int>(party)});
    EXPECT_TRUE(block.cases.empty());
  }
}

// An accuser whose target turned out to be a cheat in another way has not failed.
TEST_F(VoteTest, ACaseThatEvidenceEndsHasNoSecondLoser) {
  open_.opened_step = kStep - kCaseBlocks;
  step_.view.cases = {open_};
  const Block block = step_.Judge({{PeerNumber(6), "fault"}});
  EXPECT_EQ(Removed(block), std::vector<int>{6});
}

TEST(JudgeStepTest, BansComeBeforeDropsEachByKey) {
  Case expired = CaseOf(0, 3);
  expired.opened_step = kStep - kCaseBlocks;
  Case expired_too = CaseOf(4, 1);
  expired_too.opened_step = kStep - kCaseBlocks;
  const Case guilty = CaseOf(7, 5);
  HonestStep step = StepWith({expired_too, expired, guilty}, {}, 12);
  for (const std::uint32_t voter : {0u, 2u, 6u, 8u, 9u, 10u}) {
    Vote(step, voter, guilty, Verdict::kGuilty);
  }
  const Block block = step.Judge({{PeerNumber(11), "b"}, {PeerNumber(2), "a"}});
  EXPECT_EQ(Removed(block), (std::vector<int>{2, 5, 11, 0, 4}));
  EXPECT_EQ(block.removals[2].kind, RemovalKind::kEvidence);
  EXPECT_EQ(block.removals[3].kind, RemovalKind::kDrop);
  EXPECT_EQ(block.thresholds, ThresholdsFor(Mode::kMajority, 7, 1));
}

// The thresholds keep the t_a of the genesis, not one of the smaller run.
TEST(JudgeStepTest, AsynchronousFaultsAreThoseOfTheGenesis) {
  const HonestStep step = MakeHonestStep({.n = 10, .mode = Mode::kBalanced, .step = kStep});
  const Block block = step.Judge({{PeerNumber(3), "fault"}});
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

// --- tau -----------------------------------------------------------------------------------------

class NextTauTest : public testing::Test {
 protected:
  NextTauTest() : step_(MakeHonestStep({.n = 3, .dimension = 6})) {}
  // norms[i][j] of worker i in column j.
  double TauOf(const std::vector<std::vector<double>>& norms) {
    for (std::size_t i = 0; i < norms.size(); ++i) {
      for (std::size_t j = 0; j < norms[i].size(); ++j) {
        step_.ProofOf(PeerNumber(static_cast<std::uint32_t>(i))).columns[j].norm = norms[i][j];
      }
    }
    return NextTau(step_.sealed, step_.view, step_.manifest, fates_);
  }
  HonestStep step_;
  std::vector<ColumnFate> fates_ = std::vector<ColumnFate>(3, ColumnFate::kApplied);
};

TEST_F(NextTauTest, IsTheMedianOfTheSealedNorms) {
  EXPECT_EQ(TauOf({{9, 1, 5}, {2, 8, 7}, {3, 4, 6}}), 5);
  step_.manifest.tau_multiple = 0.5;
  EXPECT_EQ(TauOf({{9, 1, 5}, {2, 8, 7}, {3, 4, 6}}), 2.5);
}

TEST_F(NextTauTest, CountsAppliedColumnsAndTheirSendersOnly) {
  fates_ = {ColumnFate::kApplied, ColumnFate::kSumCheck, ColumnFate::kNoAggregate};
  EXPECT_EQ(TauOf({{9, 1000, 1000}, {2, 1000, 1000}, {3, 1000, 1000}}), 3);
  step_.SetSenders(0, {PeerNumber(0), PeerNumber(2)});
  EXPECT_EQ(TauOf({{9, 0, 0}, {1, 0, 0}, {3, 0, 0}}), 3) << "of an even number the lower";
}

TEST_F(NextTauTest, StaysWhereNothingWasApplied) {
  fates_.assign(3, ColumnFate::kSumCheck);
  step_.sealed.tau = 0.75;
  EXPECT_EQ(TauOf({{9, 1, 5}, {2, 8, 7}, {3, 4, 6}}), 0.75);
}

TEST_F(NextTauTest, IsTheManifestsWhereItNamesOne) {
  step_.manifest.tau = 12;
  EXPECT_EQ(TauOf({{9, 1, 5}, {2, 8, 7}, {3, 4, 6}}), 12);
}

TEST_F(NextTauTest, EqualRowsLeaveAPositiveRadius) {
  EXPECT_EQ(TauOf({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}), step_.manifest.eps);
}

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
}  // namespace ostraka::protocol
