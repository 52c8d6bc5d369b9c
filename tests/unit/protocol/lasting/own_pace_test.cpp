#include "node/protocol/lasting/own_pace.h"

#include <gtest/gtest.h>

namespace ostraka::protocol::own_pace_test {
namespace {

Manifest Varying() {
  Manifest manifest;
  manifest.training.batches = 4;
  manifest.training.most_batches = 8;
  manifest.work = manifest.patience = base::Seconds(10);
  return manifest;
}

TEST(OwnPaceTest, ChoosesWhatFourFifthsOfTheTimeHold) {
  OwnPace pace;
  EXPECT_EQ(pace.NextBatches(Varying(), 100), 4) << "not known yet";
  pace.Note(base::Milliseconds(5'200), 4);  // 1.3 s each, so 6 in 8 s
  EXPECT_EQ(pace.NextBatches(Varying(), 100), 6);
  EXPECT_EQ(pace.NextBatches(Varying(), 90), 5);
  EXPECT_EQ(pace.NextBatches(Varying(), 1), 4) << "never below the least";
  pace.Note(base::Duration{}, 4);
  pace.Note(base::Duration{}, 4);
  EXPECT_EQ(pace.NextBatches(Varying(), 100), 8) << "nor above the most";
}

TEST(OwnPaceTest, OneSlowStepMovesNothingAndOldOnesAreForgotten) {
  OwnPace pace;
  for (int i = 0; i < 7; ++i) pace.Note(base::Seconds(4), 4);
  pace.Note(base::Seconds(400), 4);
  EXPECT_EQ(pace.NextBatches(Varying(), 100), 8);
  for (std::size_t i = 0; i < OwnPace::kPaces; ++i) pace.Note(base::Seconds(8), 4);
  EXPECT_EQ(pace.NextBatches(Varying(), 100), 4);
}

TEST(OwnPaceTest, SaysNothingWhereCountsDoNotVary) {
  Manifest manifest = Varying();
  manifest.training.most_batches = 4;
  OwnPace pace;
  pace.Note(base::Seconds(1), 4);
  EXPECT_EQ(pace.NextBatches(manifest, 100), 0);
}

// Attack: a member that filled a third of the wait for parts was late by its own choice, where the
// patience was less.
TEST(OwnPaceTest, WithoutANamedWorkItIsWhatNoOtherWaitCallsLate) {
  Manifest manifest = Varying();
  manifest.work = {};
  manifest.patience = base::Seconds(60);
  manifest.part_timeout = base::Seconds(30);
  OwnPace pace;
  pace.Note(base::Milliseconds(5'200), 4);
  EXPECT_EQ(pace.NextBatches(manifest, 100), 6) << "a third of the wait";
  manifest.patience = base::Seconds(7);
  EXPECT_EQ(pace.NextBatches(manifest, 100), 4);
  manifest.patience = base::Seconds(10);
  manifest.adaptive = true;
  manifest.part_floor = base::Seconds(9);
  EXPECT_EQ(pace.NextBatches(manifest, 100), 5) << "the floor";
}

}  // namespace
}  // namespace ostraka::protocol::own_pace_test
