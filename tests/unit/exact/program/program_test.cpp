// What a program costs and where its buffers lie.
#include "exact/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "exact/program/cost.h"
#include "exact/program/differentiate.h"
#include "exact/program/plan.h"
#include "exact/program/recompute.h"

namespace ostraka::exact::program_test {
namespace {

using ::testing::HasSubstr;

PlannedProgram PlanOf(const ModelOptions& options, std::size_t threads = 1,
                      const PlanLimits& limits = {}) {
  return PlanMemory(Differentiate(MakeModel(options).value().graph), limits, threads).value();
}

// What each element of the arena holds, written and read as the steps do.
class ArenaWatch {
 public:
  explicit ArenaWatch(const PlannedProgram& plan)
      : plan_(plan), owner_(plan.arena_elements, kNobody) {}

  void RunAll() {
    for (std::size_t s = 0; s < plan_.program.steps.size(); ++s) {
      const Step& step = plan_.program.steps[s];
      for (const BufferId id : step.reads) ExpectHeld(id, s);
      const std::size_t floats = ScratchOf(step, plan_.threads);
      Write(plan_.scratch[s], floats, kNobody);
      for (const BufferId id : step.reads) {
        if (floats > 0) ExpectHeld(id, s);
      }
      for (const BufferId id : step.writes) {
        const Buffer& buffer = plan_.program.buffers[id];
        if (buffer.place == Place::kArena) Write(buffer.offset, buffer.count, id);
      }
      // An elementwise step may write over its operands; any other may not.
      if (!std::holds_alternative<MapStep>(step.kind) &&
          !std::holds_alternative<AddRowStep>(step.kind) &&
          !std::holds_alternative<SoftmaxStep>(step.kind) &&
          !std::holds_alternative<SoftmaxBackwardStep>(step.kind)) {
        for (const BufferId id : step.reads) ExpectHeld(id, s);
      }
      for (const BufferId id : step.writes) ExpectHeld(id, s);
    }
    ExpectHeld(plan_.program.loss, plan_.program.steps.size());
    ASSERT_TRUE(plan_.program.logits.has_value());
    ExpectHeld(*plan_.program.logits, plan_.program.steps.size());
  }

 private:
  static constexpr std::int64_t kNobody = -1;

  void Write(std::size_t offset, std::size_t count, std::int64_t owner) {
    ASSERT_LE(offset + count, owner_.size());
    for (std::size_t i = offset; i < offset + count; ++i) owner_[i] = owner;
  }
  void ExpectHeld(BufferId id, std::size_t step) {
    const Buffer& buffer = plan_.program.buffers[id];
    if (buffer.place != Place::kArena) return;
    ASSERT_LE(buffer.offset + buffer.count, owner_.size());
    for (std::size_t i = buffer.offset; i < buffer.offset + buffer.count; ++i) {
      ASSERT_EQ(owner_[i], static_cast<std::int64_t>(id)) << "at step " << step;
    }
  }

