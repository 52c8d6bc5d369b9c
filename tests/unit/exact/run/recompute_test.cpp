// Programs that compute parts of the forward pass twice give the gradients of those that do not.
#include "exact/program/recompute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "exact/program/differentiate.h"
#include "exact/run/runner.h"
#include "tests/unit/exact/model_digests.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::exact::recompute_test {
namespace {

using testing::DigestProblems;
using testing::Gradient;
using testing::NamedProblem;
using testing::Problem;

Gradient GradientBy(PlannedProgram plan, const Problem& problem) {
  const aggregation::SerialExecutor executor;
  Runner runner(std::move(plan), problem.constants, BestKernels(), executor);
  Gradient result;
  result.values.resize(problem.parameters.size());
  result.loss = runner.Gradient(problem.parameters, problem.inputs(), result.values).value();
  return result;
}

void ExpectSame(const Gradient& found, const Gradient& expected, const std::string& what) {
  EXPECT_EQ(std::bit_cast<std::uint32_t>(found.loss), std::bit_cast<std::uint32_t>(expected.loss))
      << what;
  EXPECT_TRUE(std::ranges::equal(base::AsBytes(std::span<const float>(found.values)),
                                 base::AsBytes(std::span<const float>(expected.values))))
      << what;
}

TEST(RecomputedBits, OfEachCutAreThoseOfThePlainProgram) {
  for (const NamedProblem& each : DigestProblems()) {
    const Program program = Differentiate(each.problem.graph);
    const Gradient expected = GradientBy(PlanMemory(program, {}, 1).value(), each.problem);
    for (std::size_t cut = 1; cut < program.forward_steps; cut += 1 + program.forward_steps / 40) {
      const std::vector<std::size_t> cuts = {cut};
      ExpectSame(GradientBy(PlanMemory(Recompute(program, cuts), {}, 1).value(), each.problem),
                 expected, each.name + " cut at " + std::to_string(cut));
    }
  }
}

TEST(RecomputedBits, OfManyCutsAreThoseOfThePlainProgram) {
  base::Rng rng(51);
  for (const NamedProblem& each : DigestProblems()) {
    const Program program = Differentiate(each.problem.graph);
    const Gradient expected = GradientBy(PlanMemory(program, {}, 1).value(), each.problem);
    ExpectSame(GradientBy(PlanLeastMemory(program, {}, 1).value(), each.problem), expected,
               each.name + " with the least memory");
    for (int draw = 0; draw < 5; ++draw) {
      std::set<std::size_t> drawn;
      for (std::size_t i = 0; i < 6; ++i) drawn.insert(1 + rng.Below(program.forward_steps - 1));
      const std::vector<std::size_t> cuts(drawn.begin(), drawn.end());
      ExpectSame(GradientBy(PlanMemory(Recompute(program, cuts), {}, 1).value(), each.problem),
                 expected, each.name + " draw " + std::to_string(draw));
    }
  }
}

}  // namespace
}  // namespace ostraka::exact::recompute_test
