#include "node/config/run_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "node/os/steady_clock.h"
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

// Its first gradient waits for its rows: until somebody has them, or for ever.
class Fetching final : public train::Trainer {
 public:
  explicit Fetching(base::Duration rows_come) : rows_come_(rows_come) {}
  const base::TensorLayout& layout() const override { return layout_; }
  std::vector<float> InitialParameters(const base::Digest& /*seed*/) const override { return {0}; }
  base::StatusOr<std::vector<float>> Gradient(std::span<const float> /*parameters*/,
                                              const base::Digest& /*seed*/) override {
    const base::Time come = os::SteadyNow() + std::exchange(rows_come_, {});
    while (os::SteadyNow() < come) {
      waits_ = true;
      RETURN_IF_ERROR(CheckWanted());
    }
    waits_ = false;
    RETURN_IF_ERROR(CheckWanted());
    return std::vector<float>{0};
  }
  bool WaitsForRows() const override { return waits_; }
  base::StatusOr<train::Evaluation> Evaluate(std::span<const float> /*parameters*/) override {
    return base::NotFound("nothing to evaluate");
  }

 private:
  const base::TensorLayout layout_ = {{"x", {1}}};
  base::Duration rows_come_;
  bool waits_ = false;
};

TEST(RunWork, TheTimeOfFetchingIsNoWork) {
  protocol::Manifest manifest;
  manifest.training.data = "stream@" + std::string(64, '0');
  Fetching trainer(base::Milliseconds(1100));
  EXPECT_LT(MeasureLeastWork(manifest, trainer)->ns, base::Seconds(1).ns);
  Fetching at_once({});
  EXPECT_TRUE(MeasureLeastWork(manifest, at_once, {}).ok()) << "computing has no end";
}

TEST(RunWork, RowsThatDoNotComeAreNotWaitedForForEver) {
  protocol::Manifest manifest;
  manifest.training.data = "stream@" + std::string(64, '0');
  Fetching trainer(base::Seconds(3600));
  const base::Status unmeasured = MeasureLeastWork(manifest, trainer, {}).status();
  EXPECT_EQ(unmeasured.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(unmeasured), ::testing::HasSubstr("name other places with --data"));
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
