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

}  // namespace
}  // namespace ostraka::config::run_work_test
