// What opens a case, who votes, and the one loser that each case has.
#include "node/protocol/cases.h"

#include <gtest/gtest.h>

#include "node/protocol/judgement.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::Banned;
using scene::GradientCase;
using scene::HonestStep;
using scene::MakeHonestStep;
using scene::ManifestOf;
using scene::PeerNumber;
using scene::RecordHonestStep;
using scene::Removed;
using scene::ViewBefore;
using wire::CaseId;
using wire::CaseKind;
using wire::RemovalKind;
using wire::Verdict;

constexpr std::uint64_t kStep = 20;
constexpr std::uint64_t kAccusedStep = 16;
constexpr std::uint64_t kOpenedStep = 18;
const std::vector<wire::Covering> kCovering = {{1, PeerNumber(1)}, {3, PeerNumber(3)}};

Case CaseOf(std::uint32_t accuser, std::uint32_t target) {
  return GradientCase(accuser, target, kAccusedStep, kOpenedStep);
}

Case CaseOf(CaseKind kind, std::uint32_t accuser, std::uint32_t target, std::uint32_t column) {
  Case open = CaseOf(accuser, target);
  open.id.kind = kind;
  open.id.column = column;
  return open;
}

HonestStep StepWith(std::vector<Case> cases, std::vector<Assignment> drawn = {},
                    std::uint32_t n = 8) {
  return MakeHonestStep(
      {.n = n, .step = kStep, .drawn = std::move(drawn), .cases = std::move(cases)});
}

void Vote(HonestStep& step, std::uint32_t voter, const Case& about, Verdict verdict) {
  step.ProofOf(PeerNumber(voter)).votes.push_back({about.id, verdict});
}

// --- accusations ---------------------------------------------------------------------------------

class AccusationTest : public testing::Test {
 protected:
  // Member 2 validates what member 5 did in step 18.
  AccusationTest() : step_(StepWith({}, {{PeerNumber(2), PeerNumber(5), kStep - 2, kCovering}})) {}
  void Accuse(std::uint32_t accuser, std::uint32_t target, std::uint64_t accused_step) {
    step_.ProofOf(PeerNumber(accuser)).accusation = {PeerNumber(target), accused_step};
  }
  HonestStep step_;
};

TEST_F(AccusationTest, TheDrawnValidatorOpensACase) {
  Accuse(2, 5, kStep - 2);
  const Block block = step_.Judge();
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].id,
            (CaseId{CaseKind::kGradient, PeerNumber(2), PeerNumber(5), kStep - 2, 0}));
  EXPECT_EQ(block.cases[0].covering, kCovering);
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
  EXPECT_TRUE(step_.Judge(Banned({5})).cases.empty());
  EXPECT_TRUE(step_.Judge(Banned({2})).cases.empty());
}

// Silence right after a misdeed must be no way out of the ban.
TEST_F(AccusationTest, OfOneWhoIsDroppedInThisBlockCounts) {
  Accuse(2, 5, kStep - 2);
  SealedFaults silent;
  NoteFault(silent, PeerNumber(5), FaultKind::kDrop, "its COMMIT did not come");
  const Block block = step_.Judge(silent);
  EXPECT_EQ(Removed(block), std::vector<int>{5});
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].id.target, PeerNumber(5));
}

TEST_F(AccusationTest, OfOneWhoLeftBeforeCountsUnlessItIsBanned) {
  Accuse(2, 5, kStep - 2);
  std::erase(step_.view.members, PeerNumber(5));
  step_.sealed.proofs.erase(PeerNumber(5));
  step_.sealed.aggregates.clear();
  step_.sealed.roles.owners.clear();
  step_.sealed.roles.parts.clear();
  const auto judged = [&] {
    return JudgeStep(step_.sealed, step_.view, step_.manifest, {{}, {}, {}, {}});
  };
  EXPECT_EQ(judged().cases.size(), 1u);
  step_.view.standings = {{.peer = PeerNumber(5), .banned = true}};
  EXPECT_TRUE(judged().cases.empty());
}

TEST_F(AccusationTest, OfAPartyToAnOpenCaseIsVoid) {
  step_.view.cases = {CaseOf(5, 6)};
  Accuse(2, 5, kStep - 2);
  const Block block = step_.Judge();
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].id.target, PeerNumber(6));
}

