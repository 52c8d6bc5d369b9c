// Local steps on a device: to the bit those of the processor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "exact/device/device_runner.h"
#include "exact/device/emulated_device.h"
#include "tests/unit/exact/device/device_problem.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::exact::device_descent_test {
namespace {

using testing::BitsOf;
using ::testing::HasSubstr;
using testing::kRoomy;
using testing::Problem;
using testing::RunnerFor;

constexpr std::uint64_t kSteps = 3;

aggregation::LocalSteps Plan(double clip_norm) {
  return {.count = kSteps,
          .rate = 0.02,
          .warmup = 2,
          .clip_norm = clip_norm,
          .beta1 = 0.9,
          .beta2 = 0.95,
          .epsilon = 1e-8,
          .weight_decay = 0.01};
}

// 6 to 7 blocks of the norm.
Problem SmallGpt() {
  const Model model = MakeModel({.model = "gpt",
                                 .batch = 1,
                                 .layers = 2,
                                 .width = 32,
                                 .heads = 2,
                                 .context = 9,
                                 .vocabulary = 19})
                          .value();
  return testing::DrawProblem(model.graph, 3, 0.3F, model.constants);
}

// Batch `index` of a run: other tokens in each.
std::vector<std::vector<std::int32_t>> Tokens(const Problem& problem, std::size_t index) {
  std::vector<std::vector<std::int32_t>> tokens = problem.integers;
  for (std::size_t i = 0; i < tokens[0].size(); ++i) {
    tokens[0][i] = static_cast<std::int32_t>((3 * i + 7 * index + 1) % 19);
  }
  return tokens;
}

std::vector<InputValues> InputsOf(const std::vector<std::vector<std::int32_t>>& tokens) {
  return {{.integers = tokens[0]}, {.integers = tokens[1]}};
}

// Gradients by the processor, as node/train/local_steps.cpp has them.
std::vector<float> ByProcessor(const Problem& problem, const aggregation::LocalSteps& plan,
                               std::size_t batches, std::size_t micro_batches) {
  const aggregation::SerialExecutor one;
  Runner runner(PlanMemory(Differentiate(problem.graph), {}, 1).value(), problem.constants,
                BestKernels(), one);
  aggregation::LocalDescent descent(plan, problem.parameters);
  const std::size_t count = problem.parameters.size();
  std::size_t index = 0;
  while (descent.count() < plan.count) {
    std::vector<float> sum(count);
    for (std::size_t batch = 0; batch < batches; ++batch) {
      std::vector<float> mean(count);
      for (std::size_t micro = 0; micro < micro_batches; ++micro) {
        std::vector<float> next(count);
        const auto tokens = Tokens(problem, index++);
        EXPECT_TRUE(runner.Gradient(descent.at(), InputsOf(tokens), next).ok());
        for (std::size_t i = 0; i < count; ++i) mean[i] = micro == 0 ? next[i] : mean[i] + next[i];
      }
      if (micro_batches > 1) {
        for (float& value : mean) value *= 1 / static_cast<float>(micro_batches);
      }
      for (std::size_t i = 0; i < count; ++i) sum[i] = batch == 0 ? mean[i] : sum[i] + mean[i];
    }
    if (batches > 1) {
      for (float& value : sum) value *= static_cast<float>(1.0 / static_cast<double>(batches));
    }
    descent.Step(sum);
  }
  return descent.TakeDistance();
}

base::StatusOr<std::vector<float>> ByDevice(DeviceRunner& runner, const Problem& problem,
                                            const aggregation::LocalSteps& plan,
                                            std::size_t batches, std::size_t micro_batches) {
  RETURN_IF_ERROR(runner.SetParameters(problem.parameters));
  RETURN_IF_ERROR(runner.BeginDescent(static_cast<std::uint32_t>(batches)));
  std::size_t index = 0;
  for (std::uint64_t step = 0; step < plan.count; ++step) {
    for (std::size_t batch = 0; batch < batches; ++batch) {
      for (std::size_t micro = 0; micro < micro_batches; ++micro) {
        const auto tokens = Tokens(problem, index++);
        RETURN_IF_ERROR(runner.AddGradient(InputsOf(tokens)).status());
      }
      RETURN_IF_ERROR(runner.EndBatch());
    }
    RETURN_IF_ERROR(runner.StepDescent(plan, step));
  }
  ASSIGN_OR_RETURN(std::vector<float> end, runner.ReadParameters());
  aggregation::MakeDistance(problem.parameters, end);
  return end;
}

TEST(DeviceDescent, IsTheProcessorsInEachCutOfMemory) {
  const Problem problem = SmallGpt();
  ASSERT_GT(problem.parameters.size(), 6 * aggregation::kNormBlock);
  DeviceLimits small = kRoomy;
  small.buffer_bytes = 16 << 10;  // of many slabs, so that blocks lie in two and three of them
  while (!PlanDevice(Differentiate(problem.graph), small).ok()) small.buffer_bytes += 64;
  for (const DeviceLimits& limits : {kRoomy, small}) {
    const auto device = MakeEmulatedDevice();
    const auto runner = RunnerFor(problem, *device, limits);
    EXPECT_EQ(runner->plan().parameters.size() > 3,
              &limits != &kRoomy && limits.buffer_bytes < kRoomy.buffer_bytes);
    // One runner after the other: moments begin at 0 each time.
    for (const auto& [batches, micro_batches, clip] :
         {std::tuple{1, 1, 0.1}, {3, 1, 1e6}, {1, 2, 1e6}, {2, 2, 0.1}}) {
      const auto got = ByDevice(*runner, problem, Plan(clip), batches, micro_batches);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(BitsOf(*got), BitsOf(ByProcessor(problem, Plan(clip), batches, micro_batches)))
          << batches << " batches of " << micro_batches;
    }
  }
}

TEST(DeviceDescent, TellsWhatAStepBeginsWith) {
  const Problem problem = SmallGpt();
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  const aggregation::LocalSteps plan = Plan(0.1);
  ASSERT_TRUE(runner->BeginDescent(2).ok());
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (int batch = 0; batch < 2; ++batch) {
      EXPECT_TRUE(runner->ReadDescent()->gradient.empty());
      ASSERT_TRUE(runner->AddGradient(problem.inputs()).ok());
      ASSERT_TRUE(runner->EndBatch().ok());
    }
    DeviceRunner::DescentState state = runner->ReadDescent().value();
    aggregation::TakeLocalStep(plan, step, state.gradient, state.y, state.first, state.second);
    ASSERT_TRUE(runner->StepDescent(plan, step).ok());
    const DeviceRunner::DescentState after = runner->ReadDescent().value();
    EXPECT_EQ(BitsOf(after.y), BitsOf(state.y));
    EXPECT_EQ(BitsOf(after.first), BitsOf(state.first));
    EXPECT_EQ(BitsOf(after.second), BitsOf(state.second));
  }
}

