// A machine that begins to compute other bits while it trains, by kernels that change their order.
#include "node/train/exact/conformance_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/protocol/ground/jobs.h"
#include "node/train/digits.h"
#include "node/train/exact/exact_trainer.h"
#include "tests/unit/train/digest_of.h"

namespace ostraka::train::conformance_watch_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// From the first to the last, where every other machine has 16 lanes.
float SumInAnotherOrder(const float* x, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

TEST(ConformanceWatch, ChecksAsOftenAsATrainerCanAfford) {
  const auto every = [](std::uint64_t operations) {
    return ConformanceWatch(exact::BestKernels(), operations).every();
  };
  EXPECT_EQ(every(0), 256U);
  EXPECT_EQ(every(3'369'555), 256U) << "the simulator's gpt";
  EXPECT_EQ(every(2'773'708'931), 36U) << "a gpt of 4 layers and width 128";
  EXPECT_EQ(every(100'000'000'000), 1U);
  EXPECT_EQ(every(UINT64_MAX), 1U);
}

TEST(ConformanceWatch, FailsForEverOnceTheKernelsHaveChanged) {
  exact::Kernels kernels = exact::BestKernels();
  ConformanceWatch watch(kernels, 50'000'000'000);
  ASSERT_EQ(watch.every(), 2U);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(watch.AfterGradient().ok());
  kernels.sum = &SumInAnotherOrder;
  EXPECT_FALSE(watch.AfterGradient().ok());
  kernels = exact::BestKernels();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(watch.AfterGradient().ok());
}

TEST(ConformanceWatch, ATrainerOfKernelsOfAnotherOrderIsNotMade) {
  exact::Kernels planted = exact::BestKernels();
  planted.sum = &SumInAnotherOrder;
  const auto made = MakeExactTrainerBy(planted, {.model = "softmax", .exact = true}, LoadDigits());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
}

// The job of a node, whose failure ends the node (PeerTest.AFailedJobHaltsWithItsReason).
protocol::JobResult GradientJob(Trainer& trainer, bool again) {
  protocol::GradientSpec spec;
  spec.parameters =
      std::make_shared<const std::vector<float>>(trainer.InitialParameters(SeedOf(1)));
  spec.batch_seed = SeedOf(2);
  spec.again = again;
  return protocol::RunJob(
      protocol::JobSpec(spec),
      [&trainer](const protocol::GradientSpec& one) {
        return one.again ? trainer.GradientAgain(*one.parameters, one.batch_seed)
                         : trainer.Gradient(*one.parameters, one.batch_seed);
      },
      aggregation::SerialExecutor());
}

TEST(ConformanceWatch, AProcessorThatBeginsToFailGetsNoGradientOut) {
  exact::Kernels mine = exact::BestKernels();
  const auto trainer =
      MakeExactTrainerBy(mine, {.model = "softmax", .exact = true}, LoadDigits()).value();
  const auto fails = [&trainer](bool again) {
    return std::holds_alternative<protocol::JobFailed>(GradientJob(*trainer, again));
  };
  for (std::uint64_t i = 0; i < 2 * ConformanceWatch::kMostGradients; ++i) {
    ASSERT_FALSE(fails(i % 2 != 0)) << i;
  }
  mine.sum = &SumInAnotherOrder;
  std::uint64_t until = 1;
  while (until < 1000 && !fails(false)) ++until;
  EXPECT_EQ(until, ConformanceWatch::kMostGradients) << "at the next check";
  EXPECT_TRUE(fails(true));
  const auto result = GradientJob(*trainer, false);
  const std::string& reason = std::get<protocol::JobFailed>(result).reason;
  EXPECT_THAT(reason, HasSubstr("computes other bits than when it started"));
  EXPECT_THAT(reason, HasSubstr("check memory and processor"));
  EXPECT_THAT(reason, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace ostraka::train::conformance_watch_test