TEST_F(AccusationTest, ByAValidatorWithoutAProofIsVoid) {
  step_.sealed.proofs.erase(PeerNumber(2));
  EXPECT_TRUE(step_.Judge().cases.empty());
}

TEST_F(AccusationTest, VotesOfTheSameBlockDoNotCount) {
  Accuse(2, 5, kStep - 2);
  const Case about = GradientCase(2, 5, kStep - 2, kStep);
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
  ++other.id.step;
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
  open_.opened_step = kStep - kGradientCaseBlocks + 1;
  step_.view.cases = {open_};
  EXPECT_TRUE(step_.Judge().removals.empty()) << "the eighth block is still to come";
  open_.opened_step = kStep - kGradientCaseBlocks;
  step_.view.cases = {open_};
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_TRUE(block.cases.empty()) << "the target is freed";
  EXPECT_TRUE(IsMember(block.members, PeerNumber(6)));
}

TEST_F(VoteTest, AMajorityInTheLastBlockStillDecides) {
  open_.opened_step = kStep - kGradientCaseBlocks;
  step_.view.cases = {open_};
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

TEST_F(VoteTest, ACaseEndsWhenAPartyIsBannedOtherwise) {
  for (const std::uint32_t party : {1u, 6u}) {
    const Block block = step_.Judge(Banned({party}));
    EXPECT_EQ(Removed(block), std::vector<int>{static_cast<int>(party)});
    EXPECT_TRUE(block.cases.empty());
  }
}

// Member 6 was dropped meanwhile: the other six are eligible still.
TEST_F(VoteTest, ACaseGoesOnWithoutItsTarget) {
  SealedFaults silent;
  NoteFault(silent, PeerNumber(6), FaultKind::kDrop, "its COMMIT did not come");
  const Block dropped = step_.Judge(silent);
  EXPECT_EQ(Removed(dropped), std::vector<int>{6});
  ASSERT_EQ(dropped.cases.size(), 1u);
  EXPECT_EQ(dropped.cases[0].id, open_.id);

  HonestStep after = StepWith({open_});
  after.view = dropped;
  after.view.step = kStep - 1;
  after.sealed = {};
  after.sealed.step = kStep;
  const auto judged = [&](Verdict verdict, std::vector<std::uint32_t> voters) {
    after.sealed.proofs.clear();
    for (const std::uint32_t voter : voters) {
      after.sealed.proofs[PeerNumber(voter)].votes = {{open_.id, verdict}};
    }
    return JudgeStep(after.sealed, after.view, after.manifest, {{}, {}, {}, {}});
  };
  EXPECT_TRUE(judged(Verdict::kGuilty, {0, 2, 3}).removals.empty());
  const Block guilty = judged(Verdict::kGuilty, {0, 2, 3, 4});
  ASSERT_EQ(Removed(guilty), std::vector<int>{6});
  EXPECT_EQ(guilty.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_EQ(Removed(judged(Verdict::kInnocent, {0, 2, 3, 4})), std::vector<int>{1});
}

TEST_F(VoteTest, UndecidedAgainstOneWhoLeftHasNoLoser) {
  open_.opened_step = kStep - kGradientCaseBlocks;
  step_.view.cases = {open_};
  SealedFaults silent;
  NoteFault(silent, PeerNumber(6), FaultKind::kDrop, "its COMMIT did not come");
  const Block block = step_.Judge(silent);
  EXPECT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_TRUE(block.cases.empty());
}

// An accuser whose target turned out to be a cheat in another way has not failed.
TEST_F(VoteTest, ACaseThatEvidenceEndsHasNoSecondLoser) {
  open_.opened_step = kStep - kGradientCaseBlocks;
  step_.view.cases = {open_};
  const Block block = step_.Judge(Banned({6}));
  EXPECT_EQ(Removed(block), std::vector<int>{6});
}

// --- namings
// --------------------------------------------------------------------------------------

// The last step was honest, member j owned column j and included all.
class NamingTest : public testing::Test {
 protected:
  NamingTest() : step_(MakeHonestStep({.step = kStep})) { RecordHonestStep(step_.view); }
  void Name(std::uint32_t namer, std::uint32_t target, std::uint64_t step, std::uint32_t column) {
    step_.ProofOf(PeerNumber(namer)).naming = {PeerNumber(target), step, column};
  }
  HonestStep step_;
};

TEST_F(NamingTest, OpensACaseThoughNoSumFailed) {
  Name(2, 5, kStep - 1, 2);
  const Block block = step_.Judge();
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].id,
            (CaseId{CaseKind::kNumbers, PeerNumber(2), PeerNumber(5), kStep - 1, 2}));
  EXPECT_EQ(block.cases[0].opened_step, kStep);
  EXPECT_TRUE(block.removals.empty());
}

