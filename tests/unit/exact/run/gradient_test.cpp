// Reverse mode against finite differences of a loss in double, operation by operation and model by
// model.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "exact/device/operation_cases.h"
#include "exact/models/models.h"
#include "tests/unit/exact/problem.h"

namespace ostraka::exact::gradient_test {
namespace {

using testing::DrawProblem;
using testing::Gradient;
using testing::GradientOf;
using testing::Problem;
using testing::ReferenceLoss;

double Norm(const std::vector<float>& values) {
  double square = 0;
  for (const float value : values) square += double{value} * value;
  return std::sqrt(square);
}

// The slope of the loss along `direction`, by central differences in double. The step is so small
// that no unit of relu turns on or off.
double SlopeAlong(const Problem& problem, const std::vector<double>& direction) {
  constexpr double kStep = 1e-6;
  const testing::ReferenceInputs inputs = problem.reference();
  const auto loss_at = [&](double step) {
    std::vector<double> at(problem.parameters.begin(), problem.parameters.end());
    for (std::size_t i = 0; i < at.size(); ++i) at[i] += step * direction[i];
    return ReferenceLoss(problem.graph, at, inputs);
  };
  return (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
}

// Along the gradient itself, where a wrong size shows, and along random directions, where a wrong
// element does.
void ExpectSlopes(const Problem& problem, double tolerance) {
  const Gradient gradient = GradientOf(problem);
  const std::vector<double> at(problem.parameters.begin(), problem.parameters.end());
  const double loss = ReferenceLoss(problem.graph, at, problem.reference());
  EXPECT_NEAR(gradient.loss, loss, tolerance * std::max(1.0, std::abs(loss)));
  const double norm = Norm(gradient.values);
  ASSERT_GT(norm, 0);
  std::vector<double> direction(gradient.values.begin(), gradient.values.end());
  for (double& value : direction) value /= norm;
  EXPECT_NEAR(SlopeAlong(problem, direction), norm, tolerance * norm);
  base::Rng rng(9);
  for (int draw = 0; draw < 8; ++draw) {
    double expected = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      direction[i] = rng.Normal();
      expected += direction[i] * gradient.values[i];
    }
    // A random direction has a length of sqrt(count), its share of the gradient a size of norm.
    EXPECT_NEAR(SlopeAlong(problem, direction), expected,
                tolerance * norm * std::sqrt(static_cast<double>(direction.size())));
  }
}

class OperationOf : public ::testing::TestWithParam<OperationCase> {};

TEST_P(OperationOf, GradientIsTheSlopeOfTheLoss) {
  const auto graph = GraphOf(GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (std::uint64_t seed = 0; seed < 4; ++seed) ExpectSlopes(DrawProblem(*graph, seed), 3e-5);
}

INSTANTIATE_TEST_SUITE_P(Gradient, OperationOf, ::testing::ValuesIn(kOperationCases),
                         [](const auto& each) { return std::string(each.param.name); });

ModelOptions Small(const std::string& model) {
  return {.model = model,
          .batch = 2,
          .layers = 2,
          .width = 12,
          .heads = 2,
          .groups = model == "llama" ? 1 : 0,
          .context = 7,
          .vocabulary = 11,
          .channels = 2,
          .side = 6,
          .patch = 3,
          .features = 9,
          .hidden = 8,
          .classes = 5};
}

class ModelOf : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelOf, GradientIsTheSlopeOfTheLoss) {
  const auto model = MakeModel(Small(GetParam()));
  ASSERT_TRUE(model.ok()) << model.status();
  ExpectSlopes(DrawProblem(model->graph, 1, 0.3F, model->constants), 3e-5);
}

TEST_P(ModelOf, WithLoraOnlyFactorsHaveGradients) {
  const std::string name = GetParam();
  if (name == "mlp" || name == "softmax") GTEST_SKIP() << "LoRA is for transformers";
  ModelOptions options = Small(name);
  const Model base = MakeModel(options).value();
  for (const Parameter& parameter : base.graph.parameters) {
    options.base[parameter.name] = base::Digest{};
  }
  options.lora_rank = 3;
  const auto model = MakeModel(options);
  ASSERT_TRUE(model.ok()) << model.status();
  for (const Parameter& parameter : model->graph.parameters) {
    EXPECT_NE(parameter.name.find(".lora_"), std::string::npos) << parameter.name;
  }
  ExpectSlopes(DrawProblem(model->graph, 1, 0.3F, model->constants), 3e-5);
}

INSTANTIATE_TEST_SUITE_P(Gradient, ModelOf,
                         ::testing::Values("gpt", "llama", "albert", "vit", "mlp", "softmax"),
                         [](const auto& each) { return std::string(each.param); });

// What stop_gradient gives is to the gradient what an input of the same values is.
TEST(StopGradient, PassesNone) {
  const auto problem_of = [](const std::string& input, const std::string& first) {
    const auto graph = ParseGraph("ostraka-graph 1\nparameter p f32[6] normal 1e+00\n" + input +
                                  "%1 f32[6] = " + first +
                                  "\n%2 f32[6] = tanh %1\n%3 f32[6] = mul p %2\n"
                                  "%4 f32[] = sum %3 axis=0\nloss %4\n");
    return DrawProblem(graph.value(), 5);
  };
  const Problem stopped = problem_of("", "stop_gradient p");
  Problem given = problem_of("input x f32[6]\n", "mul_scalar x scalar=1e+00");
  given.floats = {stopped.parameters};
  const Gradient found = GradientOf(stopped);
  EXPECT_EQ(found.values, GradientOf(given).values);
  EXPECT_EQ(found.loss, GradientOf(given).loss);
  EXPECT_NE(found.values, GradientOf(problem_of("", "mul_scalar p scalar=1e+00")).values);
}

}  // namespace
}  // namespace ostraka::exact::gradient_test
