#include "exact/device/device_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exact/device/conformance_cases.h"
#include "exact/device/conformance_program.h"
#include "exact/device/emulated_device.h"
#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "tests/unit/exact/device/device_problem.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::exact::device_runner_test {
namespace {

using testing::BitsOf;
using testing::DigestProblems;
using testing::DrawProblem;
using testing::GradientBy;
using ::testing::HasSubstr;
using testing::kRoomy;
using testing::NamedProblem;
using testing::Problem;
using testing::RunnerFor;

void ExpectEqualBits(testing::Gradient got, testing::Gradient wanted, const std::string& what) {
  got.values.push_back(got.loss);
  wanted.values.push_back(wanted.loss);
  EXPECT_EQ(BitsOf(got.values), BitsOf(wanted.values)) << what;
}

TEST(DeviceRunner, GivesTheRecordedGradients) {
  for (const NamedProblem& each : DigestProblems()) {
    const auto device = MakeEmulatedDevice();
    EXPECT_EQ(testing::DigestOf(each.problem, *device).Short(),
              testing::kRecordedDigests.at(each.name))
        << each.name;
  }
}

// Into memory that had another gradient before.
testing::Gradient ByProcessor(const Problem& problem, const Kernels& kernels) {
  const aggregation::SerialExecutor one;
  Runner runner(PlanMemory(Differentiate(problem.graph), {}, 1).value(), problem.constants, kernels,
                one);
  testing::Gradient gradient;
  gradient.values.assign(problem.parameters.size(), 7.0F);
  gradient.loss = runner.Gradient(problem.parameters, problem.inputs(), gradient.values).value();
  return gradient;
}

void ExpectDeviceBits(const Problem& problem, const std::string& name) {
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  const testing::Gradient wanted = GradientBy(*runner, problem);
  for (const Level level : kAllLevels) {
    if (!IsSupported(level)) continue;
    ExpectEqualBits(ByProcessor(problem, KernelsFor(level)), wanted,
                    name + " by " + std::string(LevelName(level)));
  }
}

// The last key, which the first cut does not see, gets -0 of the first head and nothing of the
// second: the first cut of the second head makes it +0.
TEST(DeviceRunner, TheProcessorSeesASumThatIsNegativeZero) {
  const Graph graph = ParseGraph(
                          "ostraka-graph 1\n"
                          "parameter q f32[1,129,2,1] normal 1e+00\n"
                          "parameter k f32[1,129,1,1] normal 1e+00\n"
                          "parameter v f32[1,129,1,1] normal 1e+00\n"
                          "parameter g f32[1,129,2,1] normal 1e+00\n"
                          "%1 f32[1,129,2,1] = attention q k v causal=1 scale=1e+00\n"
                          "%2 f32[1,129,2,1] = mul %1 g\n"
                          "%3 f32[258] = reshape %2\n"
                          "%4 f32[] = sum %3 axis=0\n"
                          "loss %4\n")
                          .value();
  ASSERT_TRUE(CheckGraph(graph).ok());
  Problem problem = DrawProblem(graph, 1);
  float* const query = problem.parameters.data();
  float* const key = query + 258;
  float* const value = key + 129;
  float* const gradient = value + 129;
  for (int t = 0; t < 129; ++t) {
    query[2 * t] = query[2 * t + 1] = 1;
    key[t] = 0;
    value[t] = 1;
    gradient[2 * t] = gradient[2 * t + 1] = 1;
  }
  key[128] = -86;          // its share is subnormal
  gradient[256] = -1e-8F;  // and this share of it rounds to -0
  query[257] = 2;          // exp(-172) is 0
  gradient[257] = -1;
  ExpectDeviceBits(problem, "the value's gradient");
  const std::size_t last = 258 + 129 + 128;
  EXPECT_EQ(std::bit_cast<std::uint32_t>(ByProcessor(problem, BestKernels()).values[last]), 0U);

  // The output of the first query is -0 until the last value, which it does not see, makes it +0.
  for (int t = 0; t < 129; ++t) value[t] = t < 128 ? -1e-45F : 1;
  query[0] = query[1] = 0;
  ExpectDeviceBits(problem, "the output");
}

// The processor leaves out keys that no query of a cut sees, a device never does. Two heads share
// keys, so that the second goes on from the first one's sums.
TEST(DeviceRunner, TheProcessorLeavesOutMaskedKeysOnlyWhereNoBitShows) {
  const Graph graph = ParseGraph(
                          "ostraka-graph 1\n"
                          "parameter q f32[1,300,2,4] normal 1e+00\n"
                          "parameter k f32[1,300,1,4] normal 1e+00\n"
                          "parameter v f32[1,300,1,4] normal 1e+00\n"
                          "%1 f32[1,300,2,4] = attention q k v causal=1 scale=5e-01\n"
                          "%2 f32[1,300,2,4] = tanh %1\n"
                          "%3 f32[2400] = reshape %2\n"
                          "%4 f32[] = sum %3 axis=0\n"
                          "loss %4\n")
                          .value();
  ASSERT_TRUE(CheckGraph(graph).ok());
  const Problem ordinary = DrawProblem(graph, 1);
  constexpr std::size_t kQuery = 0;
  constexpr std::size_t kKey = 2400;
  constexpr std::size_t kValue = kKey + 1200;
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<std::pair<std::string, Problem>> problems = {{"ordinary", ordinary}};
  const auto with = [&](const std::string& name, std::size_t at, float value) {
    problems.emplace_back(name, ordinary);
    problems.back().second.parameters[at] = value;
  };
  for (const float wild : {infinity, std::bit_cast<float>(0xffc00099U), 3e38F, -0.0F}) {
    const std::string name = std::to_string(wild);
    with(name + " in the last value", kValue + 1199, wild);
    with(name + " in a value of the second cut", kValue + 150 * 4, wild);
    with(name + " in the last key", kKey + 1198, wild);
    with(name + " in an early query", kQuery + 9, wild);
    with(name + " in a late query", kQuery + 2390, wild);
  }
  // Products that round to -0: sums of the value's, the key's and the query's chains.
  for (const float scale : {1e-44F, 1e-39F, 1e-20F, 1e-12F}) {
    for (const auto& [begin, end] : {std::pair{kQuery, kKey},
                                     {kKey, kValue},
                                     {kValue, kValue + 1200},
                                     {kQuery, kValue + 1200}}) {
      problems.emplace_back(std::to_string(scale) + " from " + std::to_string(begin), ordinary);
      auto& parameters = problems.back().second.parameters;
      for (std::size_t i = begin; i < end; ++i) parameters[i] *= scale;
    }
    problems.emplace_back("negative values of " + std::to_string(scale), ordinary);
    auto& parameters = problems.back().second.parameters;
    for (std::size_t i = kValue; i < kValue + 1200; ++i) parameters[i] = -scale;
  }
  for (const auto& [name, problem] : problems) ExpectDeviceBits(problem, name);
}

// Small models, so that each can run in many ways.
Problem SmallProblem(const std::string& name) {
  const Model model = MakeModel({.model = name,
                                 .batch = 2,
                                 .layers = 2,
                                 .width = 24,
                                 .heads = 3,
                                 .groups = name == "llama" ? 1 : 0,
                                 .context = 37,
                                 .vocabulary = 19,
                                 .channels = 1,
                                 .side = 12,
                                 .patch = 4,
                                 .features = 21,
                                 .hidden = 35,
                                 .classes = 10})
                          .value();
  return DrawProblem(model.graph, 3, 0.3F, model.constants);
}

TEST(DeviceRunner, NoCutOfMemoryChangesABit) {
  for (const char* name : {"gpt", "llama", "albert", "vit"}) {
    const Problem problem = SmallProblem(name);
    const testing::Gradient wanted = testing::GradientOf(problem);
    const auto device = MakeEmulatedDevice();
    // Slabs of a little more than the largest tensor, and scores of a few queries at once.
    DeviceLimits small = kRoomy;
    small.buffer_bytes = 16 << 10;
    while (!PlanDevice(Differentiate(problem.graph), small).ok()) small.buffer_bytes += 64;
    small.scratch_bytes = 3 * 8 * 37 * sizeof(float);
    const auto runner = RunnerFor(problem, *device, small);
    EXPECT_GT(runner->plan().arena.size() + runner->plan().parameters.size(), 3U) << name;
    ExpectEqualBits(GradientBy(*runner, problem), wanted, name);
  }
}

TEST(DeviceRunner, OneQueryAtATimeIsEnough) {
  const Problem problem = SmallProblem("llama");
  const auto device = MakeEmulatedDevice();
  DeviceLimits least = kRoomy;
  least.scratch_bytes = 0;
  while (!PlanDevice(Differentiate(problem.graph), least).ok()) least.scratch_bytes += 8;
  const auto runner = RunnerFor(problem, *device, least);
  const DevicePlan& plan = runner->plan();
  bool found = false;
  for (const Step& step : plan.planned.program.steps) {
    const auto* const attention = std::get_if<AttentionStep>(&step.kind);
    if (attention == nullptr) continue;
    found = true;
    EXPECT_EQ(CutOf(plan, *attention, false), 1U);
  }
  EXPECT_TRUE(found);
  ExpectEqualBits(GradientBy(*runner, problem), testing::GradientOf(problem), "one query");
}

TEST(DeviceRunner, NoTileChangesABit) {
  const Problem problem = SmallProblem("llama");
  const testing::Gradient wanted = testing::GradientOf(problem);
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  for (const Tile tile : {Tile::k32, Tile::k64, Tile::k128}) {
    runner->UseTile(tile);
    ExpectEqualBits(GradientBy(*runner, problem), wanted, "a tile");
  }
}

// Beside what the conformance program has: other extents, and the scalar kernels.
TEST(DeviceRunner, DrawnGraphsGiveTheScalarKernelsBits) {
  const auto device = MakeEmulatedDevice();
  std::size_t numbers = 0;
  for (const std::uint64_t seed : {3, 4}) {
    for (const ConformanceCase& each : DrawnCases(seed)) {
      const CaseResult wanted = ResultOf(each, KernelsFor(Level::kScalar)).value();
      for (const Tile tile : {Tile::kByShape, Tile::k64, Tile::k128}) {
        if (tile != Tile::kByShape && !each.of_products) continue;
        const CaseResult got = ResultOf(each, *device, tile).value();
        EXPECT_EQ(BitsOf(got.gradient), BitsOf(wanted.gradient)) << each.name;
        EXPECT_EQ(BitsOf({got.loss}), BitsOf({wanted.loss})) << each.name;
        numbers += got.gradient.size();
      }
    }
  }
  EXPECT_GT(numbers, 100'000U);
}

// What MeanUnchecked of node/train/exact/graph_trainer.cpp computes.
TEST(DeviceRunner, AddsMicroBatchesInTheWrittenOrder) {
  Problem problem = SmallProblem("mlp");
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  for (const std::size_t count : {1, 2, 3, 7}) {
    std::vector<float> sum;
    float last_loss = 0;
    for (std::size_t m = 0; m < count; ++m) {
      for (float& value : problem.floats[0]) value += 0.01F;
      const testing::Gradient one = testing::GradientOf(problem);
      last_loss = runner->AddGradient(problem.inputs()).value();
      EXPECT_EQ(last_loss, one.loss);
      if (sum.empty()) {
        sum = one.values;
      } else {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one.values[i];
      }
    }
    if (count > 1) {
      for (float& value : sum) value *= 1 / static_cast<float>(count);
    }
    std::vector<float> mean(sum.size());
    ASSERT_TRUE(runner->TakeMean(mean).ok());
    EXPECT_EQ(BitsOf(mean), BitsOf(sum)) << count;
  }
}

TEST(DeviceRunner, LossAndLogitsAreTheRunners) {
  const Problem problem = SmallProblem("gpt");
  const aggregation::SerialExecutor one;
  Runner on_processor(PlanMemory(Differentiate(problem.graph), {}, 1).value(), problem.constants,
                      BestKernels(), one);
  const float wanted = on_processor.Loss(problem.parameters, problem.inputs()).value();
  const std::span<const float> logits = on_processor.Logits();
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  EXPECT_EQ(runner->Loss(problem.inputs()).value(), wanted);
  EXPECT_EQ(BitsOf(runner->Logits().value()), BitsOf({logits.begin(), logits.end()}));
  EXPECT_FALSE(logits.empty());
}

TEST(DeviceRunner, ALossBetweenGradientsChangesNoSum) {
  const Problem problem = SmallProblem("gpt");
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  std::vector<float> wanted(problem.parameters.size());
  std::vector<float> got(problem.parameters.size());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(runner->AddGradient(problem.inputs()).ok());
  ASSERT_TRUE(runner->TakeMean(wanted).ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(runner->AddGradient(problem.inputs()).ok());
    ASSERT_TRUE(runner->Loss(problem.inputs()).ok());
  }
  ASSERT_TRUE(runner->TakeMean(got).ok());
  EXPECT_EQ(BitsOf(got), BitsOf(wanted));
}

TEST(DeviceRunner, RefusesInputsThatDoNotFit) {
  Problem problem = SmallProblem("gpt");
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  ASSERT_TRUE(runner->AddGradient(problem.inputs()).ok());
  problem.integers[0][3] = 19;  // the vocabulary
  const auto beyond = runner->AddGradient(problem.inputs());
  EXPECT_THAT(base::MessageOf(beyond.status()), HasSubstr("a value 19, which is not in"));
  problem.integers[0].pop_back();
  EXPECT_EQ(runner->AddGradient(problem.inputs()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(runner->Loss({}).status().code(), absl::StatusCode::kInvalidArgument);
  std::vector<float> mean(problem.parameters.size());
  EXPECT_TRUE(runner->TakeMean(mean).ok()) << "the sum is as before";
}

TEST(DeviceRunner, NeedsParametersAndAGradient) {
  const Problem problem = SmallProblem("mlp");
  const auto device = MakeEmulatedDevice();
  const auto runner =
      DeviceRunner::Make(PlanDevice(Differentiate(problem.graph), kRoomy).value(), {}, *device)
          .value();
  EXPECT_THAT(base::MessageOf(runner->AddGradient(problem.inputs()).status()),
              HasSubstr("no parameters"));
  ASSERT_TRUE(runner->SetParameters(problem.parameters).ok());
  std::vector<float> mean(problem.parameters.size());
  EXPECT_THAT(base::MessageOf(runner->TakeMean(mean)), HasSubstr("no gradient was added"));
  ASSERT_TRUE(runner->AddGradient(problem.inputs()).ok());
  ASSERT_TRUE(runner->SetParameters(problem.parameters).ok());
  EXPECT_FALSE(runner->TakeMean(mean).ok()) << "new parameters, an empty sum";
}

TEST(DeviceRunner, APlanThatDoesNotAddTakesOneGradient) {
  const Problem problem = SmallProblem("mlp");
  const auto device = MakeEmulatedDevice();
  DeviceLimits limits = kRoomy;
  limits.adds = false;
  const auto runner = RunnerFor(problem, *device, limits);
  ASSERT_TRUE(runner->AddGradient(problem.inputs()).ok());
  EXPECT_EQ(runner->AddGradient(problem.inputs()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  std::vector<float> mean(problem.parameters.size());
  ASSERT_TRUE(runner->TakeMean(mean).ok());
  EXPECT_EQ(BitsOf(mean), BitsOf(testing::GradientOf(problem).values));
}

TEST(DeviceRunner, EndsWhenItIsAbandoned) {
  const Problem problem = SmallProblem("mlp");
  const auto device = MakeEmulatedDevice();
  const auto runner = RunnerFor(problem, *device);
  const auto abandoned = std::make_shared<std::atomic<bool>>(false);
  runner->EndWhen(abandoned);
  EXPECT_TRUE(runner->Loss(problem.inputs()).ok());
  *abandoned = true;
  EXPECT_EQ(runner->Loss(problem.inputs()).status().code(), absl::StatusCode::kUnavailable);
}

// A parameter as the loss, and a graph without inputs: what a stranger's file may hold.
TEST(DeviceRunner, RunsOddGraphs) {
  for (const char* lines : {"parameter a f32[] normal 1e+00\nloss a\n",
                            "parameter a f32[1] normal 1e+00\n%1 f32[] = reshape a\nloss %1\n",
                            "parameter a f32[3] normal 1e+00\nparameter b f32[] normal 1e+00\n"
                            "%1 f32[] = mul b b\nloss %1\n"}) {
    Graph graph = ParseGraph("ostraka-graph 1\n" + std::string(lines)).value();
    ASSERT_TRUE(CheckGraph(graph).ok());
    const Problem problem = DrawProblem(std::move(graph), 5);
    const auto device = MakeEmulatedDevice();
    const auto runner = RunnerFor(problem, *device);
    ExpectEqualBits(GradientBy(*runner, problem), testing::GradientOf(problem), lines);
  }
}

// All maps by their numbers, with values of every kind.
TEST(DeviceRunner, EveryMapIsThatOfTheKernels) {
  constexpr std::uint32_t kCount = 1000;
  base::Rng rng(4);
  const std::vector<float> a = testing::WildValues(rng, kCount);
  const std::vector<float> b = testing::WildValues(rng, kCount);
  const std::vector<float> c = testing::WildValues(rng, kCount);
  const auto device = MakeEmulatedDevice();
  std::vector<DeviceBuffer> buffers;
  for (const auto* values : {&a, &b, &c, &a}) {
    buffers.push_back(device->Allocate(kCount * sizeof(float)).value());
    ASSERT_TRUE(device->Upload(buffers.back(), 0, std::as_bytes(std::span(*values))).ok());
  }
  const DevicePlan none;
  const DeviceSite site{.device = *device, .plan = none};
  for (std::size_t map = 0; map < kMapCount; ++map) {
    std::vector<float> wanted(kCount);
    KernelsFor(Level::kScalar)
        .maps[map]({a.data(), b.data(), c.data(), 0x1.99999ap-4F, wanted.data(), kCount});
    ASSERT_TRUE(site.RunOver(kRunMap, kCount, Tensor{buffers[0]}, Tensor{buffers[1]},
                             Tensor{buffers[2]}, Tensor{buffers[3]}, kCount,
                             static_cast<std::uint32_t>(map), std::uint32_t{3}, 0x1.99999ap-4F,
                             std::uint32_t{0})
                    .ok());
    std::vector<float> got(kCount);
    ASSERT_TRUE(device->Download(buffers[3], 0, std::as_writable_bytes(std::span(got))).ok());
    EXPECT_EQ(BitsOf(got), BitsOf(wanted)) << map;
  }
}

}  // namespace
}  // namespace ostraka::exact::device_runner_test
