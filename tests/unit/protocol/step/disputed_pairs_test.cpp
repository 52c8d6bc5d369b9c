#include "node/protocol/step/disputed_pairs.h"

#include <gtest/gtest.h>

#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::disputed_pairs_test {
namespace {

using wire::MessageType;
using wire::Phase;

constexpr std::size_t kWorker = 1;
constexpr std::size_t kAggregator = 2;

// Member 0, while members 1 (as a worker) and 2 (as an owner) are in dispute.
class DisputedPairsTest : public testing::Test {
 protected:
  explicit DisputedPairsTest(const StepWorld::Edit& edit = InDispute(kWorker, kAggregator))
      : w_(edit), pairs_(w_, w_.server, w_.facts) {
    pairs_.ForwardUntil(w_.now() + base::Seconds(20));
  }
  void TearDown() override { pairs_.CheckInvariants(); }
  std::uint32_t column() const { return w_.ColumnOf(kAggregator); }
  void HearBoth() {
    w_.Hear(w_.Commit(kWorker));
    w_.HearPart(kWorker, column());
  }
  // Frames that go out as parts are forwarded.
  std::vector<Send> Forwarded() {
    pairs_.JudgeParts();
    pairs_.ForwardParts();
    return w_.Taken<Send>();
  }
  // As seal A decides it, with the owner's result held here.
  void HoldResult() {
    w_.ReadA();
    results_.assign(w_.count(), nullptr);
    results_[column()] = w_.ResultOf(column());
    w_.chain.KeepResult(StepWorld::kStep, column(), results_[column()]);
  }

