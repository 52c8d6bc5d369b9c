#include "exact/device/device_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "exact/program/differentiate.h"
#include "node/base/check.h"

namespace ostraka::exact::device_plan_test {
namespace {

using ::testing::HasSubstr;

Program ProgramOf(const std::string& lines) {
  auto graph = ParseGraph("ostraka-graph 1\n" + lines);
  OSTRAKA_CHECK(graph.ok() && CheckGraph(*graph).ok());
  return Differentiate(*graph);
}

Program SmallGpt() {
  return Differentiate(
      MakeModel({.layers = 2, .width = 16, .heads = 2, .context = 9, .vocabulary = 13})
          .value()
          .graph);
}

constexpr std::uint64_t kMuch = std::uint64_t{1} << 40;

std::string Refusal(Program program, const DeviceLimits& limits) {
  return base::MessageOf(PlanDevice(std::move(program), limits).status());
}

TEST(DevicePlan, CountsEveryBuffer) {
  // Parameters, gradient and sum of 15; x of 35; arena and tables beside them.
  const Program program = ProgramOf(
      "parameter w f32[3,5] ones\ninput x f32[7,5]\ninput t i32[7] 0 3\n"
      "%1 f32[7,3] = linear x w\n%2 f32[] = cross_entropy %1 t\nloss %2\n");
  const DevicePlan plan =
      PlanDevice(program, {.memory_bytes = kMuch, .buffer_bytes = kMuch}).value();
  EXPECT_EQ(plan.pair_elements, 14U);
  EXPECT_EQ(plan.scratch_buffers, 0U);
  const std::uint64_t elements =
      3 * 15 + 7 * 5 + 7 + plan.planned.arena_elements + 14 + plan.table.size();
  EXPECT_EQ(plan.bytes, 4 * elements);
  const DevicePlan once =
      PlanDevice(program, {.memory_bytes = kMuch, .buffer_bytes = kMuch, .adds = false}).value();
  EXPECT_EQ(once.bytes, plan.bytes - 4 * 15);
}

TEST(DevicePlan, FitsIntoWhatItSays) {
  const DevicePlan roomy =
      PlanDevice(SmallGpt(), {.memory_bytes = kMuch, .buffer_bytes = kMuch}).value();
  const DeviceLimits exact = {.memory_bytes = roomy.bytes, .buffer_bytes = roomy.bytes};
  EXPECT_EQ(PlanDevice(SmallGpt(), exact).value().bytes, roomy.bytes);
  // One byte less takes from the scores of attention, much less is refused.
  const DeviceLimits less = {.memory_bytes = roomy.bytes - 1, .buffer_bytes = roomy.bytes};
  EXPECT_LT(PlanDevice(SmallGpt(), less).value().bytes, roomy.bytes);
  EXPECT_THAT(Refusal(SmallGpt(), {.memory_bytes = 1000, .buffer_bytes = kMuch}),
              HasSubstr("a gradient takes"));
}

TEST(DevicePlan, ShrinksTheScoresUntilTheyFit) {
  std::uint64_t before = 0;
  for (const std::uint64_t scratch : {1200, 2000, 4000, 8000}) {
    const auto plan = PlanDevice(
        SmallGpt(), {.memory_bytes = kMuch, .buffer_bytes = kMuch, .scratch_bytes = scratch});
    ASSERT_TRUE(plan.ok());
    EXPECT_LE(plan->scratch_buffers * plan->scratch_elements * 4, scratch);
    EXPECT_GE(plan->scratch_elements, before);
    before = plan->scratch_elements;
  }
  EXPECT_THAT(
      Refusal(SmallGpt(), {.memory_bytes = kMuch, .buffer_bytes = kMuch, .scratch_bytes = 40}),
      HasSubstr("attention of one query takes"));
}

TEST(DevicePlan, CutsParametersBetweenTensors) {
  // Tensors of 10, 20, 30 and 5 elements.
  const Program program = ProgramOf(
      "parameter a f32[10] normal 1e+00\nparameter b f32[20] normal 1e+00\n"
      "parameter c f32[30] normal 1e+00\nparameter d f32[5] normal 1e+00\n"
      "%1 f32[65] = cat a b c d axis=0\n%2 f32[] = sum %1 axis=0\nloss %2\n");
  const auto slabs = [&](std::uint64_t elements) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> cuts;
    const auto plan = PlanDevice(program, {.memory_bytes = kMuch, .buffer_bytes = 4 * elements});
    if (!plan.ok()) return cuts;
    for (const Slab& slab : plan->parameters) cuts.emplace_back(slab.begin, slab.count);
    return cuts;
  };
  using Cuts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(slabs(80), (Cuts{{0, 65}}));
  // The sum's operand of 65 elements needs 80.
  EXPECT_EQ(slabs(64), Cuts{});
  const Program apart = ProgramOf(
      "parameter a f32[10] normal 1e+00\nparameter b f32[20] normal 1e+00\n"
      "parameter c f32[30] normal 1e+00\nparameter d f32[5] normal 1e+00\n"
      "%1 f32[] = sum a axis=0\n%2 f32[] = sum b axis=0\n%3 f32[] = sum c axis=0\n"
      "%4 f32[] = sum d axis=0\n%5 f32[] = add %1 %2\n%6 f32[] = add %3 %4\n"
      "%7 f32[] = add %5 %6\nloss %7\n");
  const auto plan = PlanDevice(apart, {.memory_bytes = kMuch, .buffer_bytes = 4 * 32}).value();
  Cuts cuts;
  for (const Slab& slab : plan.parameters) cuts.emplace_back(slab.begin, slab.count);
  EXPECT_EQ(cuts, (Cuts{{0, 30}, {30, 30}, {60, 5}}));
  EXPECT_THAT(Refusal(apart, {.memory_bytes = kMuch, .buffer_bytes = 4 * 16}), HasSubstr("bytes"));
}

TEST(DevicePlan, RefusesWhatNoBufferHolds) {
  const std::string loss = "%1 f32[7,3] = linear x w\n%2 f32[] = cross_entropy %1 t\nloss %2\n";
  EXPECT_THAT(Refusal(ProgramOf("parameter w f32[3,500] ones\ninput x f32[7,500]\n"
                                "input t i32[7] 0 3\n" +
                                loss),
                      {.memory_bytes = kMuch, .buffer_bytes = 4 * 2000}),
              HasSubstr("an input or a table takes 14000 bytes on the device, more than 8000"));
  EXPECT_THAT(Refusal(SmallGpt(), {.memory_bytes = kMuch, .buffer_bytes = 0}),
              HasSubstr("buffers of 0 bytes"));
}

// Tensors at their limit, 2^31 - 1 elements: counted, never allocated.
TEST(DevicePlan, CountsAGraphAtItsLimits) {
  const std::string q = "parameter q f32[1,2000000000,1,1] ones\n";
  const std::string attention =
      q +
      "%1 f32[1,2000000000,1,1] = attention q q q causal=0 scale=1e+00\n"
      "%2 f32[2000000000] = reshape %1\n%3 f32[] = sum %2 axis=0\nloss %3\n";
  EXPECT_THAT(Refusal(ProgramOf(attention), {.memory_bytes = kMuch, .buffer_bytes = kMuch}),
              HasSubstr("floating-point operations"));
  const DevicePlan plan =
      PlanDevice(ProgramOf("parameter a f32[2147483647] ones\n%1 f32[2147483647] = tanh a\n"
                           "%2 f32[] = sum %1 axis=0\nloss %2\n"),
                 {.memory_bytes = kMuch, .buffer_bytes = kMuch})
          .value();
  EXPECT_GE(plan.bytes, std::uint64_t{3} * 4 * 2147483647);
  for (const Slab& slab : plan.arena) EXPECT_LT(slab.count, std::uint64_t{1} << 32);
}

}  // namespace
}  // namespace ostraka::exact::device_plan_test