TEST_F(NamingTest, IsOfTheLastStepAndTheOwnColumnAndAnotherSenderWithNumbers) {
  std::erase(step_.view.aggregated[2].senders, PeerNumber(6));
  std::erase(step_.view.proven, PeerNumber(7));
  struct Row {
    std::uint32_t namer, target;
    std::uint64_t step;
    std::uint32_t column;
    bool in_order;
  };
  for (const Row& row : {Row{2, 5, kStep - 1, 2, true}, Row{2, 5, kStep - 2, 2, false},
                         Row{2, 5, kStep, 2, false}, Row{2, 5, kStep - 1, 3, false},
                         Row{2, 5, kStep - 1, 8, false}, Row{3, 5, kStep - 1, 2, false},
                         Row{2, 2, kStep - 1, 2, false}, Row{2, 6, kStep - 1, 2, false},
                         Row{2, 7, kStep - 1, 2, false}, Row{2, 50, kStep - 1, 2, false}}) {
    EXPECT_EQ(NamingIsInOrder(PeerNumber(row.namer), {PeerNumber(row.target), row.step, row.column},
                              step_.view),
              row.in_order)
        << row.namer << " " << row.target << " " << row.step << " " << row.column;
  }
}

TEST_F(NamingTest, OutOfOrderOpensNothing) {
  Name(2, 5, kStep - 1, 3);
  EXPECT_TRUE(step_.Judge().cases.empty());
}

TEST_F(NamingTest, OfOrByWhoIsRemovedInThisBlockOpensNothing) {
  Name(2, 5, kStep - 1, 2);
  EXPECT_TRUE(step_.Judge(Banned({5})).cases.empty());
  EXPECT_TRUE(step_.Judge(Banned({2})).cases.empty());
}

TEST_F(NamingTest, AllOwnersMayNameOneLiar) {
  for (const std::uint32_t namer : {0u, 1u, 2u, 3u, 4u, 6u, 7u}) Name(namer, 5, kStep - 1, namer);
  const Block block = step_.Judge();
  EXPECT_EQ(block.cases.size(), 7u);
  EXPECT_EQ(InRole(block).size(), 6u) << "one of them leaves its work with the liar";
}

TEST_F(NamingTest, AnOwnerThatOwesANameAndGivesNoneIsDropped) {
  step_.view.owing = {PeerNumber(2), PeerNumber(4)};
  Name(4, 5, kStep - 1, 4);
  const Block block = step_.Judge();
  EXPECT_EQ(Removed(block), std::vector<int>{2});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_EQ(block.cases.size(), 1u);
}

TEST_F(NamingTest, ANameOutOfOrderIsNone) {
  step_.view.owing = {PeerNumber(2)};
  Name(2, 5, kStep - 2, 2);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{2});
}

TEST_F(NamingTest, TheNameOfOneWhoHasLeftIsInOrder) {
  step_.view.owing = {PeerNumber(2)};
  Name(2, 5, kStep - 1, 2);
  EXPECT_EQ(Removed(step_.Judge(Banned({5}))), std::vector<int>{5});

  // It left in the block before this one: the view has no such member, and the sender list has.
  std::erase(step_.view.members, PeerNumber(5));
  step_.sealed.proofs.erase(PeerNumber(5));
  step_.sealed.aggregates.clear();
  step_.sealed.roles = {};
  const Block block = JudgeStep(step_.sealed, step_.view, step_.manifest, {{}, {}, {}, {}});
  EXPECT_TRUE(block.removals.empty());
  EXPECT_TRUE(block.cases.empty());
}

TEST_F(NamingTest, ANamerThatOwesAndIsBannedLosesOnce) {
  step_.view.owing = {PeerNumber(2)};
  const Block block = step_.Judge(Banned({2}));
  ASSERT_EQ(Removed(block), std::vector<int>{2});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kEvidence);
}

