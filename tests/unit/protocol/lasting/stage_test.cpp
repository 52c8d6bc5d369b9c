#include "node/protocol/lasting/stage.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ostraka::protocol::stage_test {
namespace {

Stage At(std::size_t index) { return static_cast<Stage>(index); }

TEST(StageTest, EachStageHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kStages; ++i) names.insert(NameOf(At(i)));
  EXPECT_EQ(names.size(), kStages);
}

TEST(StageTest, NothingFollowsAHalt) {
  for (std::size_t i = 0; i < kStages; ++i) EXPECT_FALSE(MayFollow(Stage::kHalted, At(i)));
}

TEST(StageTest, EachOtherStageMayHalt) {
  for (std::size_t i = 0; i + 1 < kStages; ++i) EXPECT_TRUE(MayFollow(At(i), Stage::kHalted));
}

TEST(StageTest, SealsFollowInOrder) {
  for (std::size_t i = 0; i < kStages; ++i) {
    EXPECT_EQ(MayFollow(At(i), Stage::kReveal), At(i) == Stage::kCollect);
    EXPECT_EQ(MayFollow(At(i), Stage::kProve), At(i) == Stage::kReveal);
    EXPECT_EQ(MayFollow(At(i), Stage::kSettle), At(i) == Stage::kProve);
    EXPECT_EQ(MayFollow(At(i), Stage::kUpdate), At(i) == Stage::kSettle);
  }
}

// A member that left a step signs nothing more in it: the way back is a new step.
TEST(StageTest, MemberThatIsAwayComesBackAtTheBeginningOfAStep) {
  for (std::size_t i = 0; i < kStages; ++i) {
    const bool back =
        At(i) == Stage::kCollect || At(i) == Stage::kFrozen || At(i) == Stage::kHalted;
    EXPECT_EQ(MayFollow(Stage::kFollow, At(i)), back) << NameOf(At(i));
  }
}

TEST(StageTest, FrozenMemberOnlyHalts) {
  for (std::size_t i = 0; i < kStages; ++i) {
    EXPECT_EQ(MayFollow(Stage::kFrozen, At(i)), At(i) == Stage::kHalted);
  }
}

// A member that left may follow the run afterwards, to come back.
TEST(StageTest, MemberThatHasFinishedOrLeftSignsInNoStep) {
  for (std::size_t i = 0; i < kStages; ++i) {
    const bool may = At(i) == Stage::kHalted || At(i) == Stage::kFollow;
    EXPECT_EQ(MayFollow(Stage::kLinger, At(i)), may);
  }
}

TEST(StageTest, MemberIsInAStepFromCollectToUpdateAndSealsFromCollectToProve) {
  for (std::size_t i = 0; i < kStages; ++i) {
    const Stage stage = At(i);
    const bool seals =
        stage == Stage::kCollect || stage == Stage::kReveal || stage == Stage::kProve;
    EXPECT_EQ(IsSealing(stage), seals) << NameOf(stage);
    EXPECT_EQ(IsInStep(stage), seals || stage == Stage::kSettle || stage == Stage::kUpdate);
  }
}

TEST(StageTest, StageChangesAsTheTableAllowsAndNotOtherwise) {
  StageNow now;
  EXPECT_TRUE(now.is(Stage::kUnstarted));
  EXPECT_DEATH(now.Enter(Stage::kCollect), "CHECK");
  now.Enter(Stage::kGenesis);
  EXPECT_FALSE(now.in_step());
  EXPECT_DEATH(now.Enter(Stage::kGenesis), "CHECK");
  now.Enter(Stage::kCollect);
  EXPECT_TRUE(now.in_step());
  EXPECT_EQ(now.stage(), Stage::kCollect);
  now.Enter(Stage::kHalted);
  EXPECT_DEATH(now.Enter(Stage::kCollect), "CHECK");
}

}  // namespace
}  // namespace ostraka::protocol::stage_test
