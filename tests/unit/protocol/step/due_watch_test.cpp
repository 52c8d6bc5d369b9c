#include "node/protocol/step/due_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/protocol/ground/deadlines.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::due_watch_test {
namespace {

using wire::MessageType;
using wire::Phase;

constexpr std::size_t kSelf = StepWorld::kSelf;

class DueWatchTest : public testing::Test {
 protected:
  explicit DueWatchTest(const StepWorld::Edit& edit = nullptr)
      : w_(edit),
        pairs_(w_, w_.server, w_.facts),
        column_(w_, w_.charges, w_.reports, w_.facts),
        results_(w_, w_.facts),
        sealing_(w_, w_.charges, w_.reports, w_.fork_watch, w_.past_seals, w_.pull, w_.facts),
        due_(w_, w_.reports, w_.pull, w_.facts, sealing_, column_, pairs_, results_) {}

  void OpenA() {
    sealing_.Open(Phase::kA, 0, SealDeadlineAfter(w_.chain.head(), *w_.manifest), std::nullopt);
    due_.BeginA();
    w_.out.actions().clear();
  }
  void OpenC() {
    w_.ReadA();
    w_.ReadB();
    sealing_.Open(Phase::kC, 0, SealDeadlineAfter(w_.chain.head(), *w_.manifest), std::nullopt);
    due_.BeginC();
    w_.out.actions().clear();
  }
  std::size_t Lacking(DueMessage kind) {
    const auto& lacking = w_.reports.lateness()->lacking();
    return static_cast<std::size_t>(std::count_if(
        lacking.begin(), lacking.end(), [kind](const auto& w) { return w.kind == kind; }));
  }
  bool Lacks(DueMessage kind, std::size_t index) {
    return w_.reports.lateness()->lacking().contains({kind, index});
  }

  StepWorld w_;
  DisputedPairs pairs_;
  OwnColumn column_;
  Results results_;
  Sealing sealing_;
  DueWatch due_;
};

class DisputeWatchTest : public DueWatchTest {
 protected:
  DisputeWatchTest()
      : DueWatchTest([](Manifest& manifest, Block& head) {
          InDispute(1, 2)(manifest, head);
          InDispute(kSelf, 3)(manifest, head);
        }) {}
};
class ValidatorWatchTest : public DueWatchTest {
 protected:
  ValidatorWatchTest() : DueWatchTest(Validates(kSelf, 2, 3)) {}
};

TEST_F(DueWatchTest, OwnerExpectsCommitsAggsAndPartsInSealA) {
  OpenA();
  EXPECT_EQ(Lacking(DueMessage::kCommit), w_.count());
  EXPECT_EQ(Lacking(DueMessage::kAggregate), w_.count());
  EXPECT_EQ(Lacking(DueMessage::kPart), w_.count());
  EXPECT_EQ(w_.reports.lateness()->lacking().size(), 3 * w_.count());
}

TEST_F(ValidatorWatchTest, MemberWithoutAColumnExpectsNoPartsAndNoAggOfItsOwn) {
  OpenA();
  EXPECT_EQ(Lacking(DueMessage::kCommit), w_.count() - 1);
  EXPECT_EQ(Lacking(DueMessage::kIdleCommit), 1u) << "its own";
  EXPECT_EQ(Lacking(DueMessage::kPart), 0u);
  EXPECT_EQ(Lacking(DueMessage::kAggregate), w_.count() - 1);
  EXPECT_FALSE(Lacks(DueMessage::kAggregate, kSelf));
}

TEST_F(DueWatchTest, WhatIsHeldIsNotLackingAnyMore) {
  OpenA();
  w_.Hear(w_.Commit(1));
  w_.Hear(w_.Aggregate(2));
  w_.HearPart(1, *w_.facts.my_column);
  column_.Try();
  due_.Update();
  EXPECT_FALSE(Lacks(DueMessage::kCommit, 1));
  EXPECT_FALSE(Lacks(DueMessage::kAggregate, 2));
  EXPECT_FALSE(Lacks(DueMessage::kPart, 1));
  EXPECT_EQ(w_.reports.lateness()->lacking().size(), 3 * w_.count() - 3);
}

TEST_F(DisputeWatchTest, DisputedPartIsExpectedOnlyOfPairsOfOthers) {
  OpenA();
  EXPECT_EQ(Lacking(DueMessage::kDisputedPart), 1u);
  EXPECT_TRUE(Lacks(DueMessage::kDisputedPart, 0));
}

TEST_F(DisputeWatchTest, CorruptDisputedPartCountsAsMissing) {
  OpenA();
  const std::uint32_t column = w_.ColumnOf(2);
  w_.Hear(w_.Commit(1));
  wire::Part spoilt = w_.PartBody(1, column);
  spoilt.header.shape = {1};
  w_.Hear(w_.Say(1, Phase::kA, MessageType::kPart, wire::Encode(spoilt), 0, column),
          w_.PartsOf(1)[column]);
  pairs_.JudgeParts();
  due_.Update();
  EXPECT_TRUE(Lacks(DueMessage::kDisputedPart, 0));
}

TEST_F(DisputeWatchTest, GoodDisputedPartIsHeld) {
  OpenA();
  w_.Hear(w_.Commit(1));
  w_.HearPart(1, w_.ColumnOf(2));
  pairs_.JudgeParts();
  due_.Update();
  EXPECT_FALSE(Lacks(DueMessage::kDisputedPart, 0));
}

TEST_F(DueWatchTest, OnlyMembersThatMustRevealAreExpectedInSealB) {
  w_.ReadA();
  w_.facts.reading.false_revealers.insert(w_.Id(4));
  sealing_.Open(Phase::kB, 0, StepWorld::kDelta * 3, std::nullopt);
  due_.BeginB();
  EXPECT_EQ(w_.reports.lateness()->lacking().size(), w_.count() - 1);
  EXPECT_FALSE(Lacks(DueMessage::kReveal, 4));
  w_.Hear(w_.Reveal(2));
  due_.Update();
  EXPECT_FALSE(Lacks(DueMessage::kReveal, 2));
}

TEST_F(DueWatchTest, SealCExpectsProofsAndTheResultsThatAreWanted) {
  w_.ReadA();
  w_.facts.reading.sealed.aggregates[3].reset();
  w_.ReadB();
  w_.facts.reading.absent.insert(w_.Id(1));
  sealing_.Open(Phase::kC, 0, base::Seconds(42), std::nullopt);
  due_.BeginC();
  EXPECT_EQ(Lacking(DueMessage::kProof), w_.count() - 1);
  EXPECT_EQ(Lacking(DueMessage::kResult), w_.count() - 1);
  EXPECT_FALSE(Lacks(DueMessage::kProof, 1));
  EXPECT_FALSE(Lacks(DueMessage::kResult, 3));
  results_.Take(2, w_.ResultOf(2));
  due_.Update();
  EXPECT_FALSE(Lacks(DueMessage::kResult, 2));
}

TEST_F(DueWatchTest, OverdueMessageArmsThePullTimerAndIsAskedForByNobodyHere) {
  OpenA();
  for (std::size_t i = 0; i < w_.count(); ++i) {
    if (i != 1) w_.Hear(w_.Commit(i));
    if (i != 1) w_.HearPart(i, *w_.facts.my_column);
  }
  column_.Try();
  due_.Update();
  const auto timers = w_.Taken<SetTimer>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].id, kPullTimer);
  // The bar: a patience and three Delta after the opening. Asked for a Delta before.
  EXPECT_EQ(timers[0].at, w_.now() + w_.manifest->patience + StepWorld::kDelta * 2);
  EXPECT_TRUE(w_.out.actions().empty());
  w_.Go(base::Seconds(10));
  due_.Update();
  EXPECT_TRUE(w_.Taken<SetTimer>().empty());  // armed already
}

