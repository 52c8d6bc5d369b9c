#include "node/protocol/lasting/replay.h"

#include <gtest/gtest.h>

#include "node/protocol/ground/schedule.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::replay_test {
namespace {

constexpr std::uint64_t kDimension = 10;

ModelState StateOf(float value) {
  const auto numbers = std::make_shared<const std::vector<float>>(kDimension, value);
  return SgdState(numbers, numbers);
}

// Three columns, the second of which is void.
Replay::Item ItemOf(std::uint64_t step) {
  Block block;
  block.step = step;
  block.columns = {wire::ColumnFate::kApplied, wire::ColumnFate::kSumCheck,
                   wire::ColumnFate::kApplied};
  const auto tag = static_cast<std::uint8_t>(step);
  return {std::make_shared<const Block>(std::move(block)),
          {crypto::MakeBlob({tag, 0}), nullptr, crypto::MakeBlob({tag, 2})}};
}

class ReplayTest : public testing::Test {
 protected:
  ReplayTest() {
    manifest_.training.learning_rate = 0.25;
    turn_.Begin(Time{}, out_);
  }
  const UpdateSpec& SpecOf(std::size_t action) {
    return std::get<UpdateSpec>(*std::get<StartJob>(out_.actions().at(action)).spec);
  }
  JobId IdOf(std::size_t action) { return std::get<StartJob>(out_.actions().at(action)).id; }

  Manifest manifest_ = scene::ManifestOf(4);
  base::TensorLayout layout_ = {{"w", {3}}};
  Outbox out_;
  Turn turn_;
  JobDesk desk_{turn_};
  Replay replay_;
};

TEST_F(ReplayTest, UpdatesAreAppliedInTheOrderOfTheirBlocks) {
  replay_.Add(ItemOf(3));
  replay_.Add(ItemOf(4));
  replay_.Start(desk_, manifest_, layout_, StateOf(1), 9);
  EXPECT_TRUE(replay_.busy());
  replay_.CheckInvariants();
  EXPECT_EQ(replay_.Take(IdOf(0)).block->step, 3u);
  EXPECT_FALSE(replay_.busy());
  replay_.Start(desk_, manifest_, layout_, StateOf(2), 9);
  EXPECT_EQ(SpecOf(1).state.parameters->front(), 2.0F) << "the state that the first one gave";
  EXPECT_EQ(replay_.Take(IdOf(1)).block->step, 4u);
  EXPECT_TRUE(replay_.empty());
}

TEST_F(ReplayTest, UpdateTakesTheAppliedColumnsAndLeavesOutTheVoidOne) {
  replay_.Add(ItemOf(3));
  replay_.Start(desk_, manifest_, layout_, StateOf(1), 9);
  const UpdateSpec& spec = SpecOf(0);
  ASSERT_EQ(spec.columns.size(), 2u);
  const auto ranges = CutParts(kDimension, 3);
  EXPECT_EQ(spec.columns[0].range, ranges[0]);
  EXPECT_EQ(spec.columns[1].range, ranges[2]);
  EXPECT_EQ(spec.columns[1].result->data, (base::Bytes{3, 2}));
  EXPECT_EQ(spec.step, OptimizerStepOf(manifest_.training, 3));
}

TEST_F(ReplayTest, BlockWithoutColumnsChangesNoParameter) {
  replay_.Add({std::make_shared<const Block>(), {}});
  replay_.Start(desk_, manifest_, layout_, StateOf(1), 0);
  EXPECT_TRUE(SpecOf(0).columns.empty());
}

TEST_F(ReplayTest, JobIsAboutItsBlockAndAskedForInTheStepInProgress) {
  replay_.Add(ItemOf(3));
  replay_.Start(desk_, manifest_, layout_, StateOf(1), 9);
  const auto job = desk_.Take(IdOf(0));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->about, 3u);
  EXPECT_EQ(job->asked_in, 9u);
}

TEST_F(ReplayTest, JobThatRunsWhenAllIsClearedIsNotOurs) {
  replay_.Add(ItemOf(3));
  replay_.Start(desk_, manifest_, layout_, StateOf(1), 9);
  EXPECT_TRUE(replay_.Owns(IdOf(0)));
  EXPECT_FALSE(replay_.Owns(IdOf(0) + 1));
  replay_.Clear();
  EXPECT_FALSE(replay_.Owns(IdOf(0)));
  EXPECT_TRUE(replay_.empty());
  replay_.Add(ItemOf(7));
  replay_.Start(desk_, manifest_, layout_, StateOf(1), 9);
  EXPECT_FALSE(replay_.Owns(IdOf(0)));
  EXPECT_TRUE(replay_.Owns(IdOf(1)));
  replay_.CheckInvariants();
}

TEST_F(ReplayTest, BlockThatDoesNotFollowTheLastOneIsABugOfThisNode) {
  replay_.Add(ItemOf(3));
  EXPECT_DEATH(replay_.Add(ItemOf(5)), "CHECK");
}

}  // namespace
}  // namespace ostraka::protocol::replay_test
