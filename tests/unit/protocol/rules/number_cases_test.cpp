// Namings, and what they come to: cases about numbers, and about the owners that covered for liars.
#include <gtest/gtest.h>

#include "node/protocol/rules/judgement.h"
#include "tests/unit/protocol/rules/cases_fixture.h"

namespace ostraka::protocol::number_cases_test {
namespace {

using scene::Banned;
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

// --- namings -------------------------------------------------------------------------------------

// The last step was honest, member j owned column j and included all.
class NamingTest : public testing::Test {
 protected:
  NamingTest() : step_(MakeHonestStep({.step = kStep})) { RecordHonestStep(step_.head); }
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
  std::erase(step_.head.aggregated[2].senders, PeerNumber(6));
  std::erase(step_.head.proven, PeerNumber(7));
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
                              step_.head),
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
  step_.head.owing = {PeerNumber(2), PeerNumber(4)};
  Name(4, 5, kStep - 1, 4);
  const Block block = step_.Judge();
  EXPECT_EQ(Removed(block), std::vector<int>{2});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_EQ(block.cases.size(), 1u);
}

TEST_F(NamingTest, ANameOutOfOrderIsNone) {
  step_.head.owing = {PeerNumber(2)};
  Name(2, 5, kStep - 2, 2);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{2});
}

TEST_F(NamingTest, TheNameOfOneWhoHasLeftIsInOrder) {
  step_.head.owing = {PeerNumber(2)};
  Name(2, 5, kStep - 1, 2);
  EXPECT_EQ(Removed(step_.Judge(Banned({5}))), std::vector<int>{5});

  // It left in the block before this one: the head has no such member, and the sender list has.
  std::erase(step_.head.members, PeerNumber(5));
  step_.sealed.proofs.erase(PeerNumber(5));
  step_.sealed.aggregates.clear();
  step_.sealed.roles = {};
  const Block block = JudgeStep(step_.sealed, step_.head, step_.manifest, {{}, {}, {}, {}});
  EXPECT_TRUE(block.removals.empty());
  EXPECT_TRUE(block.cases.empty());
}

TEST_F(NamingTest, ANamerThatOwesAndIsBannedLosesOnce) {
  step_.head.owing = {PeerNumber(2)};
  const Block block = step_.Judge(Banned({2}));
  ASSERT_EQ(Removed(block), std::vector<int>{2});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kEvidence);
}

// --- cases about numbers -------------------------------------------------------------------------