  StepWorld w_;
  DisputedPairs pairs_;
  std::vector<SharedBlob> results_;
};

class OwnDisputeTest : public DisputedPairsTest {
 protected:
  OwnDisputeTest()
      : DisputedPairsTest([](Manifest& manifest, Block& head) {
          InDispute(kWorker, StepWorld::kSelf)(manifest, head);
          InDispute(StepWorld::kSelf, kAggregator)(manifest, head);
        }) {}
};

TEST_F(DisputedPairsTest, PartGoesOnceToItsOwnerWithTheCommitBeforeIt) {
  EXPECT_TRUE(Forwarded().empty());
  HearBoth();
  const std::vector<Send> sends = Forwarded();
  ASSERT_EQ(sends.size(), 2u);
  for (const Send& send : sends) EXPECT_EQ(send.to, w_.Id(kAggregator));
  EXPECT_EQ(*sends[0].frame, *w_.Commit(kWorker)->frame);
  EXPECT_EQ(sends[0].blob, nullptr);
  EXPECT_EQ(*sends[1].frame, *w_.Part(kWorker, column())->frame);
  EXPECT_EQ(sends[1].blob, w_.PartsOf(kWorker)[column()]);
  EXPECT_EQ(pairs_.forwarded_parts(), (std::set<std::size_t>{0}));
  EXPECT_TRUE(Forwarded().empty());
}

TEST_F(DisputedPairsTest, PartWaitsForItsCommit) {
  w_.HearPart(kWorker, column());
  EXPECT_TRUE(Forwarded().empty());
  EXPECT_FALSE(pairs_.HoldsGoodPart(0));
  w_.Hear(w_.Commit(kWorker));
  EXPECT_EQ(Forwarded().size(), 2u);
  EXPECT_TRUE(pairs_.HoldsGoodPart(0));
}

TEST_F(DisputedPairsTest, PartIsForwardedAtTheLimitAndNotAfterIt) {
  HearBoth();
  w_.Go(base::Seconds(20) + base::Nanoseconds(1));
  EXPECT_TRUE(Forwarded().empty());
  EXPECT_TRUE(pairs_.HoldsGoodPart(0));  // late, and good
  EXPECT_TRUE(pairs_.forwarded_parts().empty());
  pairs_.ForwardUntil(w_.now());
  EXPECT_EQ(Forwarded().size(), 2u);
}

TEST_F(DisputedPairsTest, PartThatItsOwnerCannotAcceptDoesNotCount) {
  w_.Hear(w_.Commit(kWorker));
  wire::Part spoilt = w_.PartBody(kWorker, column());
  spoilt.header.shape = {1};
  w_.Hear(w_.Say(kWorker, Phase::kA, MessageType::kPart, wire::Encode(spoilt), 0, column()),
          w_.PartsOf(kWorker)[column()]);
  EXPECT_TRUE(Forwarded().empty());
  EXPECT_FALSE(pairs_.HoldsGoodPart(0));
  EXPECT_TRUE(pairs_.forwarded_parts().empty());
  w_.HearPart(kWorker, column());  // the right one, too late: two PARTs of one slot
  EXPECT_TRUE(Forwarded().empty());
  EXPECT_FALSE(pairs_.HoldsGoodPart(0));
}

// It was good when it was judged. A later version of it would otherwise undo what this member has
// stated.
TEST_F(DisputedPairsTest, SecondVersionOfAJudgedPartChangesNothing) {
  HearBoth();
  w_.Go(base::Seconds(20) + base::Nanoseconds(1));
  EXPECT_TRUE(Forwarded().empty());
  wire::Part other = w_.PartBody(kWorker, column());
  other.root = scene::DigestOf(3);
  w_.Hear(w_.Say(kWorker, Phase::kA, MessageType::kPart, wire::Encode(other), 0, column()),
          w_.PartsOf(kWorker)[column()]);
  EXPECT_TRUE(Forwarded().empty());
  EXPECT_TRUE(pairs_.HoldsGoodPart(0));
}

// The owner refuses such a part. The two COMMITs ban the worker, so that nobody pays for it.
TEST_F(DisputedPairsTest, PartUnderTheFirstOfTwoCommitsIsForwarded) {
  HearBoth();
  w_.Hear(w_.SecondCommit(kWorker));
  const std::vector<Send> sends = Forwarded();
  EXPECT_TRUE(pairs_.HoldsGoodPart(0));
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(*sends[0].frame, *w_.Commit(kWorker)->frame);
}

TEST_F(DisputedPairsTest, PartOfAnotherColumnIsNotDisputed) {
  w_.Hear(w_.Commit(kWorker));
  w_.HearPart(kWorker, (column() + 1) % 6);
  EXPECT_TRUE(Forwarded().empty());
  EXPECT_TRUE(pairs_.IsPublic(w_.Id(kWorker), column()));
  EXPECT_FALSE(pairs_.IsPublic(w_.Id(kWorker), (column() + 1) % 6));
  EXPECT_FALSE(pairs_.IsPublic(w_.Id(kAggregator), column()));
}

TEST_F(DisputedPairsTest, ForwardedPartIsSentAgainToItsOwnerOnly) {
  HearBoth();
  EXPECT_FALSE(pairs_.MustResend(w_.Id(kAggregator), w_.Id(kWorker), column()));
  Forwarded();
  EXPECT_TRUE(pairs_.MustResend(w_.Id(kAggregator), w_.Id(kWorker), column()));
  EXPECT_FALSE(pairs_.MustResend(w_.Id(3), w_.Id(kWorker), column()));
  EXPECT_FALSE(pairs_.MustResend(w_.Id(kAggregator), w_.Id(3), column()));
}

TEST_F(DisputedPairsTest, ResultGoesOnceToTheWorker) {
  HoldResult();
  pairs_.ForwardResults(results_);
  const auto chunks = w_.Sent(MessageType::kChunk);
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(chunks[0].to, w_.Id(kWorker));
  EXPECT_EQ(chunks[0].blob, results_[column()]);
  EXPECT_EQ(pairs_.forwarded_results(), (std::set<std::size_t>{0}));
  pairs_.ForwardResults(results_);
  EXPECT_TRUE(w_.Taken<Send>().empty());
}

// [What a ration had refused was stated as passed on.]
TEST_F(DisputedPairsTest, ResultThatARationHasNoRoomForIsForwardedLater) {
  HoldResult();
  while (w_.ration.Take(w_.now(), w_.Id(kWorker))) {
  }
  pairs_.ForwardResults(results_);
  EXPECT_TRUE(w_.Sent(MessageType::kChunk).empty());
  EXPECT_TRUE(pairs_.forwarded_results().empty());
  w_.Go(base::Seconds(1));
  pairs_.ForwardResults(results_);
  EXPECT_EQ(w_.Sent(MessageType::kChunk).size(), 1u);
  EXPECT_EQ(pairs_.forwarded_results(), (std::set<std::size_t>{0}));
}

TEST_F(DisputedPairsTest, ResultIsForwardedOnlyInTimeAndOnlyIfTheAggGivesIt) {
  HoldResult();
  w_.Go(base::Seconds(20) + base::Nanoseconds(1));
  pairs_.ForwardResults(results_);
  EXPECT_TRUE(pairs_.forwarded_results().empty());
  pairs_.ForwardUntil(w_.now());
  w_.facts.reading.sealed.aggregates[column()].reset();
  pairs_.ForwardResults(results_);
  EXPECT_TRUE(pairs_.forwarded_results().empty());
  EXPECT_TRUE(w_.Taken<Send>().empty());
}

TEST_F(OwnDisputeTest, PartyJudgesAndForwardsNothing) {
  ASSERT_EQ(pairs_.all().size(), 2u);
  w_.Hear(w_.Commit(kWorker));
  w_.HearPart(kWorker, w_.ColumnOf(StepWorld::kSelf));
  w_.Hear(w_.Commit(StepWorld::kSelf));
  w_.HearPart(StepWorld::kSelf, column());
  EXPECT_TRUE(Forwarded().empty());
  for (const LivePair& pair : pairs_.all()) EXPECT_FALSE(pairs_.HoldsGoodPart(pair.index));
  HoldResult();
  results_[w_.ColumnOf(StepWorld::kSelf)] = w_.ResultOf(w_.ColumnOf(StepWorld::kSelf));
  pairs_.ForwardResults(results_);
  EXPECT_TRUE(w_.Taken<Send>().empty());
  EXPECT_TRUE(pairs_.forwarded_parts().empty());
  EXPECT_TRUE(pairs_.forwarded_results().empty());
}

}  // namespace
}  // namespace ostraka::protocol::disputed_pairs_test