TEST_F(DueWatchTest, AfterTheOwnEchoNobodyIsLate) {
  OpenA();
  for (std::size_t i = 0; i < w_.count(); ++i) {
    w_.HearPart(i, *w_.facts.my_column);
    if (i != 1) w_.Hear(w_.Commit(i));
  }
  column_.Try();
  due_.Update();
  w_.Go(base::Seconds(3));
  sealing_.OnEchoTimer();
  due_.Update();
  w_.Go(base::Seconds(30));
  w_.Hear(w_.Commit(1));
  due_.Update();
  EXPECT_TRUE(w_.reports.lateness()->Late().empty());
}

TEST_F(DueWatchTest, WaitForResultsThatEndsMakesProofsDue) {
  OpenC();
  for (std::uint32_t j = 1; j < w_.count(); ++j) results_.Take(j, w_.ResultOf(j));
  for (std::size_t i = 1; i < w_.count(); ++i) w_.Hear(w_.Proof(i));
  due_.Update();
  w_.out.actions().clear();
  EXPECT_TRUE(w_.reports.TakeOverdue(w_.now() + base::Seconds(60), w_.chain.delta()).empty());
  results_.Expire();
  due_.Update();
  const auto overdue = w_.reports.TakeOverdue(w_.now() + base::Seconds(60), w_.chain.delta());
  EXPECT_TRUE(overdue.contains({DueMessage::kProof, 0}));
}

TEST_F(DueWatchTest, NothingIsMeasuredWhileNoSealIsWatched) {
  sealing_.Open(Phase::kA, 0, base::Seconds(42), std::nullopt);
  w_.out.actions().clear();
  due_.Update();
  EXPECT_TRUE(w_.out.actions().empty());
}

}  // namespace
}  // namespace ostraka::protocol::due_watch_test
