#include "exact/models/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/models/graph_builder.h"
#include "exact/models/rotary.h"

namespace ostraka::exact::models_test {
namespace {

using ::testing::HasSubstr;

std::int64_t ParametersOf(const Graph& graph) {
  std::int64_t count = 0;
  for (const Parameter& parameter : graph.parameters) count += parameter.type.count();
  return count;
}

TEST(Models, HaveTheirWellKnownSizes) {
  // 12 L d^2 + 13 L d (biases, norms) + (V + T) d + 2 d.
  const auto gpt = MakeModel({.model = "gpt", .layers = 4, .width = 256, .context = 128}).value();
  EXPECT_EQ(ParametersOf(gpt.graph), 12 * 4 * 256 * 256 + 13 * 4 * 256 + (256 + 128) * 256 + 512);
  const auto albert = MakeModel({.model = "albert", .layers = 4, .width = 256}).value();
  EXPECT_EQ(ParametersOf(albert.graph), 12 * 256 * 256 + 13 * 256 + (256 + 64) * 256 + 512);
  EXPECT_EQ(ParametersOf(MakeModel({.model = "mlp"}).value().graph), 4810);
  EXPECT_EQ(ParametersOf(MakeModel({.model = "softmax"}).value().graph), 650);
}

TEST(Models, AreCanonicalGraphs) {
  std::set<std::string> texts;
  for (const char* name : {"gpt", "llama", "albert", "vit", "mlp", "softmax"}) {
    const Model model = MakeModel({.model = name}).value();
    const std::string text = PrintGraph(model.graph);
    const auto again = ParseGraph(text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, model.graph) << name;
    EXPECT_TRUE(texts.insert(text).second);
    for (const ConstantTensor& tensor : model.constants) {
      EXPECT_THAT(text, HasSubstr(tensor.name + " "));
      EXPECT_THAT(text, HasSubstr(HashOfConstant(tensor.values).Hex()));
    }
  }
}

TEST(Models, WrongSizesAreRefusedInOneLine) {
  const auto reason = [](const ModelOptions& options) {
    return base::MessageOf(MakeModel(options).status());
  };
  EXPECT_THAT(reason({.model = "gtp"}), HasSubstr("unknown model 'gtp'; did you mean 'gpt'?"));
  EXPECT_THAT(reason({.width = 130, .heads = 4}), HasSubstr("multiple of the heads"));
  EXPECT_THAT(reason({.model = "llama", .width = 12, .heads = 4}), HasSubstr("even"));
  EXPECT_THAT(reason({.model = "llama", .groups = 3}), HasSubstr("multiple of the groups"));
  EXPECT_THAT(reason({.model = "vit", .side = 28, .patch = 5}), HasSubstr("multiple of the patch"));
  EXPECT_THAT(reason({.batch = 0}), HasSubstr("sizes of a model"));
  EXPECT_THAT(reason({.layers = 1000}), HasSubstr("at most 256 layers"));
  EXPECT_THAT(reason({.lora_rank = 4}), HasSubstr("the base has no tensor wte.weight"));
  EXPECT_THAT(reason({.model = "mlp", .lora_rank = 4}), HasSubstr("LoRA is for"));
  EXPECT_THAT(reason({.batch = 1 << 24, .context = 1 << 10}), HasSubstr("elements"));
}

TEST(Rotary, AnglesAreThoseOfTheDefinition) {
  const RotaryTables tables = MakeRotaryTables(600, 16);
  ASSERT_EQ(tables.cosines.size(), 600U * 16);
  for (std::size_t t = 0; t < 600; ++t) {
    for (std::size_t i = 0; i < 16; ++i) {
      const double angle = static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(i) / 16);
      EXPECT_NEAR(tables.cosines[t * 16 + i], std::cos(angle), 1e-7);
      EXPECT_NEAR(tables.sines[t * 16 + i], std::sin(angle), 1e-7);
    }
  }
}

TEST(GraphBuilder, DeclarationsMayComeLate) {
  GraphBuilder builder;
  const Node x = builder.AddFloats("x", {2});
  const Node a = builder.AddParameter({.name = "a", .type = {Element::kFloat, {2}}});
  const Node product = builder.Apply(Op::kMul, {x, a});
  const Node b = builder.AddParameter({.name = "b", .type = {Element::kFloat, {2}}});
  const Node sum = builder.Apply(Op::kSum, {builder.Apply(Op::kAdd, {product, b})}, {.axis = 0});
  const Graph graph = builder.Finish(sum);
  EXPECT_TRUE(CheckGraph(graph).ok()) << CheckGraph(graph);
  EXPECT_THAT(PrintGraph(graph), HasSubstr("%1 f32[2] = mul x a\n%2 f32[2] = add %1 b\n"));
}

}  // namespace
}  // namespace ostraka::exact::models_test