class NumbersCaseTest : public testing::Test {
 protected:
  // Member 1 names member 6. t_s = 3: four ballots decide.
  NumbersCaseTest() : open_(CaseOf(CaseKind::kNumbers, 1, 6, 1)), step_(StepWith({open_})) {}
  void VoteAll(std::vector<std::uint32_t> voters, Verdict verdict) {
    for (const std::uint32_t voter : voters) Vote(step_, voter, open_, verdict);
  }
  Block JudgedAfter(std::uint64_t blocks) {
    open_.opened_step = kStep - blocks;
    step_.head.cases = {open_};
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
  EXPECT_NE(wire::TextOf(block.removals[0].reason).find("part 1 of step 16"), std::string::npos);
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

// Of six that are no party four decide; of five that know three do, as no more than two of them are
// at fault. Attack: with each newcomer four would be harder to find.
TEST_F(NumbersCaseTest, ThoseWhoKnowDecideAmongThemselves) {
  step_.head.joined = {PeerNumber(7)};
  VoteAll({0, 2}, Verdict::kGuilty);
  EXPECT_TRUE(JudgedAfter(2).removals.empty());
  VoteAll({3}, Verdict::kGuilty);
  EXPECT_EQ(Removed(JudgedAfter(2)), std::vector<int>{6});
}

// Honest newcomers raise the fault bound of the members, and not that of those who know.
TEST_F(NumbersCaseTest, NewcomersDoNotRaiseTheBoundOfACase) {
  open_.fault_bound = 2;
  VoteAll({0, 2}, Verdict::kGuilty);
  EXPECT_TRUE(JudgedAfter(2).removals.empty());
  VoteAll({3}, Verdict::kGuilty);
  EXPECT_EQ(Removed(JudgedAfter(2)), std::vector<int>{6}) << "three are more than two";
}

// Two of four honest voters do not know: an honest namer could not win.
TEST_F(NumbersCaseTest, NobodyLosesIfTooFewCouldKnow) {
  step_.head.joined = {PeerNumber(5), PeerNumber(7)};
  VoteAll({0, 2}, Verdict::kGuilty);
  Vote(step_, 7, open_, Verdict::kGuilty);  // it cannot: it was not there
  const Block pending = JudgedAfter(2);
  EXPECT_TRUE(pending.removals.empty());
  ASSERT_EQ(pending.cases.size(), 1u);
  const Block block = JudgedAfter(3);
  EXPECT_TRUE(block.removals.empty());
  EXPECT_TRUE(block.cases.empty());
}

// Known for as long as the case is open, also when the head that admitted them is long past.
TEST_F(NumbersCaseTest, WhoWasAdmittedTooLateStaysExcused) {
  step_.head.joined = {PeerNumber(7)};
  const Block next = JudgedAfter(1);
  ASSERT_EQ(next.cases.size(), 1u);
  ASSERT_EQ(next.cases[0].ballots.size(), 1u);
  EXPECT_EQ(next.cases[0].ballots[0].voter, PeerNumber(7));
  EXPECT_EQ(next.cases[0].ballots[0].verdict, Verdict::kAbstain);
  step_.head.joined.clear();
  open_ = next.cases[0];
  VoteAll({7}, Verdict::kGuilty);
  VoteAll({0, 2}, Verdict::kGuilty);
  EXPECT_EQ(Removed(JudgedAfter(2)), std::vector<int>{}) << "the vote of 7 does not count";
  VoteAll({3}, Verdict::kGuilty);
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
  step_.head.cases = {other, open_};
  step_.head.cases[0].opened_step = kStep - 3;
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

// An undecided case blames its namer whatever else that pass finds: no order of cases decides.
TEST_F(NumbersCaseTest, UndecidedCasesDoNotExcuseEachOther) {
  Case first = CaseOf(CaseKind::kNumbers, 1, 6, 1);
  Case second = CaseOf(CaseKind::kNumbers, 2, 1, 2);
  first.opened_step = second.opened_step = kStep - 3;
  for (const std::vector<Case>& cases : {std::vector<Case>{first, second}, {second, first}}) {
    step_.head.cases = cases;
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
          const std::uint32_t deciding = DecidingBallots(FaultBound(t), n - 2);
          EXPECT_LT(faults - 1, deciding) << n << " " << faults;
          EXPECT_GE(honest - 1, deciding) << n << " " << faults;
        }
      }
    }
  }
}

// --- covering ------------------------------------------------------------------------------------

TEST(CoveringTest, AreTheOwnersOfAppliedColumnsWithThePart) {
  Block head = ViewBefore(ManifestOf(8), kStep);
  RecordHonestStep(head);
  std::erase(head.aggregated[1].senders, PeerNumber(5));
  head.columns[2] = ColumnFate::kSumCheck;
  head.columns[3] = ColumnFate::kMissingNumbers;
  // Column 5 is its own; the owner of column 6 names another in this step.
  const std::map<PeerId, wire::Naming> namings = {{PeerNumber(6), {PeerNumber(0), head.step, 6}}};
  EXPECT_EQ(
      CoveringOf(PeerNumber(5), head, namings),
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
  step_.head.cases[0].opened_step = kStep - 3;
  const Block block = step_.Judge();
  EXPECT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
}

// n = 7, two faults: four honest members besides the owner's, of whom three must know.
TEST_F(CoverCaseTest, NobodyLosesIfTooFewCouldKnow) {
  step_.head.cases[0].opened_step = kStep - 3;
  step_.head.joined = {PeerNumber(5)};
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{1}) << "three of them know";
  step_.head.joined = {PeerNumber(4), PeerNumber(5)};
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
  step_.head.cases[0].ballots = {{PeerNumber(3), Verdict::kAbstain}};
  step_.head.joined = {PeerNumber(7)};
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
  const Block block =
      step_.Judge({{PeerNumber(6), {FaultKind::kDropAtReveal, {.old_text = "silent"}}}});
  ASSERT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_TRUE(block.standings[0].banned);
}

}  // namespace
}  // namespace ostraka::protocol::number_cases_test