// --- cases about numbers
// --------------------------------------------------------------------------

class NumbersCaseTest : public testing::Test {
 protected:
  // Member 1 names member 6. t_s = 3: four ballots decide.
  NumbersCaseTest() : open_(CaseOf(CaseKind::kNumbers, 1, 6, 1)), step_(StepWith({open_})) {}
  void VoteAll(std::vector<std::uint32_t> voters, Verdict verdict) {
    for (const std::uint32_t voter : voters) Vote(step_, voter, open_, verdict);
  }
  Block JudgedAfter(std::uint64_t blocks) {
    open_.opened_step = kStep - blocks;
    step_.view.cases = {open_};
    return step_.Judge();
  }
  Case open_;
  HonestStep step_;
};

TEST_F(NumbersCaseTest, MoreThanTheFaultsBanTheLiar) {
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  EXPECT_TRUE(step_.Judge().removals.empty());
  VoteAll({4}, Verdict::kGuilty);
  const Block block = step_.Judge();
  EXPECT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_NE(block.removals[0].reason.find("part 1 of step 16"), std::string::npos);
  EXPECT_TRUE(block.cases.empty());
}

TEST_F(NumbersCaseTest, AsManyInnocentBanTheNamer) {
  VoteAll({0, 2, 3, 4}, Verdict::kInnocent);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{1});
}

TEST_F(NumbersCaseTest, ThePartiesDoNotVote) {
  VoteAll({0, 2, 3, 1, 6}, Verdict::kGuilty);
  EXPECT_TRUE(step_.Judge().removals.empty());
}

TEST_F(NumbersCaseTest, ThreeBlocksUndecidedDropTheNamer) {
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  EXPECT_TRUE(JudgedAfter(2).removals.empty());
  const Block block = JudgedAfter(3);
  ASSERT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_TRUE(block.cases.empty());
}

// Four ballots decide, and four of the six that are no party are honest if one party is: without
// one of them to know, an honest namer could not win.
TEST_F(NumbersCaseTest, NobodyLosesIfTooFewCouldKnow) {
  step_.view.joined = {PeerNumber(7)};
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  Vote(step_, 7, open_, Verdict::kGuilty);  // it cannot: it was not there
  const Block pending = JudgedAfter(2);
  EXPECT_TRUE(pending.removals.empty());
  ASSERT_EQ(pending.cases.size(), 1u);
  const Block block = JudgedAfter(3);
  EXPECT_TRUE(block.removals.empty());
  EXPECT_TRUE(block.cases.empty());
}

// Known for as long as the case is open, also when the view that admitted them is long past.
TEST_F(NumbersCaseTest, WhoWasAdmittedTooLateStaysExcused) {
  step_.view.joined = {PeerNumber(7)};
  const Block next = JudgedAfter(1);
  ASSERT_EQ(next.cases.size(), 1u);
  ASSERT_EQ(next.cases[0].ballots.size(), 1u);
  EXPECT_EQ(next.cases[0].ballots[0].voter, PeerNumber(7));
  EXPECT_EQ(next.cases[0].ballots[0].verdict, Verdict::kAbstain);
  step_.view.joined.clear();
  open_ = next.cases[0];
  VoteAll({7}, Verdict::kGuilty);
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  EXPECT_TRUE(JudgedAfter(3).removals.empty());
  VoteAll({4}, Verdict::kGuilty);
  EXPECT_EQ(Removed(JudgedAfter(3)), std::vector<int>{6}) << "those who know still decide";
}

TEST_F(NumbersCaseTest, TheThirdBlockStillDecides) {
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  EXPECT_EQ(Removed(JudgedAfter(3)), std::vector<int>{6});
}