  const PlannedProgram& plan_;
  std::vector<std::int64_t> owner_;
};

const ModelOptions kSmall = {.layers = 2, .width = 16, .heads = 2, .context = 9, .vocabulary = 13};

TEST(Plan, EveryBufferIsWholeWhenItIsRead) {
  for (const char* model : {"gpt", "llama", "albert", "vit", "mlp", "softmax"}) {
    for (const std::size_t threads : {1, 3}) {
      ModelOptions options = kSmall;
      options.model = model;
      const PlannedProgram plan = PlanOf(options, threads);
      ArenaWatch(plan).RunAll();
    }
  }
}

TEST(Recompute, EveryBufferIsWholeWhenItIsRead) {
  for (const char* model : {"gpt", "llama", "albert", "vit", "mlp", "softmax"}) {
    ModelOptions options = kSmall;
    options.model = model;
    const Program program = Differentiate(MakeModel(options).value().graph);
    for (std::size_t cut = 1; cut < program.forward_steps; ++cut) {
      const std::vector<std::size_t> cuts = {cut};
      ArenaWatch(PlanMemory(Recompute(program, cuts), {}, 1).value()).RunAll();
    }
    ArenaWatch(PlanLeastMemory(program, {}, 3).value()).RunAll();
  }
}

// Of a deep model each layer's activations are alive alone, beside what goes from layer to layer.
TEST(Recompute, TakesAThirdOfADeepModelsMemoryForAThirdMoreTime) {
  ModelOptions options = kSmall;
  options.layers = 24;
  const Program program = Differentiate(MakeModel(options).value().graph);
  const PlannedProgram plain = PlanMemory(program, {}, 1).value();
  const PlannedProgram least = PlanLeastMemory(program, {}, 1).value();
  EXPECT_LT(least.arena_elements, plain.arena_elements / 3);
  EXPECT_LT(least.operations, plain.operations / 3 * 4);
  EXPECT_EQ(least.program.forward_steps, plain.program.forward_steps);
}

TEST(Recompute, WithoutCutsChangesNothing) {
  const Program program = Differentiate(MakeModel(kSmall).value().graph);
  const Program same = Recompute(program, {});
  EXPECT_EQ(same.steps.size(), program.steps.size());
  EXPECT_EQ(same.buffers.size(), program.buffers.size());
}

// A limit that the plain plan breaks may be kept.
TEST(Recompute, MakesAModelFitThatWouldNot) {
  ModelOptions options = kSmall;
  options.layers = 24;
  const Program program = Differentiate(MakeModel(options).value().graph);
  const PlanLimits limits = {.max_bytes = PlanMemory(program, {}, 1)->peak_bytes - 1};
  EXPECT_FALSE(PlanMemory(program, limits, 1).ok());
  EXPECT_TRUE(PlanLeastMemory(program, limits, 1).ok());
  const auto refused = PlanLeastMemory(program, {.max_bytes = 1000}, 1);
  EXPECT_THAT(base::MessageOf(refused.status()), HasSubstr("more than the limit of 1000"));
}

TEST(Plan, NoBufferLiesInTwoSlabs) {
  for (const char* model : {"gpt", "llama", "mlp"}) {
    ModelOptions options = kSmall;
    options.model = model;
    std::size_t largest = 0;
    for (const Buffer& buffer : PlanOf(options).program.buffers) {
      if (buffer.place == Place::kArena) largest = std::max(largest, buffer.count);
    }
    for (const std::size_t more : {std::size_t{15}, largest / 2}) {
      const std::size_t slab = (largest + more) / 16 * 16;
      const PlannedProgram plan = PlanOf(options, 1, {.slab_elements = slab});
      ArenaWatch(plan).RunAll();
      for (const Buffer& buffer : plan.program.buffers) {
        if (buffer.place != Place::kArena) continue;
        EXPECT_EQ(buffer.offset / slab, (buffer.offset + buffer.count - 1) / slab);
      }
      EXPECT_GT(plan.arena_elements, slab) << "one slab shows nothing";
    }
  }
}

TEST(Plan, RefusesABufferLargerThanASlab) {
  const Program program = Differentiate(MakeModel(kSmall).value().graph);
  const auto plan = PlanMemory(program, {.slab_elements = 16}, 1);
  EXPECT_THAT(base::MessageOf(plan.status()), HasSubstr("larger than a slab of 64"));
}

TEST(Plan, BuffersThatDoNotLiveTogetherShareMemory) {
  const PlannedProgram plan = PlanOf(kSmall);
  std::size_t all = 0;
  for (const Buffer& buffer : plan.program.buffers) {
    if (buffer.place == Place::kArena) all += buffer.count;
  }
  EXPECT_LT(plan.arena_elements, all / 2);
}

TEST(Plan, CountsOperationsOfProducts) {
  const auto graph = ParseGraph(
      "ostraka-graph 1\nparameter w f32[3,5] ones\ninput x f32[7,5]\ninput t i32[7] 0 3\n"
      "%1 f32[7,3] = linear x w\n%2 f32[] = cross_entropy %1 t\nloss %2\n");
  const Program program = Differentiate(graph.value());
  std::uint64_t products = 0;
  for (const Step& step : program.steps) {
    if (std::holds_alternative<ProductStep>(step.kind)) products += OperationsOf(program, step);
  }
  // Forward and the weight's gradient; x needs none.
  EXPECT_EQ(products, 2 * (2 * 7 * 3 * 5));
}

TEST(Plan, RefusesWhatIsBeyondTheLimits) {
  const std::string text = PrintGraph(MakeModel(kSmall).value().graph);
  EXPECT_TRUE(PrepareGraph(text, {}, 1).ok());
  const auto memory = PrepareGraph(text, {.max_bytes = 1 << 20}, 1);
  EXPECT_THAT(base::MessageOf(memory.status()), HasSubstr("more than the limit of 1048576"));
  const auto operations = PrepareGraph(text, {.max_operations = 1000}, 1);
  EXPECT_THAT(base::MessageOf(operations.status()), HasSubstr("more than the limit of 1000"));
  EXPECT_FALSE(PrepareGraph("ostraka-graph 1\n", {}, 1).ok());
}

TEST(Plan, NamesSizesThatNoMachineHas) {
  // Every tensor is within its limit; the scores of attention are 2^60 operations.
  const auto plan = PrepareGraph(
      "ostraka-graph 1\nparameter q f32[1,2000000000,1,1] ones\n"
      "%1 f32[1,2000000000,1,1] = attention q q q causal=1 scale=1e+00\n"
      "%2 f32[2000000000] = reshape %1\n%3 f32[] = sum %2 axis=0\nloss %3\n",
      {}, 1);
  EXPECT_THAT(base::MessageOf(plan.status()), HasSubstr("more than the limit"));
}

TEST(Differentiate, LeavesOutWhatTheLossDoesNotNeed) {
  const auto graph = ParseGraph(
      "ostraka-graph 1\nparameter a f32[4] ones\nparameter b f32[4] ones\ninput x f32[4]\n"
      "%1 f32[4] = tanh b\n%2 f32[4] = mul a x\n%3 f32[] = sum %2 axis=0\nloss %3\n");
  const Program program = Differentiate(graph.value());
  EXPECT_EQ(program.forward_steps, 2U);  // mul, sum
  EXPECT_EQ(program.parameter_count, 8U);
}

TEST(Differentiate, WritesEveryElementOfTheGradientOnce) {
  for (const char* model : {"gpt", "llama", "albert", "vit", "mlp", "softmax"}) {
    ModelOptions options = kSmall;
    options.model = model;
    const Program program = Differentiate(MakeModel(options).value().graph);
    std::map<std::size_t, std::size_t> ranges;
    for (const Buffer& buffer : program.buffers) {
      if (buffer.place == Place::kGradient) ranges[buffer.offset] = buffer.count;
    }
    std::size_t next = 0;
    for (const auto& [offset, count] : ranges) {
      EXPECT_EQ(offset, next) << model;
      next = offset + count;
    }
    EXPECT_EQ(next, program.parameter_count) << model;
  }
}

}  // namespace
}  // namespace ostraka::exact::program_test
