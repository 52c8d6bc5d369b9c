// Reverse mode against finite differences of a loss in double, operation by operation and model by
// model.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "tests/unit/exact/problem.h"

namespace ostraka::exact {
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

struct OperationCase {
  const char* name;
  const char* lines;  // of declarations and instructions
};

// Each ends in a mean over weighted elements, so that no element's gradient is the same.
const OperationCase kOperationCases[] = {
    {"reshape_permute_expand",
     "parameter a f32[3,4] normal 1e+00\n"
     "parameter w f32[2,3,2,2] normal 1e+00\n"
     "%1 f32[3,2,2] = reshape a\n"
     "%2 f32[2,3,2] = permute %1 order=[2,0,1]\n"
     "%3 f32[2,3,1,2] = reshape %2\n"
     "%4 f32[2,3,2,2] = expand %3\n"
     "%5 f32[2,3,2,2] = mul %4 w\n"
     "%6 f32[24] = reshape %5\n"
     "%7 f32[] = mean %6 axis=0\n"
     "loss %7\n"},
    {"expand_last_axis_and_missing_axes",
     "parameter a f32[3,1] normal 1e+00\n"
     "parameter w f32[5,3,4] normal 1e+00\n"
     "%1 f32[5,3,4] = expand a\n"
     "%2 f32[5,3,4] = mul %1 w\n"
     "%3 f32[60] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"cat_slice",
     "parameter a f32[2,3,2] normal 1e+00\n"
     "parameter b f32[2,1,2] normal 1e+00\n"
     "parameter w f32[2,3,2] normal 1e+00\n"
     "%1 f32[2,5,2] = cat a b b axis=1\n"
     "%2 f32[2,3,2] = slice %1 axis=1 begin=1 end=4\n"
     "%3 f32[2,3,1] = slice %2 axis=2 begin=1 end=2\n"
     "%4 f32[2,3,2] = cat %3 %3 axis=2\n"
     "%5 f32[2,3,2] = mul %4 w\n"
     "%6 f32[2,3,2] = mul %5 %2\n"
     "%7 f32[12] = reshape %6\n"
     "%8 f32[] = sum %7 axis=0\n"
     "loss %8\n"},
    {"matmul",
     "parameter a f32[3,4,5] normal 1e+00\n"
     "parameter b f32[3,5,2] normal 1e+00\n"
     "%1 f32[3,4,2] = matmul a b\n"
     "%2 f32[3,4,2] = tanh %1\n"
     "%3 f32[24] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"linear",
     "parameter x f32[2,3,5] normal 1e+00\n"
     "parameter w f32[4,5] normal 1e+00\n"
     "parameter b f32[4] normal 1e+00\n"
     "%1 f32[2,3,4] = linear x w b\n"
     "%2 f32[2,3,4] = sigmoid %1\n"
     "%3 f32[24] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"arithmetic",
     "parameter a f32[7] normal 1e+00\n"
     "parameter b f32[7] normal 1e+00\n"
     "%1 f32[7] = mul b b\n"
     "%2 f32[7] = add_scalar %1 scalar=1e+00\n"
     "%3 f32[7] = div a %2\n"
     "%4 f32[7] = rsqrt %2\n"
     "%5 f32[7] = sub %3 %4\n"
     "%6 f32[7] = mul_scalar %5 scalar=-2.5e+00\n"
     "%7 f32[7] = div_scalar %6 scalar=3e+00\n"
     "%8 f32[7] = add %7 a\n"
     "%9 f32[7] = mul %8 %8\n"
     "%10 f32[] = sum %9 axis=0\n"
     "loss %10\n"},
    {"activations",
     "parameter a f32[33] normal 1e+00\n"
     "%1 f32[33] = gelu a\n"
     "%2 f32[33] = gelu_tanh %1\n"
     "%3 f32[33] = silu %2\n"
     "%4 f32[33] = tanh %3\n"
     "%5 f32[33] = sigmoid a\n"
     "%6 f32[33] = relu a\n"
     "%7 f32[33] = mul %4 %5\n"
     "%8 f32[33] = add %7 %6\n"
     "%9 f32[] = sum %8 axis=0\n"
     "loss %9\n"},
    {"sums_and_means_of_every_axis",
     "parameter a f32[3,4,5] normal 1e+00\n"
     "%1 f32[3,4,5] = mul a a\n"
     "%2 f32[4,5] = sum %1 axis=0\n"
     "%3 f32[3,5] = mean %1 axis=1\n"
     "%4 f32[3,4] = mean %1 axis=2\n"
     "%5 f32[4,5] = mul %2 %2\n"
     "%6 f32[3,5] = mul %3 %3\n"
     "%7 f32[3,4] = tanh %4\n"
     "%8 f32[20] = reshape %5\n"
     "%9 f32[15] = reshape %6\n"
     "%10 f32[12] = reshape %7\n"
     "%11 f32[47] = cat %8 %9 %10 axis=0\n"
     "%12 f32[] = mean %11 axis=0\n"
     "loss %12\n"},
    {"softmax",
     "parameter a f32[3,19] normal 1e+00\n"
     "parameter w f32[3,19] normal 1e+00\n"
     "%1 f32[3,19] = softmax a\n"
     "%2 f32[3,19] = mul %1 w\n"
     "%3 f32[57] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"cross_entropy_with_ignored_rows",
     "parameter a f32[6,5,3] normal 1e+00\n"
     "input t i32[6,5] -1 3\n"
     "%1 f32[] = cross_entropy a t\n"
     "loss %1\n"},
    {"embedding_twice",
     "parameter table f32[4,3] normal 1e+00\n"
     "input i i32[5,2] 0 4\n"
     "input j i32[10] 0 3\n"
     "%1 f32[5,2,3] = embedding table i\n"
     "%2 f32[10,3] = embedding table j\n"
     "%3 f32[10,3] = reshape %1\n"
     "%4 f32[10,3] = mul %2 %3\n"
     "%5 f32[30] = reshape %4\n"
     "%6 f32[] = sum %5 axis=0\n"
     "loss %6\n"},
    {"layer_norm",
     "parameter x f32[4,21] normal 1e+00\n"
     "parameter w f32[21] normal 1e+00\n"
     "parameter b f32[21] normal 1e+00\n"
     "%1 f32[4,21] = layer_norm x w b epsilon=1e-05\n"
     "%2 f32[4,21] = tanh %1\n"
     "%3 f32[84] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"rms_norm",
     "parameter x f32[4,21] normal 1e+00\n"
     "parameter w f32[21] normal 1e+00\n"
     "%1 f32[4,21] = rms_norm x w epsilon=1e-05\n"
     "%2 f32[4,21] = tanh %1\n"
     "%3 f32[84] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"attention_with_groups_and_mask",
     "parameter q f32[2,5,4,3] normal 1e+00\n"
     "parameter k f32[2,7,2,3] normal 1e+00\n"
     "parameter v f32[2,7,2,3] normal 1e+00\n"
     "input mask f32[5,7]\n"
     "%1 f32[2,5,4,3] = attention q k v mask causal=0 scale=7e-01\n"
     "%2 f32[2,5,4,3] = tanh %1\n"
     "%3 f32[120] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"attention_causal_beyond_one_cut",
     "parameter q f32[1,300,2,4] normal 1e+00\n"
     "parameter k f32[1,300,1,4] normal 1e+00\n"
     "parameter v f32[1,300,1,4] normal 1e+00\n"
     "%1 f32[1,300,2,4] = attention q k v causal=1 scale=5e-01\n"
     "%2 f32[1,300,2,4] = tanh %1\n"
     "%3 f32[2400] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"attention_of_one_tensor",
     "parameter x f32[1,6,1,3] normal 1e+00\n"
     "%1 f32[1,6,1,3] = attention x x x causal=1 scale=5e-01\n"
     "%2 f32[1,6,1,3] = mul %1 x\n"
     "%3 f32[18] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"parameters_that_share_a_gradient_and_one_without",
     "parameter a f32[5] normal 1e+00\n"
     "parameter b f32[5] normal 1e+00\n"
     "parameter unused f32[3] normal 1e+00\n"
     "%1 f32[5] = add a b\n"
     "%2 f32[5] = mul %1 %1\n"
     "%3 f32[] = sum %2 axis=0\n"
     "%4 f32[3] = tanh unused\n"
     "loss %3\n"},
};

class OperationOf : public ::testing::TestWithParam<OperationCase> {};

TEST_P(OperationOf, GradientIsTheSlopeOfTheLoss) {
  const auto graph = ParseGraph(std::string("ostraka-graph 1\n") + GetParam().lines);
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(CheckGraph(*graph).ok()) << CheckGraph(*graph);
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

}  // namespace
}  // namespace ostraka::exact
