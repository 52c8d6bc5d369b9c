// What opens a case by a validator, who votes, and the one loser that each case has. Cases about
// numbers and covered parts are number_cases_test.cpp's.
#include "node/protocol/rules/cases.h"

#include <gtest/gtest.h>

#include "node/wire/limits.h"
#include "tests/unit/protocol/rules/cases_fixture.h"

namespace ostraka::protocol::cases_test {
namespace {

using scene::Banned;
using scene::GradientCase;
using scene::HonestStep;
using scene::PeerNumber;
using scene::RecordHonestStep;
using scene::Removed;
using wire::CaseId;
using wire::CaseKind;
using wire::RemovalKind;
using wire::Verdict;

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

// Seven of sixteen members are validators, and accuse a target each.
class ManyAccusationsTest : public testing::Test {
 protected:
  ManyAccusationsTest() {
    constexpr std::uint32_t kAccusers = 7;
    std::vector<Assignment> drawn;
    for (std::uint32_t i = 0; i < kAccusers; ++i) {
      drawn.push_back({PeerNumber(i), PeerNumber(15 - i), kStep - 2, kCovering});
    }
    step_ = StepWith({}, drawn, 16);
    for (std::uint32_t i = 0; i < kAccusers; ++i) {
      step_.ProofOf(PeerNumber(i)).accusation = {PeerNumber(15 - i), kStep - 2};
    }
  }
  // By the place of the accuser in the draw.
  static std::map<std::uint32_t, std::uint64_t> Begins(const Block& block) {
    std::map<std::uint32_t, std::uint64_t> begins;
    for (const Case& open : block.cases) {
      for (std::uint32_t i = 0; i < 16; ++i) {
        if (open.id.accuser == PeerNumber(i)) begins[i] = open.opened_step;
      }
    }
    return begins;
  }
  HonestStep step_;
};

TEST_F(ManyAccusationsTest, TwoCasesBeginWithABlockAndTheOthersSoonAfter) {
  const Block block = step_.Judge();
  EXPECT_EQ(
      Begins(block),
      (std::map<std::uint32_t, std::uint64_t>{
          {0, kStep}, {1, kStep}, {2, kStep + 1}, {3, kStep + 1}, {4, kStep + 2}, {5, kStep + 2}}))
      << "the seventh finds no room, and costs nobody anything";
  EXPECT_TRUE(block.removals.empty());
  EXPECT_EQ(CasesInWork(block, false).size(), 2u);
}

// [It was dropped for its silence, and its false accusation cost it nothing.]
TEST_F(ManyAccusationsTest, AnAccuserThatIsSilentBeforeItsCaseBeginsAnswersForIt) {
  const Block block = step_.Judge();
  HonestStep next = StepWith(block.cases, {}, 16);
  SealedFaults silent;
  NoteFault(silent, PeerNumber(2), FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
  EXPECT_EQ(Begins(next.Judge(silent)).count(2), 1u);
}

TEST_F(ManyAccusationsTest, CasesOfBlocksBeforeThatBeginNowTakeRoom) {
  step_.head.cases = {CaseOf(8, 7)};
  step_.head.cases[0].opened_step = kStep;
  step_.sealed.roles.validators.resize(2);
  EXPECT_EQ(Begins(step_.Judge()),
            (std::map<std::uint32_t, std::uint64_t>{{0, kStep}, {1, kStep + 1}, {8, kStep}}));
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

// A friend accuses a liar and leaves; the case that goes on protects it from nobody.
TEST_F(AccusationTest, OfATargetWhoseAccuserHasLeftCounts) {
  step_.head.cases = {CaseOf(7, 5)};
  Accuse(2, 5, kStep - 2);
  EXPECT_EQ(step_.Judge().cases.size(), 1u);
  step_.head.cases = {CaseOf(60, 5)};
  EXPECT_EQ(step_.Judge().cases.size(), 2u);
}

// Silence right after a misdeed must be no way out of the ban.
TEST_F(AccusationTest, OfOneWhoIsDroppedInThisBlockCounts) {
  Accuse(2, 5, kStep - 2);
  SealedFaults silent;
  NoteFault(silent, PeerNumber(5), FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
  const Block block = step_.Judge(silent);
  EXPECT_EQ(Removed(block), std::vector<int>{5});
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].id.target, PeerNumber(5));
}

TEST_F(AccusationTest, OfADroppedMemberCountsUnlessItIsBanned) {
  Accuse(2, 5, kStep - 2);
  std::erase(step_.head.members, PeerNumber(5));
  step_.head.standings = {{.peer = PeerNumber(5), .drops = 1}};
  step_.sealed.proofs.erase(PeerNumber(5));
  step_.sealed.aggregates.clear();
  step_.sealed.roles.owners.clear();
  step_.sealed.roles.parts.clear();
  const auto judged = [&] {
    return JudgeStep(step_.sealed, step_.head, step_.manifest, {{}, {}, {}, {}});
  };
  EXPECT_EQ(judged().cases.size(), 1u);
  step_.head.standings = {{.peer = PeerNumber(5), .banned = true}};
  EXPECT_TRUE(judged().cases.empty());
}

TEST_F(AccusationTest, OfAPartyToAnOpenCaseIsVoid) {
  step_.head.cases = {CaseOf(5, 6)};
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
  EXPECT_NE(wire::TextOf(block.removals[0].reason).find("guilty by 4 of 6"), std::string::npos)
      << wire::TextOf(block.removals[0].reason);
  EXPECT_TRUE(block.cases.empty()) << "the accuser goes back to work";
  EXPECT_TRUE(IsMember(block.members, PeerNumber(1)));
}

TEST_F(VoteTest, InnocentByMoreThanHalfBansTheAccuser) {
  VoteAll({0, 2, 3, 4}, Verdict::kInnocent);
  VoteAll({5, 7}, Verdict::kGuilty);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_NE(wire::TextOf(block.removals[0].reason).find("innocent by 4 of 6"), std::string::npos);
  EXPECT_TRUE(block.cases.empty());
}

// For people: the block that bans says how many voted, and the case is not in it any more.
TEST_F(VoteTest, ARuledCaseNamesItsLoserAndWhoVotedHow) {
  step_.head.cases.front().ballots = {{PeerNumber(7), Verdict::kInnocent}};
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  const std::vector<RuledCase> ruled = RuledCases(step_.sealed, step_.head, /*exact=*/false);
  ASSERT_EQ(ruled.size(), 1u);
  EXPECT_EQ(ruled[0].loser, PeerNumber(6));
  EXPECT_EQ(ruled[0].verdict, Verdict::kGuilty);
  EXPECT_EQ(ruled[0].voters, 6u);
  ASSERT_EQ(ruled[0].ballots.size(), 5u);
  EXPECT_EQ(ruled[0].ballots[0].voter, PeerNumber(7)) << "it voted in an earlier step";
  EXPECT_EQ(ruled[0].ballots[0].verdict, Verdict::kInnocent);
}

TEST_F(VoteTest, ARuledCaseThatClearsTheTargetNamesTheAccuser) {
  VoteAll({0, 2, 3, 4}, Verdict::kInnocent);
  const std::vector<RuledCase> ruled = RuledCases(step_.sealed, step_.head, /*exact=*/false);
  ASSERT_EQ(ruled.size(), 1u);
  EXPECT_EQ(ruled[0].loser, PeerNumber(1));
  EXPECT_EQ(ruled[0].verdict, Verdict::kInnocent);
}

TEST_F(VoteTest, ACaseThatGoesOnIsNotRuled) {
  VoteAll({0, 2, 3}, Verdict::kGuilty);
  EXPECT_TRUE(RuledCases(step_.sealed, step_.head, /*exact=*/false).empty());
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
  step_.head.cases = {open_};
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
  step_.head.cases = step_.Judge().cases;
  for (auto& [peer, proof] : step_.sealed.proofs) proof.votes.clear();
  EXPECT_TRUE(step_.Judge().removals.empty());
  VoteAll({7}, Verdict::kGuilty);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

TEST_F(VoteTest, TheQuarantinedVoteOnOtherCases) {
  step_.head.cases = {CaseOf(1, 6), CaseOf(0, 2)};
  for (const std::uint32_t voter : {0u, 2u, 3u, 4u}) Vote(step_, voter, open_, Verdict::kGuilty);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

TEST_F(VoteTest, EightBlocksWithoutAMajorityDropTheAccuser) {
  VoteAll({0, 2, 3}, Verdict::kInnocent);
  Vote(step_, 4, open_, Verdict::kGuilty);
  open_.opened_step = kStep - kGradientCaseBlocks + 1;
  step_.head.cases = {open_};
  EXPECT_TRUE(step_.Judge().removals.empty()) << "the eighth block is still to come";
  open_.opened_step = kStep - kGradientCaseBlocks;
  step_.head.cases = {open_};
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_TRUE(block.cases.empty()) << "the target is freed";
  EXPECT_TRUE(IsMember(block.members, PeerNumber(6)));
}

TEST_F(VoteTest, AMajorityInTheLastBlockStillDecides) {
  open_.opened_step = kStep - kGradientCaseBlocks;
  step_.head.cases = {open_};
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  EXPECT_EQ(Removed(step_.Judge()), std::vector<int>{6});
}

TEST_F(VoteTest, ACaseEndsWhenItsTargetIsBannedOtherwise) {
  const Block block = step_.Judge(Banned({6}));
  EXPECT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_TRUE(block.cases.empty());
  EXPECT_EQ(step_.Judge(Banned({1})).cases.size(), 1u) << "its gradient is as false as before";
}

// Attack: [three newcomers of eight counted as knowing, and nobody could decide the case].
TEST_F(VoteTest, WhoTheBlockOfTheStepOrALaterOneAdmittedHasNoVote) {
  step_.head.standings = {{.peer = PeerNumber(4), .returned_step = kAccusedStep - 1},
                          {.peer = PeerNumber(5), .returned_step = kAccusedStep},
                          {.peer = PeerNumber(7), .came_step = kAccusedStep + 1}};
  const Block block = step_.Judge();
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(VotersIn(block.cases[0], step_.head),
            (std::vector<PeerId>{PeerNumber(0), PeerNumber(2), PeerNumber(3), PeerNumber(4)}));
}

// Member 6 was dropped meanwhile: the other six are eligible still.
TEST_F(VoteTest, ACaseGoesOnWithoutItsTarget) {
  SealedFaults silent;
  NoteFault(silent, PeerNumber(6), FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
  const Block dropped = step_.Judge(silent);
  EXPECT_EQ(Removed(dropped), std::vector<int>{6});
  ASSERT_EQ(dropped.cases.size(), 1u);
  EXPECT_EQ(dropped.cases[0].id, open_.id);

  HonestStep after = StepWith({open_});
  after.head = dropped;
  after.head.step = kStep - 1;
  after.sealed = {};
  after.sealed.step = kStep;
  const auto judged = [&](Verdict verdict, std::vector<std::uint32_t> voters) {
    after.sealed.proofs.clear();
    for (const std::uint32_t voter : voters) {
      after.sealed.proofs[PeerNumber(voter)].votes = {{open_.id, verdict}};
    }
    return JudgeStep(after.sealed, after.head, after.manifest, {{}, {}, {}, {}});
  };
  EXPECT_TRUE(judged(Verdict::kGuilty, {0, 2, 3}).removals.empty());
  const Block guilty = judged(Verdict::kGuilty, {0, 2, 3, 4});
  ASSERT_EQ(Removed(guilty), std::vector<int>{6});
  EXPECT_EQ(guilty.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_EQ(Removed(judged(Verdict::kInnocent, {0, 2, 3, 4})), std::vector<int>{1});
}

// Seven members: of five voters at most one is faulty beside a party.
TEST_F(VoteTest, UndecidedCostsTheAccuserItsPlaceOnlyIfAnHonestVoterDisagreed) {
  open_.opened_step = kStep - kGradientCaseBlocks;
  const auto removed = [&](const std::vector<std::pair<std::uint32_t, Verdict>>& ballots) {
    open_.ballots.clear();
    for (const auto& [voter, verdict] : ballots)
      open_.ballots.push_back({PeerNumber(voter), verdict});
    step_.head.cases = {open_};
    const Block block = step_.Judge({});
    EXPECT_TRUE(block.cases.empty());
    return Removed(block);
  };
  EXPECT_EQ(removed({}), std::vector<int>{}) << "all voters were started again";
  EXPECT_EQ(removed({{0, Verdict::kGuilty}, {2, Verdict::kGuilty}}), std::vector<int>{});
  EXPECT_EQ(removed({{0, Verdict::kGuilty},
                     {2, Verdict::kGuilty},
                     {3, Verdict::kInnocent},
                     {4, Verdict::kInnocent}}),
            std::vector<int>{})
      << "friends of a liar may have voted, and one honest voter was started again";
  step_.head.thresholds.t_s = 1;  // one of the parties is the faulty one
  EXPECT_EQ(removed({{0, Verdict::kGuilty}, {3, Verdict::kInnocent}}), std::vector<int>{1});
}

TEST_F(VoteTest, UndecidedAgainstOneWhoLeftHasNoLoser) {
  open_.opened_step = kStep - kGradientCaseBlocks;
  step_.head.cases = {open_};
  SealedFaults silent;
  NoteFault(silent, PeerNumber(6), FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
  const Block block = step_.Judge(silent);
  EXPECT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_TRUE(block.cases.empty());
}

// An accuser whose target turned out to be a cheat in another way has not failed.
TEST_F(VoteTest, ACaseThatEvidenceEndsHasNoSecondLoser) {
  open_.opened_step = kStep - kGradientCaseBlocks;
  step_.head.cases = {open_};
  const Block block = step_.Judge(Banned({6}));
  EXPECT_EQ(Removed(block), std::vector<int>{6});
}

// --- the table is full ---------------------------------------------------------------------------

TEST(OpenCasesTest, BeyondTheLimitAccusationsComeFirstAndNobodyIsBlamed) {
  HonestStep step = StepWith({}, {{PeerNumber(2), PeerNumber(5), kStep - 2, {}}});
  RecordHonestStep(step.head);
  step.ProofOf(PeerNumber(2)).accusation = {PeerNumber(5), kStep - 2};
  step.ProofOf(PeerNumber(0)).naming = {PeerNumber(5), kStep - 1, 0};
  step.head.owing = {PeerNumber(0)};
  for (std::size_t i = 0; i + 1 < wire::kMaxCases; ++i) {
    Case open = CaseOf(CaseKind::kCover, 60, 7, static_cast<std::uint32_t>(i));
    step.head.cases.push_back(open);
  }
  const Block block = step.Judge();
  ASSERT_EQ(block.cases.size(), wire::kMaxCases);
  EXPECT_EQ(block.cases.back().id.kind, CaseKind::kGradient);
  EXPECT_TRUE(block.removals.empty());
}

// --- profile exact/1: a first fault --------------------------------------------------------------

class ExactVoteTest : public VoteTest {
 protected:
  ExactVoteTest() { MakeExact(step_); }
  static void MakeExact(HonestStep& step) {
    step.manifest.compute_profile = kExact;
    step.manifest.eps_g = 0;
  }
  static const wire::Standing* StandingIn(const Block& block, std::uint32_t peer) {
    return StandingOf(block.standings, PeerNumber(peer));
  }
  void Err(std::uint32_t peer) {
    step_.head.standings.push_back({.peer = PeerNumber(peer), .drops = 1, .erred = true});
  }
};

TEST_F(ExactVoteTest, OneFalseGradientSuspends) {
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_NE(wire::TextOf(block.removals[0].reason).find("guilty by 4 of 6 votes: a first fault"),
            std::string::npos)
      << wire::TextOf(block.removals[0].reason);
  const wire::Standing* standing = StandingIn(block, 6);
  EXPECT_TRUE(standing->erred);
  EXPECT_FALSE(standing->banned);
  EXPECT_EQ(standing->barred_until, kStep + kBarredSteps);
  EXPECT_EQ(standing->erred_in, step_.head.cases[0].id.step + 1);
}

TEST_F(ExactVoteTest, TwoFalseGradientsBan) {
  VoteAll({0, 2, 3, 4}, Verdict::kTwice);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kVerdict);
  EXPECT_NE(wire::TextOf(block.removals[0].reason).find("guilty by 4 of 6 votes"),
            std::string::npos);
  EXPECT_TRUE(StandingIn(block, 6)->banned);
}

// Three of six are colluders at most: neither may they ban whom the others suspend.
TEST_F(ExactVoteTest, HalfOfTheVotersMakeItNotTwice) {
  VoteAll({0, 2, 3}, Verdict::kTwice);
  VoteAll({4, 5, 7}, Verdict::kGuilty);
  ASSERT_EQ(Removed(step_.Judge()), std::vector<int>{6});
  EXPECT_EQ(step_.Judge().removals[0].kind, RemovalKind::kDrop);
}

// Friends of a cheat vote guilty at once, while the others still look at its other steps.
TEST_F(ExactVoteTest, CaseGoesOnWhileItMayBecomeTwice) {
  VoteAll({0, 2, 3}, Verdict::kTwice);
  VoteAll({4}, Verdict::kGuilty);
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  ASSERT_EQ(block.cases.size(), 1u);
  EXPECT_EQ(block.cases[0].ballots.size(), 4u);
  HonestStep suspended = step_;
  VoteAll({5}, Verdict::kTwice);
  ASSERT_EQ(Removed(step_.Judge()), std::vector<int>{6});
  EXPECT_EQ(step_.Judge().removals[0].kind, RemovalKind::kVerdict);
  Vote(suspended, 5, open_, Verdict::kGuilty);
  EXPECT_TRUE(suspended.Judge().removals.empty()) << "one may still come";
  Vote(suspended, 7, open_, Verdict::kGuilty);
  ASSERT_EQ(Removed(suspended.Judge()), std::vector<int>{6});
  EXPECT_EQ(suspended.Judge().removals[0].kind, RemovalKind::kDrop);
}

TEST_F(ExactVoteTest, VotesThatNeverComeMakeItAFirstFaultInTheLastBlock) {
  VoteAll({0, 2, 3}, Verdict::kTwice);
  VoteAll({4}, Verdict::kGuilty);
  step_.head.cases[0].opened_step = kStep - kGradientCaseBlocks + 1;
  EXPECT_TRUE(step_.Judge().removals.empty());
  step_.head.cases[0].opened_step = kStep - kGradientCaseBlocks;
  ASSERT_EQ(Removed(step_.Judge()), std::vector<int>{6});
  EXPECT_EQ(step_.Judge().removals[0].kind, RemovalKind::kDrop);
}

TEST_F(ExactVoteTest, NobodyLooksIntoASecondFault) {
  Err(6);
  VoteAll({0, 2, 3}, Verdict::kTwice);
  VoteAll({4}, Verdict::kGuilty);
  ASSERT_EQ(Removed(step_.Judge()), std::vector<int>{6});
  EXPECT_EQ(step_.Judge().removals[0].kind, RemovalKind::kVerdict);
}

// A cheat that a friend accuses: the friend leaves once the majority has found the cheat guilty.
TEST_F(ExactVoteTest, AnAccuserThatLeavesEndsNoCaseThatIsFoundGuilty) {
  VoteAll({0, 2, 3}, Verdict::kTwice);
  VoteAll({4}, Verdict::kGuilty);
  SealedFaults silent;
  NoteFault(silent, PeerNumber(1), FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
  const Block block = step_.Judge(silent);
  EXPECT_EQ(Removed(block), std::vector<int>{1});
  ASSERT_EQ(block.cases.size(), 1u);
  HonestStep after = StepWith({block.cases[0]});
  MakeExact(after);
  std::erase(after.head.members, PeerNumber(1));
  after.head.thresholds = ThresholdsIn(after.manifest, after.head.members.size());
  EXPECT_EQ(RuleOn(block.cases[0], after.head, kStep, true), Ruling::kGuilty) << "without delay";
  step_.sealed.proofs.clear();
  EXPECT_EQ(step_.Judge(silent).cases.size(), 1u) << "nobody has voted yet";
}

// A bit that flips in a part after it was sent is seen by its owner, which names, and by
// a validator, which accuses.
TEST_F(ExactVoteTest, ASecondConvictionAboutTheStepOfTheFirstIsNoBan) {
  Err(6);
  step_.head.standings.back().erred_in = step_.head.cases[0].id.step + 1;
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{6});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_EQ(StandingIn(block, 6)->erred_in, step_.head.cases[0].id.step + 1);
  step_.head.standings.back().erred_in += 1;
  EXPECT_EQ(step_.Judge().removals[0].kind, RemovalKind::kVerdict);
}

TEST_F(ExactVoteTest, AFalseAccusationAboutTheStepOfAFirstFaultIsASecondOne) {
  Err(1);
  step_.head.standings.back().erred_in = step_.head.cases[0].id.step + 1;
  VoteAll({0, 2, 3, 4}, Verdict::kInnocent);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kVerdict);
}

// A bit that flips in a part after it was sent makes its numbers false, and one that flips while an
// owner compares numbers makes a naming false.
TEST(ExactNumbersTest, InTheExactProfileAFirstLossSuspends) {
  for (const Verdict verdict : {Verdict::kGuilty, Verdict::kInnocent}) {
    const int loser = verdict == Verdict::kGuilty ? 6 : 1;
    const Case open = CaseOf(CaseKind::kNumbers, 1, 6, 0);
    HonestStep step = StepWith({open});
    for (const std::uint32_t voter : {0u, 2u, 3u, 4u}) Vote(step, voter, open, verdict);
    ASSERT_EQ(Removed(step.Judge()), std::vector<int>{loser});
    EXPECT_EQ(step.Judge().removals[0].kind, RemovalKind::kVerdict) << "in other profiles";
    step.manifest.compute_profile = kExact;
    step.manifest.eps_g = 0;
    const Block block = step.Judge();
    ASSERT_EQ(Removed(block), std::vector<int>{loser});
    EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
    EXPECT_NE(wire::TextOf(block.removals[0].reason).find(": a first fault"), std::string::npos);
    const auto* standing = StandingOf(block.standings, PeerNumber(static_cast<unsigned>(loser)));
    EXPECT_TRUE(standing->erred);
    step.head.standings = block.standings;
    for (wire::Standing& each : step.head.standings) {
      if (each.erred_in > 0) --each.erred_in;  // in the step before
    }
    ASSERT_EQ(Removed(step.Judge()), std::vector<int>{loser});
    EXPECT_EQ(step.Judge().removals[0].kind, RemovalKind::kVerdict) << "the next one bans";
  }
}

TEST(ExactNumbersTest, HidingALiarIsNoFlippedBit) {
  const Case open = CaseOf(CaseKind::kCover, 60, 6, 0);
  HonestStep step = StepWith({open});
  step.manifest.compute_profile = kExact;
  step.manifest.eps_g = 0;
  for (const std::uint32_t voter : {0u, 2u, 3u, 4u}) Vote(step, voter, open, Verdict::kGuilty);
  ASSERT_EQ(Removed(step.Judge()), std::vector<int>{6});
  EXPECT_EQ(step.Judge().removals[0].kind, RemovalKind::kVerdict);
}

// No verdict rests on ballots of faulty members alone, whatever the size. Of two parties one is at
// fault, so fewer than F faulty members vote; where the target has left, F may.
TEST(GradientCaseTest, EveryMajorityHoldsAnHonestBallot) {
  for (const Mode mode : {Mode::kMajority, Mode::kBalanced, Mode::kThird}) {
    for (std::uint32_t genesis = 2; genesis <= 64; ++genesis) {
      const Manifest manifest = scene::ManifestOf(genesis, mode);
      for (std::size_t n = 2; n <= genesis; ++n) {
        const std::size_t faults = FaultBound(ThresholdsIn(manifest, n));
        const auto majority = [](std::size_t eligible) { return eligible / 2 + 1; };
        if (faults == 0) continue;
        if (n > 2) {
          EXPECT_GT(majority(n - 2), faults - 1) << n << " of " << genesis;
        }
        EXPECT_GT(majority(n - 1), faults) << n << " of " << genesis;
      }
    }
  }
}

TEST_F(ExactVoteTest, SecondFaultOfAKeyBans) {
  Err(6);
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  EXPECT_EQ(step_.Judge().removals[0].kind, RemovalKind::kVerdict);
}

TEST_F(ExactVoteTest, FalseAccuserIsSuspendedOnceToo) {
  VoteAll({0, 2, 3, 4}, Verdict::kInnocent);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{1});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  Err(1);
  EXPECT_EQ(step_.Judge().removals[0].kind, RemovalKind::kVerdict);
}

TEST_F(ExactVoteTest, WhoLeftIsSuspendedAllTheSame) {
  step_.head.standings.push_back({.peer = PeerNumber(20), .drops = 1});
  open_ = CaseOf(1, 20);
  step_.head.cases = {open_};
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{20});
  EXPECT_TRUE(StandingIn(block, 20)->erred);
  EXPECT_EQ(StandingIn(block, 20)->barred_until, kStep + kBarredSteps);
}

// Else t_s cheats that are found in one block would all be forgiven with one that is absent.
TEST_F(ExactVoteTest, NoMassOfDropsForgivesIt) {
  VoteAll({0, 2, 3, 4}, Verdict::kGuilty);
  SealedFaults silent;
  for (const std::uint32_t absent : {0u, 2u, 3u, 4u, 5u}) {
    NoteFault(silent, PeerNumber(absent), FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
  }
  EXPECT_EQ(Removed(step_.Judge(silent)), std::vector<int>{6});
}

TEST_F(VoteTest, InOtherProfilesEveryVerdictBans) {
  VoteAll({0, 2, 3, 4}, Verdict::kTwice);
  EXPECT_EQ(step_.Judge().removals[0].kind, RemovalKind::kVerdict);
}

}  // namespace
}  // namespace ostraka::protocol::cases_test
