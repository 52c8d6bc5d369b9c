#include "sim/engine/job_times.h"

#include <gtest/gtest.h>

namespace ostraka::sim::job_times_test {
namespace {

protocol::JobSpec GradientOver(std::size_t floats) {
  protocol::GradientSpec spec;
  spec.parameters = std::make_shared<const std::vector<float>>(floats);
  return spec;
}

TEST(JobTimes, GrowWithTheSizeAndStayWithinTheJitter) {
  const JobTimes times{.overhead = base::Microseconds(1),
                       .gradient = base::Microseconds(9),
                       .gradient_ns_per_float = 10,
                       .other_ns_per_float = 1,
                       .jitter_percent = 50};
  base::Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    const base::Duration time = DrawJobTime(times, GradientOver(1000), rng);
    EXPECT_GE(time, base::Microseconds(20));
    EXPECT_LE(time, base::Microseconds(30));
  }
}

TEST(JobTimes, LocalStepsAtRateZeroTakeNone) {
  const JobTimes times{.overhead = base::Microseconds(1),
                       .gradient = base::Seconds(9),
                       .other_ns_per_float = 0,
                       .jitter_percent = 0};
  base::Rng rng(1);
  protocol::GradientSpec spec;
  spec.parameters = std::make_shared<const std::vector<float>>(5);
  spec.local = {.count = 4, .rate = 0.1};
  EXPECT_GE(DrawJobTime(times, spec, rng), base::Seconds(9));
  protocol::RecomputeSpec recompute;
  recompute.gradient = spec;
  EXPECT_GE(DrawJobTime(times, recompute, rng), base::Seconds(9));
  spec.local.rate = 0;
  recompute.gradient = spec;
  EXPECT_EQ(DrawJobTime(times, spec, rng), base::Microseconds(1));
  EXPECT_EQ(DrawJobTime(times, recompute, rng), base::Microseconds(1));
}

TEST(JobTimes, CountFloatsOfEveryKind) {
  const auto vector = std::make_shared<const std::vector<float>>(6);
  const auto blob = std::make_shared<const crypto::Blob>(crypto::Blob{base::Bytes(8), {}});
  EXPECT_EQ(FloatsRead(GradientOver(6)), 6U);
  EXPECT_EQ(FloatsRead(protocol::PackSpec{vector, {}, true}), 6U);
  protocol::AggregateSpec aggregate;
  aggregate.parts = {blob, blob, blob};
  EXPECT_EQ(FloatsRead(aggregate), 6U);
  protocol::ProveSpec prove;
  prove.parts = {blob, nullptr};
  EXPECT_EQ(FloatsRead(prove), 4U);
  protocol::CrossCheckSpec check;
  check.column.range = {4, 9};
  check.claims.resize(3);
  EXPECT_EQ(FloatsRead(check), 30U);
  protocol::RecomputeSpec recompute;
  recompute.gradient.parameters = vector;
  EXPECT_EQ(FloatsRead(recompute), 6U);
  protocol::UpdateSpec update;
  update.state = {vector, {{"velocity", vector}}};
  EXPECT_EQ(FloatsRead(update), 18U);
  update.state.slots.push_back({"other", vector});
  EXPECT_EQ(FloatsRead(update), 24U) << "a second slot";
  protocol::RootSpec root;
  root.state = {vector, {{"velocity", vector}}};
  EXPECT_EQ(FloatsRead(root), 12U);
}

}  // namespace
}  // namespace ostraka::sim::job_times_test