// Several name one liar; that it is banned in one case leaves nobody to blame in the others.
TEST_F(NumbersCaseTest, AnotherCaseAgainstTheSameEndsWithIt) {
  const Case other = CaseOf(CaseKind::kNumbers, 2, 6, 2);
  VoteAll({0, 3, 4, 5}, Verdict::kGuilty);
  open_.opened_step = kStep - 3;
  step_.view.cases = {other, open_};
  step_.view.cases[0].opened_step = kStep - 3;
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

// An undecided case blames its namer whatever else that pass finds: no order of cases decides.
TEST_F(NumbersCaseTest, UndecidedCasesDoNotExcuseEachOther) {
  Case first = CaseOf(CaseKind::kNumbers, 1, 6, 1);
  Case second = CaseOf(CaseKind::kNumbers, 2, 1, 2);
  first.opened_step = second.opened_step = kStep - 3;
  for (const std::vector<Case>& cases : {std::vector<Case>{first, second}, {second, first}}) {
    step_.view.cases = cases;
    EXPECT_EQ(Removed(step_.Judge()), (std::vector<int>{1, 2}));
  }
}

// With an honest namer or an honest target, the honest who are no party always have the ballots,
// and the faults that are none never do.
TEST(DecidingBallotsTest, FaultsNeverHaveThemAndTheHonestAlwaysDo) {
  for (const Mode mode : {Mode::kMajority, Mode::kBalanced, Mode::kThird}) {
    for (std::uint32_t genesis = 3; genesis <= 40; ++genesis) {
      for (std::uint32_t n = 3; n <= genesis; ++n) {
        const Thresholds t = ThresholdsFor(mode, n, GenesisAsynchronousFaults(mode, genesis));
        for (std::uint32_t faults = 1; faults <= FaultBound(t); ++faults) {
          const std::uint32_t honest = n - faults;
          EXPECT_LT(faults - 1, DecidingBallots(t)) << n << " " << faults;
          EXPECT_GE(honest - 1, DecidingBallots(t)) << n << " " << faults;
        }
      }
    }
  }
}

// --- covering
// -------------------------------------------------------------------------------------

TEST(CoveringTest, AreTheOwnersOfAppliedColumnsWithThePart) {
  Block view = ViewBefore(ManifestOf(8), kStep);
  RecordHonestStep(view);
  std::erase(view.aggregated[1].senders, PeerNumber(5));
  view.columns[2] = ColumnFate::kSumCheck;
  view.columns[3] = ColumnFate::kMissingNumbers;
  // Column 5 is its own; the owner of column 6 names another in this step.
  const std::map<PeerId, wire::Naming> namings = {{PeerNumber(6), {PeerNumber(0), view.step, 6}}};
  EXPECT_EQ(
      CoveringOf(PeerNumber(5), view, namings),
      (std::vector<wire::Covering>{{0, PeerNumber(0)}, {4, PeerNumber(4)}, {7, PeerNumber(7)}}));
}

class CoverCaseTest : public testing::Test {
 protected:
  // Member 6 is gone; member 1 owned column 1. n = 7: t_s = 2, three ballots decide.
  CoverCaseTest() : open_(CaseOf(CaseKind::kCover, 60, 1, 1)), step_(StepWith({open_}, {}, 7)) {}
  void VoteAll(std::vector<std::uint32_t> voters, Verdict verdict) {
    for (const std::uint32_t voter : voters) Vote(step_, voter, open_, verdict);
  }
  Case open_;
  HonestStep step_;
};

TEST_F(CoverCaseTest, GuiltyBansTheOwner) {
  VoteAll({0, 2, 1}, Verdict::kGuilty);  // the owner has no vote
  EXPECT_TRUE(step_.Judge().removals.empty());
  VoteAll({3}, Verdict::kGuilty);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{1});
}

TEST_F(CoverCaseTest, InnocentClosesIt) {
  VoteAll({0, 2, 3}, Verdict::kInnocent);
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  EXPECT_TRUE(block.cases.empty());
}

TEST_F(CoverCaseTest, GoesOnWithoutItsAccuserAndDropsTheOwnerAfterThreeBlocks) {
  EXPECT_EQ(step_.Judge().cases.size(), 1u);
  step_.view.cases[0].opened_step = kStep - 3;
  const Block block = step_.Judge();
  EXPECT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
}

// n = 7, two faults: four honest members besides the owner's, of whom three must know.
TEST_F(CoverCaseTest, NobodyLosesIfTooFewCouldKnow) {
  step_.view.cases[0].opened_step = kStep - 3;
  step_.view.joined = {PeerNumber(5)};
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{1}) << "three of them know";
  step_.view.joined = {PeerNumber(4), PeerNumber(5)};
  EXPECT_TRUE(step_.Judge().removals.empty());
}

