#include "node/protocol/step/results.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "node/protocol/step/part_check.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::results_test {
namespace {

using wire::MessageType;
using wire::Phase;

class ResultsTest : public testing::Test {
 protected:
  ResultsTest() : results_(w_, w_.facts) {}
  void TearDown() override { results_.CheckInvariants(); }

  // The column's sealed AGG names this blob.
  void Announce(std::uint32_t column, const SharedBlob& blob) {
    w_.facts.reading.sealed.aggregates[column]->result_root = blob->root;
  }
  SharedBlob Changed(std::uint32_t column, float value, int bytes = 0) {
    base::Bytes data = w_.ResultOf(column)->data;
    std::memcpy(data.data(), &value, sizeof value);
    data.resize(data.size() + static_cast<std::size_t>(bytes));
    return crypto::MakeBlob(data);
  }
  void HearResult(std::uint32_t column) { w_.Hear(w_.Result(column), w_.ResultOf(column)); }

  StepWorld w_;
  Results results_;
};

TEST_F(ResultsTest, NoResultIsTakenBeforeSealASaysWhichOnesThereAre) {
  EXPECT_FALSE(results_.IsWanted(0));
  EXPECT_FALSE(results_.Take(0, w_.ResultOf(0)));
  EXPECT_TRUE(w_.Taken<Store>().empty());
}

TEST_F(ResultsTest, CallsBeforeTheirSealAreOurOwnBugs) {
  EXPECT_DEATH(results_.TakeHeld(), "CHECK failed");
  w_.ReadA();
  results_.TakeHeld();
  EXPECT_DEATH(results_.ColumnOf(0), "CHECK failed");
  EXPECT_DEATH(results_.Take(0, nullptr), "CHECK failed");
}

TEST_F(ResultsTest, ResultWithTheSealedRootIsTakenFromAnybodyAndMadeDurable) {
  w_.ReadA();
  EXPECT_TRUE(results_.IsMissing(2));
  EXPECT_TRUE(results_.Take(2, w_.ResultOf(2)));
  EXPECT_FALSE(results_.IsMissing(2));
  EXPECT_EQ(results_.all()[2], w_.ResultOf(2));
  EXPECT_EQ(w_.chain.ResultAt(StepWorld::kStep, 2), w_.ResultOf(2));
  ASSERT_EQ(w_.StoredRecords(RecordKind::kResult).size(), 1u);
  EXPECT_TRUE(results_.Take(2, w_.ResultOf(2)));  // once
  EXPECT_TRUE(w_.Taken<Store>().empty());
}

TEST_F(ResultsTest, AnotherRootOrColumnIsNotTaken) {
  w_.ReadA();
  EXPECT_FALSE(results_.Take(2, w_.ResultOf(3)));
  EXPECT_FALSE(results_.Take(w_.count(), w_.ResultOf(2)));
  EXPECT_FALSE(results_.Take(SIZE_MAX, w_.ResultOf(2)));
  EXPECT_TRUE(results_.IsMissing(2));
  EXPECT_TRUE(w_.Taken<Store>().empty());
}

TEST_F(ResultsTest, NumbersThatAreNotFiniteOrTooFewAreNotTakenThoughTheyAreSealed) {
  w_.ReadA();
  for (const SharedBlob& bad : {Changed(1, std::numeric_limits<float>::quiet_NaN()),
                                Changed(1, std::numeric_limits<float>::infinity()),
                                Changed(1, 0.5F, 4), Changed(1, 0.5F, -4)}) {
    Announce(1, bad);
    EXPECT_FALSE(results_.Take(1, bad));
    EXPECT_TRUE(results_.IsMissing(1));
  }
  const SharedBlob good = Changed(1, 0.5F);
  Announce(1, good);
  EXPECT_TRUE(results_.Take(1, good));
}

TEST_F(ResultsTest, JudgeTakesWhatOwnersSentAndClosesWithTheLast) {
  w_.ReadA();
  const auto columns = static_cast<std::uint32_t>(w_.count());
  for (std::uint32_t j = 0; j + 1 < columns; ++j) HearResult(j);
  results_.TakeHeld();
  EXPECT_FALSE(results_.closed());
  EXPECT_TRUE(results_.IsMissing(columns - 1));
  HearResult(columns - 1);
  results_.TakeHeld();
  EXPECT_TRUE(results_.closed());
  EXPECT_FALSE(results_.expired());
}

TEST_F(ResultsTest, ResultOfAMemberThatIsNotTheOwnerIsNotLookedAtInTheInbox) {
  w_.ReadA();
  const wire::Result body{HeaderOf(w_.facts.roles().parts[1], Codec::kRaw), w_.ResultOf(1)->root};
  const std::size_t other = w_.OwnerOf(2);
  w_.Hear(w_.Say(other, Phase::kA, MessageType::kResult, wire::Encode(body), 0, 1), w_.ResultOf(1));
  results_.TakeHeld();
  EXPECT_TRUE(results_.IsMissing(1));
}

TEST_F(ResultsTest, ResultThatTheStoreKeptIsTakenWithoutStoringItAgain) {
  w_.ReadA();
  w_.chain.KeepResult(StepWorld::kStep, 3, w_.ResultOf(3));
  results_.TakeHeld();
  EXPECT_FALSE(results_.IsMissing(3));
  EXPECT_TRUE(w_.Taken<Store>().empty());
}

// Of the step in progress no block names the root yet.
TEST_F(ResultsTest, ResultTakesThePlaceOfASpoiltOneOfTheStore) {
  w_.ReadA();
  w_.chain.KeepResult(StepWorld::kStep, 3, w_.ResultOf(2));
  results_.TakeHeld();
  EXPECT_TRUE(results_.IsMissing(3));
  EXPECT_TRUE(results_.Take(3, w_.ResultOf(3)));
  EXPECT_EQ(w_.StoredRecords(RecordKind::kResult).size(), 1U);
  EXPECT_EQ(w_.chain.ResultAt(StepWorld::kStep, 3), w_.ResultOf(3));
}

TEST_F(ResultsTest, WrongResultOfTheOwnerDoesNotHideTheKeptOne) {
  w_.ReadA();
  w_.chain.KeepResult(StepWorld::kStep, 3, w_.ResultOf(3));
  w_.Hear(w_.Result(3), w_.ResultOf(2));
  results_.TakeHeld();
  EXPECT_FALSE(results_.IsMissing(3));
}

TEST_F(ResultsTest, ColumnWithoutAResultIsNotWaitedFor) {
  w_.ReadA();
  w_.facts.reading.sealed.aggregates[0].reset();
  w_.facts.reading.sealed.aggregates[1]->result_root = Digest{};
  for (std::uint32_t j = 2; j < w_.count(); ++j) HearResult(j);
  results_.TakeHeld();
  EXPECT_TRUE(results_.closed());
  EXPECT_EQ(results_.all()[0], nullptr);
  EXPECT_EQ(results_.all()[1], nullptr);
}

TEST_F(ResultsTest, WaitEndsAndALateResultIsTakenStill) {
  w_.ReadA();
  results_.Expire();
  EXPECT_TRUE(results_.closed());
  EXPECT_TRUE(results_.expired());
  EXPECT_TRUE(results_.IsMissing(2));
  EXPECT_TRUE(results_.Take(2, w_.ResultOf(2)));
}

TEST_F(ResultsTest, ColumnIsCheckedInDirectionsOfTheStepsOwnCoin) {
  w_.ReadA();
  w_.ReadB();
  results_.Take(2, w_.ResultOf(2));
  const Column column = results_.ColumnOf(2);
  EXPECT_EQ(column.part_index, 2u);
  EXPECT_EQ(column.range, w_.facts.roles().parts[2]);
  EXPECT_EQ(column.result, w_.ResultOf(2));
  EXPECT_EQ(column.direction_seed, DirectionSeed(w_.facts.reading.randomness, StepWorld::kStep, 2));
  EXPECT_EQ(results_.ColumnOf(3).result, nullptr);
}

}  // namespace
}  // namespace ostraka::protocol::results_test
