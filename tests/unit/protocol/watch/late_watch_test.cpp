// When words are due, by whom that can be moved, and what is asked for.
#include "node/protocol/watch/late_watch.h"

#include <gtest/gtest.h>

namespace ostraka::protocol::late_watch_test {
namespace {

using base::Milliseconds;

base::Time At(std::int64_t ms) { return base::Time{} + Milliseconds(ms); }

// Eight members of whom three may lie; Delta 100 ms, patience 700 ms, deadline 10 s.
LateWatch::Options Eight(bool owns_column = true) {
  LateWatch::Options options;
  options.opened = At(0);
  options.delta = Milliseconds(100);
  options.patience = Milliseconds(700);
  options.deadline = Milliseconds(10'000);
  options.members = 8;
  options.quorum = 5;
  options.fault_bound = 3;
  options.owns_column = owns_column;
  return options;
}

LateWatch SealA(LateWatch::Options options = Eight()) {
  LateWatch watch(options);
  for (std::size_t i = 0; i < 8; ++i) {
    watch.Expect({DueMessage::kCommit, i}, i);
    watch.Expect({DueMessage::kAggregate, i}, i);
    if (options.owns_column) watch.Expect({DueMessage::kPart, i}, i);
  }
  return watch;
}

void Give(LateWatch& watch, DueMessage kind, std::size_t from, std::size_t to, std::int64_t ms) {
  for (std::size_t i = from; i < to; ++i) watch.Held({kind, i}, At(ms));
}

using Figures = std::map<std::size_t, std::uint64_t>;

// Of own words and AGGs together.
Figures Late(LateWatch& watch, std::int64_t stop_ms) {
  watch.Stop(At(stop_ms));
  Figures sums;
  for (const auto& [author, figures] : watch.Late()) sums[author] = figures.own + figures.aggregate;
  return sums;
}

TEST(LateWatchTest, WhoRecomputesForOthersHasItsTimeAndNoMore) {
  LateWatch watch(Eight(false));
  for (std::size_t i = 0; i < 8; ++i) {
    watch.Expect({DueMessage::kProof, i}, i, Milliseconds(i == 7 ? 5'000 : 0));
  }
  Give(watch, DueMessage::kProof, 0, 6, 0);
  EXPECT_EQ(watch.AskFrom(), At(900)) << "of the one without";
  watch.Held({DueMessage::kProof, 6}, At(1'100));
  EXPECT_EQ(watch.AskFrom(), At(5'900));
  watch.Held({DueMessage::kProof, 7}, At(6'250));
  EXPECT_EQ(Late(watch, 7'000), (Figures{{6, 100}, {7, 250}}));
}

TEST(LateWatchTest, NoTimeForRecomputingGoesBeyondTheDeadline) {
  LateWatch watch(Eight(false));
  for (std::size_t i = 0; i < 8; ++i) {
    watch.Expect({DueMessage::kProof, i}, i, Milliseconds(i == 7 ? 50'000 : 0));
  }
  Give(watch, DueMessage::kProof, 0, 7, 0);
  watch.Held({DueMessage::kProof, 7}, At(10'500));
  EXPECT_EQ(Late(watch, 11'000), (Figures{{7, 500}}));
}

TEST(LateWatchTest, BelowThePatienceAndThreeDeltasNobodyIsLateHoweverFastTheOthersAre) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 7, 0);
  Give(watch, DueMessage::kPart, 0, 7, 0);
  watch.Held({DueMessage::kCommit, 7}, At(999));
  watch.Held({DueMessage::kPart, 7}, At(1000));
  Give(watch, DueMessage::kAggregate, 0, 8, 2000);
  EXPECT_EQ(Late(watch, 2000), Figures{});
}

TEST(LateWatchTest, ACommitIsLateFromTheBarOnAndMovesNoOther) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 7, 10);
  Give(watch, DueMessage::kPart, 0, 7, 20);
  watch.Held({DueMessage::kCommit, 7}, At(4000));
  watch.Held({DueMessage::kPart, 7}, At(4200));
  Give(watch, DueMessage::kAggregate, 0, 7, 5000);
  watch.Held({DueMessage::kAggregate, 7}, At(5300));
  // By COMMIT and PART together once. The AGGs were due at 2000, and name member 7 as the slowest.
  watch.Stop(At(6000));
  const std::map<std::size_t, LateFigures> late = watch.Late();
  EXPECT_EQ(late.at(7), (LateFigures{.own = 3200, .aggregate = 100}));
  EXPECT_EQ(late.at(0), (LateFigures{.own = 0, .aggregate = 3000}));
  EXPECT_EQ(watch.Slowest(), 7u);
}

TEST(LateWatchTest, FourTimesTheQuickestQuorumIsInTime) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 5, 600);
  Give(watch, DueMessage::kPart, 0, 5, 700);
  watch.Held({DueMessage::kCommit, 5}, At(3000));  // 4 x 700 + 3 Delta = 3100
  watch.Held({DueMessage::kCommit, 6}, At(3100));
  watch.Held({DueMessage::kCommit, 7}, At(3200));
  EXPECT_EQ(Late(watch, 3200), (Figures{{5, 100}, {6, 100}, {7, 100}}))
      << "the parts have not come";
}

// Three colluders that do not wait, and honest members of whom the second needs 300 ms.
TEST(LateWatchTest, ColludersLowerTheBarToTheSecondFastestHonestMemberAndNoFurther) {
  LateWatch watch = SealA(Eight(false));
  Give(watch, DueMessage::kCommit, 0, 3, 0);
  watch.Held({DueMessage::kCommit, 3}, At(200));
  EXPECT_EQ(watch.AskFrom(), std::nullopt);
  watch.Held({DueMessage::kCommit, 4}, At(300));
  EXPECT_EQ(watch.AskFrom(), At(4 * 300 + 200));
}

// With the AGGs in q, a part kept back from all owners would move the bar to the deadline.
TEST(LateWatchTest, APartThatIsKeptBackFromAllMovesNoBar) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 8, 10);
  Give(watch, DueMessage::kPart, 0, 7, 20);
  watch.Held({DueMessage::kPart, 7}, At(5000));
  Give(watch, DueMessage::kAggregate, 0, 8, 5100);
  const Figures late = Late(watch, 5100);
  EXPECT_EQ(late.at(7), 4000u);
  EXPECT_EQ(late.at(0), 3100u) << "and the owners name it";
  EXPECT_EQ(watch.Slowest(), 7u);
}

// What is told of an AGG is only what the own words do not tell already.
TEST(LateWatchTest, TellsOwnWordsAndAggregatesApart) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 8, 10);
  Give(watch, DueMessage::kPart, 0, 6, 20);
  Give(watch, DueMessage::kPart, 6, 8, 3000);
  Give(watch, DueMessage::kAggregate, 0, 5, 1000);
  Give(watch, DueMessage::kAggregate, 5, 7, 3500);
  watch.Held({DueMessage::kAggregate, 7}, At(5000));
  watch.Stop(At(5000));
  const std::map<std::size_t, LateFigures> late = watch.Late();
  EXPECT_EQ(late.size(), 3u);
  EXPECT_EQ(late.at(5), (LateFigures{.own = 0, .aggregate = 1500}));
  EXPECT_EQ(late.at(6), (LateFigures{.own = 2000, .aggregate = 0}));
  EXPECT_EQ(late.at(7), (LateFigures{.own = 2000, .aggregate = 1000}));
}

TEST(LateWatchTest, WhoOwnsNoColumnJudgesCommitsOnly) {
  LateWatch watch = SealA(Eight(false));
  Give(watch, DueMessage::kCommit, 0, 7, 10);
  EXPECT_EQ(Late(watch, 3000), (Figures{{7, 2000}}));
}

TEST(LateWatchTest, WhileTooFewAreThereNobodyIsLate) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 4, 10);
  EXPECT_EQ(watch.AskFrom(), std::nullopt);
  EXPECT_TRUE(watch.Overdue(At(9000)).empty());
  EXPECT_EQ(Late(watch, 10'000), Figures{});
}

TEST(LateWatchTest, NothingIsDueAfterTheDeadline) {
  LateWatch watch = SealA(Eight(false));
  Give(watch, DueMessage::kCommit, 0, 5, 9000);
  EXPECT_EQ(watch.AskFrom(), At(9900));
}

// --- seal C --------------------------------------------------------------------------------------

LateWatch SealC() {
  LateWatch watch(Eight());
  for (std::size_t i = 0; i < 8; ++i) {
    watch.Expect({DueMessage::kResult, i}, i);
    watch.Expect({DueMessage::kProof, i}, i);
  }
  return watch;
}

TEST(LateWatchTest, AResultThatComesLateIsItsOwnersAndNotThatOfThosePROOFsThatWaitForIt) {
  LateWatch watch = SealC();
  Give(watch, DueMessage::kResult, 0, 7, 0);
  watch.Held({DueMessage::kProof, 7}, At(10));  // who needs not wait
  watch.Held({DueMessage::kResult, 7}, At(6000));
  Give(watch, DueMessage::kProof, 0, 7, 6500);
  EXPECT_EQ(Late(watch, 6500), (Figures{{7, 5000}}));
}

TEST(LateWatchTest, AResultThatNeverComesEndsWithTheBulkTimer) {
  LateWatch watch = SealC();
  Give(watch, DueMessage::kResult, 0, 7, 0);
  watch.EndResults(At(5200));
  Give(watch, DueMessage::kProof, 0, 7, 5300);
  watch.Held({DueMessage::kProof, 7}, At(7200));
  EXPECT_EQ(Late(watch, 7200), (Figures{{7, 6200}}));
}

TEST(LateWatchTest, AProofIsDueFourTimesWhatTheQuickestQuorumTook) {
  LateWatch watch = SealC();
  Give(watch, DueMessage::kResult, 0, 8, 100);
  Give(watch, DueMessage::kProof, 0, 5, 600);
  watch.Held({DueMessage::kProof, 5}, At(2400));  // 100 + 4 x 500 + 3 Delta
  watch.Held({DueMessage::kProof, 6}, At(2500));
  EXPECT_EQ(Late(watch, 2600), (Figures{{6, 100}, {7, 200}}));
}

// --- asking, and standing still ------------------------------------------------------------------

TEST(LateWatchTest, AsksForWhatLacksADeltaBeforeTheBar) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 7, 10);
  Give(watch, DueMessage::kPart, 0, 7, 10);
  EXPECT_EQ(watch.AskFrom(), At(900));
  EXPECT_TRUE(watch.Overdue(At(899)).empty());
  const std::set<LateWatch::Message> commit = {{DueMessage::kCommit, 7}};
  EXPECT_EQ(watch.Overdue(At(900)), commit) << "parts have one receiver";
  watch.Held({DueMessage::kCommit, 7}, At(1500));
  EXPECT_EQ(watch.AskFrom(), At(1900)) << "the AGGs";
  EXPECT_FALSE(watch.Overdue(At(1899)).contains({DueMessage::kAggregate, 0}));
  EXPECT_TRUE(watch.Overdue(At(1900)).contains({DueMessage::kAggregate, 0}));
}

TEST(LateWatchTest, WhoStoodStillBlamesNobody) {
  LateWatch watch = SealA(Eight(false));
  Give(watch, DueMessage::kCommit, 0, 7, 10);
  watch.OnTimer(At(900), At(1000));
  LateWatch stopped = watch;
  EXPECT_EQ(Late(watch, 3000), (Figures{{7, 2000}}));
  stopped.OnTimer(At(1000), At(2900));
  EXPECT_EQ(Late(stopped, 3000), Figures{});
}

TEST(LateWatchTest, NamesTheSlowestSenderOnlyWhereItWasWaitedFor) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 8, 10);
  Give(watch, DueMessage::kPart, 0, 6, 100);
  watch.Held({DueMessage::kPart, 6}, At(400));
  EXPECT_EQ(watch.Slowest(), 7u) << "it has not come at all";
  watch.Held({DueMessage::kPart, 7}, At(500));
  EXPECT_EQ(watch.Slowest(), std::nullopt) << "half a grace";
  LateWatch slower = SealA();
  Give(slower, DueMessage::kCommit, 0, 8, 10);
  Give(slower, DueMessage::kPart, 0, 6, 100);
  slower.Held({DueMessage::kPart, 7}, At(600));
  slower.Held({DueMessage::kPart, 6}, At(700));
  EXPECT_EQ(slower.Slowest(), 6u);
}

// A REVEAL takes no work; openings lie within a Delta.
TEST(LateWatchTest, ARevealIsDueThreeHalvesOfADeltaAfterTheOpening) {
  LateWatch watch(Eight(false));
  for (std::size_t i = 0; i < 8; ++i) watch.Expect({DueMessage::kReveal, i}, i);
  EXPECT_EQ(watch.AskFrom(), At(50));
  Give(watch, DueMessage::kReveal, 0, 6, 10);
  watch.Held({DueMessage::kReveal, 6}, At(150));
  EXPECT_EQ(watch.Overdue(At(49)).size(), 0U);
  EXPECT_EQ(watch.Overdue(At(50)).size(), 1U);
  watch.Held({DueMessage::kReveal, 7}, At(153));
  EXPECT_EQ(Late(watch, 160), (Figures{{7, 3}}));
}

// What splits the ECHOs makes all wait until the slow path ends.
TEST(LateWatchTest, InASlowSealALateWordIsLateUntilTheDecision) {
  for (const bool held : {true, false}) {
    LateWatch watch(Eight(false));
    for (std::size_t i = 0; i < 8; ++i) watch.Expect({DueMessage::kReveal, i}, i);
    Give(watch, DueMessage::kReveal, 0, 7, 150);
    if (held) watch.Held({DueMessage::kReveal, 7}, At(290));
    watch.Stop(At(300));
    watch.Decided(At(1500), true);
    EXPECT_EQ(Late(watch, 300), (Figures{{7, 1350}}));
  }
}

// What excuses its owner does not grow with the seal [swarm seed 20140: an honest owner was
// charged].
TEST(LateWatchTest, AnAggregateIsNoLaterForASlowSeal) {
  LateWatch watch = SealA();
  Give(watch, DueMessage::kCommit, 0, 8, 10);
  Give(watch, DueMessage::kPart, 0, 7, 20);
  Give(watch, DueMessage::kAggregate, 0, 8, 3000);
  watch.Stop(At(3000));
  watch.Decided(At(9000), true);
  const std::map<std::size_t, LateFigures> late = watch.Late();
  EXPECT_EQ(late.at(0), (LateFigures{.own = 0, .aggregate = 1000}));
  EXPECT_EQ(late.at(7), (LateFigures{.own = 8000, .aggregate = 0}));
}

}  // namespace
}  // namespace ostraka::protocol::late_watch_test