class ConvictionTest : public testing::Test {
 protected:
  // Member 0 accused member 6, for whose parts members 1 and 3 answer.
  ConvictionTest() : open_(CaseOf(0, 6)) {
    open_.covering = kCovering;
    step_ = StepWith({open_});
  }
  void Convict() {
    for (const std::uint32_t voter : {1u, 2u, 3u, 4u}) Vote(step_, voter, open_, Verdict::kGuilty);
  }
  Case open_;
  HonestStep step_;
};

TEST_F(ConvictionTest, AsksEveryOwnerThatStays) {
  Convict();
  Block block = step_.Judge();
  ASSERT_EQ(block.cases.size(), 2u);
  EXPECT_EQ(block.cases[0].id,
            (CaseId{CaseKind::kCover, PeerNumber(6), PeerNumber(1), kAccusedStep, 1}));
  EXPECT_EQ(block.cases[1].id,
            (CaseId{CaseKind::kCover, PeerNumber(6), PeerNumber(3), kAccusedStep, 3}));
  EXPECT_EQ(block.cases[0].opened_step, kStep);
  EXPECT_EQ(InRole(block).size(), 7u);

  block = step_.Judge(Banned({3}));
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].id.target, PeerNumber(1));
}

// Who knew nothing of the accused step in its case knows nothing in the cases that follow.
TEST_F(ConvictionTest, WhoWasExcusedBeforeIsExcusedAgain) {
  step_.view.cases[0].ballots = {{PeerNumber(3), Verdict::kAbstain}};
  step_.view.joined = {PeerNumber(7)};
  for (const std::uint32_t voter : {1u, 2u, 4u, 5u}) Vote(step_, voter, open_, Verdict::kGuilty);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{6});
  ASSERT_EQ(block.cases.size(), 2u);
  for (const Case& open : block.cases) {
    std::vector<PeerId> excused;
    for (const Case::Ballot& ballot : open.ballots) excused.push_back(ballot.voter);
    const std::vector<int> expected =
        open.id.target == PeerNumber(3) ? std::vector<int>{7} : std::vector<int>{3, 7};
    EXPECT_EQ(scene::NumbersOfPeers(excused), expected) << "of column " << open.id.column;
  }
}

TEST_F(ConvictionTest, AsksThoughEvidenceBannedTheTargetInTheSameBlock) {
  Convict();
  EXPECT_EQ(step_.Judge(Banned({6})).cases.size(), 2u);
}

TEST_F(ConvictionTest, NothingElseAsks) {
  EXPECT_TRUE(step_.Judge(Banned({6})).cases.empty());
  for (const std::uint32_t voter : {1u, 2u, 3u, 4u}) Vote(step_, voter, open_, Verdict::kInnocent);
  EXPECT_TRUE(step_.Judge().cases.empty());
}

// Silence is no way out of a verdict.
TEST_F(ConvictionTest, AVerdictOutranksADropOfTheSameBlock) {
  Convict();
  const Block block = step_.Judge({{PeerNumber(6), {FaultKind::kDropAtReveal, "silent"}}});
  ASSERT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_TRUE(block.standings[0].banned);
}

// --- the table is full
// ----------------------------------------------------------------------------

TEST(OpenCasesTest, BeyondTheLimitAccusationsComeFirstAndNobodyIsBlamed) {
  HonestStep step = StepWith({}, {{PeerNumber(2), PeerNumber(5), kStep - 2, {}}});
  RecordHonestStep(step.view);
  step.ProofOf(PeerNumber(2)).accusation = {PeerNumber(5), kStep - 2};
  step.ProofOf(PeerNumber(0)).naming = {PeerNumber(5), kStep - 1, 0};
  step.view.owing = {PeerNumber(0)};
  for (std::size_t i = 0; i + 1 < wire::kMaxCases; ++i) {
    Case open = CaseOf(CaseKind::kCover, 60, 7, static_cast<std::uint32_t>(i));
    step.view.cases.push_back(open);
  }
  const Block block = step.Judge();
  ASSERT_EQ(block.cases.size(), wire::kMaxCases);
  EXPECT_EQ(block.cases.back().id.kind, CaseKind::kGradient);
  EXPECT_TRUE(block.removals.empty());
}

}  // namespace
}  // namespace ostraka::protocol
