#include "node/config/run_work.h"

#include <gtest/gtest.h>

#include "node/train/trainer_loader.h"

namespace ostraka::config::run_work_test {
namespace {

TEST(RunWork, IsThatOfEachBatchOfEachLocalStep) {
  const auto trainer = train::MakeTrainer({.model = "mlp", .exact = true}).value();
  protocol::Manifest manifest;
  manifest.training.batches = 3;
  manifest.training.inner.steps = 5;
  const auto work = MeasureLeastWork(manifest, *trainer);
  ASSERT_TRUE(work.ok());
  EXPECT_GT(work->ns, 0);
  EXPECT_EQ(work->ns % 15, 0) << "a whole gradient's time, fifteen times";
}

TEST(RunWork, IsInTimeWhileOthersMayWait) {
  protocol::Manifest manifest;
  manifest.part_timeout = base::Seconds(20);
  EXPECT_TRUE(CheckInTime(manifest, base::Seconds(20), "processor").ok());
  EXPECT_EQ(base::MessageOf(CheckInTime(manifest, base::Milliseconds(20'100), "processor")),
            "the least work of a step takes this node 20.1 s on processor, and nobody waits longer "
            "than 20.0 s for it, so the run would drop the node: give it more --threads or a GPU "
            "(--device), end other programs, or join a run whose --work-ms is larger");
}

TEST(RunWork, PaceFollowsCountsAndLocalSteps) {
  protocol::Manifest manifest;
  EXPECT_EQ(
      PaceText(manifest),
      "a member that does the least work of a step, one gradient, within 1.0 s is never late; "
      "of a machine ten times as fast as the slowest the run uses about 10 %");
  manifest.work = base::Milliseconds(800);
  manifest.training.inner.steps = 16;
  manifest.training.batches = 2;
  manifest.training.most_batches = 4;
  EXPECT_EQ(PaceText(manifest),
            "a member that does the least work of a step, 32 gradients, within 800 ms is never "
            "late, and a faster one does up to 4 batches for 2; of a machine ten times as fast as "
            "the slowest the run uses about 20 %");
}

}  // namespace
}  // namespace ostraka::config::run_work_test
