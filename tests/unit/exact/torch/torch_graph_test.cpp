// Exact gradients against libtorch's autograd over one graph.
#include "node/train/torch/torch_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "exact/device/operation_cases.h"
#include "tests/unit/exact/model_digests.h"
#include "tests/unit/exact/torch/torch_problem.h"

namespace ostraka::exact::torch_graph_test {
namespace {

using testing::Gradient;

// |a - b| / |b|.
double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  double square = 0;
  double whole = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    square += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    whole += double{b[i]} * b[i];
  }
  return std::sqrt(square / whole);
}

TEST(TorchGraph, GradientsOfModelsAgree) {
  for (const testing::NamedProblem& each : testing::DigestProblems()) {
    if (each.name == "gpt_nan") continue;
    const Gradient ours = testing::GradientOf(each.problem);
    const Gradient theirs = testing::TorchGradientOf(each.problem);
    ASSERT_EQ(ours.values.size(), theirs.values.size());
    EXPECT_NEAR(ours.loss, theirs.loss, 1e-6 * theirs.loss) << each.name;
    const double difference = Difference(ours.values, theirs.values);
    EXPECT_LT(difference, 2e-6) << each.name;
    RecordProperty(each.name, std::to_string(difference));
    std::printf("%-14s relative difference of gradients %.2e\n", each.name.c_str(), difference);
  }
}

TEST(TorchGraph, GradientsOfOperationsAgree) {
  for (const OperationCase& each : kOperationCases) {
    const Graph graph = GraphOf(each).value();
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const testing::Problem problem = testing::DrawProblem(graph, seed);
      const Gradient ours = testing::GradientOf(problem);
      const Gradient theirs = testing::TorchGradientOf(problem);
      EXPECT_NEAR(ours.loss, theirs.loss, 2e-5 * std::max(1.0F, std::abs(theirs.loss)))
          << each.name;
      EXPECT_LT(Difference(ours.values, theirs.values), 3e-6) << each.name;
    }
  }
}

TEST(TorchGraph, LogitsAreWhatTheLossIsTakenOf) {
  const testing::NamedProblem mlp = testing::DigestProblems()[4];
  ASSERT_EQ(mlp.name, "mlp");
  train::TorchGraph graph = testing::TorchGraphOf(mlp.problem, 1);
  graph.Run();
  const std::vector<float> first(graph.logits().begin(), graph.logits().end());
  const float loss = graph.loss();
  graph.RunForward();
  EXPECT_EQ(graph.loss(), loss);
  EXPECT_EQ(first, std::vector<float>(graph.logits().begin(), graph.logits().end()));
  auto plan = PlanMemory(Differentiate(mlp.problem.graph), {}, 1);
  const aggregation::SerialExecutor executor;
  Runner runner(*std::move(plan), mlp.problem.constants, BestKernels(), executor);
  ASSERT_TRUE(runner.Loss(mlp.problem.parameters, mlp.problem.inputs()).ok());
  const auto logits = runner.Logits();
  EXPECT_LT(Difference(first, {logits.begin(), logits.end()}), 2e-6);

  // Of a parameter there are none.
  for (const OperationCase& each : kOperationCases) {
    train::TorchGraph other =
        testing::TorchGraphOf(testing::DrawProblem(GraphOf(each).value(), 1), 1);
    other.RunForward();
    EXPECT_TRUE(other.logits().empty()) << each.name;
  }
}

}  // namespace
}  // namespace ostraka::exact::torch_graph_test