TEST(DeviceDescent, ComesInItsOrder) {
  const Problem problem = SmallGpt();
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  const auto refused = [](const base::Status& status) {
    return status.code() == absl::StatusCode::kFailedPrecondition;
  };
  EXPECT_TRUE(refused(runner->EndBatch()));
  EXPECT_TRUE(refused(runner->StepDescent(Plan(1), 0)));
  EXPECT_TRUE(refused(runner->ReadDescent().status()));
  ASSERT_TRUE(runner->BeginDescent(2).ok());
  EXPECT_TRUE(refused(runner->EndBatch()));
  ASSERT_TRUE(runner->AddGradient(problem.inputs()).ok());
  ASSERT_TRUE(runner->EndBatch().ok());
  EXPECT_TRUE(refused(runner->StepDescent(Plan(1), 0)));
  ASSERT_TRUE(runner->AddGradient(problem.inputs()).ok());
  ASSERT_TRUE(runner->EndBatch().ok());
  EXPECT_TRUE(refused(runner->AddGradient(problem.inputs()).status()));
  ASSERT_TRUE(runner->StepDescent(Plan(1), 0).ok());
  // Other parameters end local steps.
  ASSERT_TRUE(runner->SetParameters(problem.parameters).ok());
  EXPECT_TRUE(refused(runner->ReadDescent().status()));
  EXPECT_EQ(BitsOf(testing::GradientBy(*runner, problem).values),
            BitsOf(testing::GradientOf(problem).values));
}

TEST(DeviceDescent, WithoutRoomGradientsGoOn) {
  const Problem problem = SmallGpt();
  const auto device = MakeEmulatedDevice();
  DeviceLimits least = kRoomy;
  const std::uint64_t plan = PlanDevice(Differentiate(problem.graph), least)->bytes;
  const std::uint64_t vector = problem.parameters.size() * sizeof(float);
  least.memory_bytes = plan + 2 * vector;
  const auto runner = RunnerFor(problem, *device, least);
  EXPECT_THAT(base::MessageOf(runner->BeginDescent(1)), HasSubstr("bytes are left"));
  EXPECT_EQ(BitsOf(testing::GradientBy(*runner, problem).values),
            BitsOf(testing::GradientOf(problem).values));
  // One batch a step fits, two do not.
  least.memory_bytes = plan + 2 * vector + 100;
  const auto roomier = RunnerFor(problem, *device, least);
  EXPECT_TRUE(roomier->BeginDescent(1).ok());
  EXPECT_EQ(roomier->BeginDescent(2).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(roomier->BeginDescent(1).ok());
}

}  // namespace
}  // namespace ostraka::exact::device_descent_test
