// Graph files: one text a graph, and a reason in one line for every other text.
#include "exact/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/graph/infer.h"
#include "exact/graph/operations.h"
#include "exact/graph/text_numbers.h"

namespace ostraka::exact::graph_test {
namespace {

using ::testing::HasSubstr;

constexpr char kGraph[] =
    "ostraka-graph 1\n"
    "parameter table f32[5,4] normal 2e-02\n"
    "parameter weight f32[5,4] uniform 1.25e-01\n"
    "parameter bias f32[5] zeros\n"
    "parameter gain f32[4] ones\n"
    "constant mask f32[3,3] 00000000000000000000000000000000000000000000000000000000000000ab\n"
    "input tokens i32[2,3] 0 5\n"
    "input targets i32[2,3] -1 5\n"
    "input noise f32[2,3,4]\n"
    "%1 f32[2,3,4] = embedding table tokens\n"
    "%2 f32[2,3,4] = add %1 noise\n"
    "%3 f32[2,3,4] = rms_norm %2 gain epsilon=1e-05\n"
    "%4 f32[2,3,2,2] = reshape %3\n"
    "%5 f32[2,3,2,2] = attention %4 %4 %4 mask causal=1 scale=5e-01\n"
    "%6 f32[2,3,4] = reshape %5\n"
    "%7 f32[2,3,5] = linear %6 weight bias\n"
    "%8 f32[] = cross_entropy %7 targets\n"
    "loss %8\n";

// kGraph with the first `from` replaced by `to`.
std::string With(const std::string& from, const std::string& to) {
  std::string text = kGraph;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

base::Status StatusOf(const std::string& text) {
  const auto graph = ParseGraph(text);
  return graph.ok() ? CheckGraph(*graph) : graph.status();
}

void ExpectRefused(const std::string& text, const std::string& reason) {
  const base::Status status = StatusOf(text);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(base::MessageOf(status), HasSubstr(reason));
  EXPECT_EQ(base::MessageOf(status).find('\n'), std::string::npos);
}

TEST(Graph, ItsTextIsItsOnlyText) {
  const auto graph = ParseGraph(kGraph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(CheckGraph(*graph).ok()) << CheckGraph(*graph);
  EXPECT_EQ(PrintGraph(*graph), kGraph);
  EXPECT_EQ(graph->declared_count(), 8U);
  EXPECT_EQ(graph->NameOf(graph->loss), "%8");
  EXPECT_EQ(graph->parameters[1].scale, 0.125F);
  EXPECT_EQ(graph->inputs[1].lowest, -1);
  EXPECT_EQ(graph->instructions[4].attributes.scale, 0.5F);
  EXPECT_EQ(graph->instructions[4].operands.size(), 4U);
}

TEST(Graph, ItsHashNamesItsBytes) {
  EXPECT_EQ(GraphId(kGraph), GraphId(kGraph));
  EXPECT_NE(GraphId(kGraph), GraphId(With("zeros", "ones")));
}

TEST(Graph, WrongTextIsRefusedByLine) {
  ExpectRefused("", "without a loss");
  ExpectRefused("ostraka-graph 2\n", "line 1: a graph file begins with 'ostraka-graph 1'");
  ExpectRefused(std::string(kGraph) + "\n", "line 19: nothing follows the loss");
  ExpectRefused(std::string(kGraph).substr(0, sizeof(kGraph) - 2), "line 18: does not end");
  ExpectRefused(With("loss %8\n", ""), "without a loss");
  ExpectRefused(With("loss %8", "loss %9"), "line 18: '%9' is no value above");
  ExpectRefused(With("%2 f32", "%3 f32"), "line 11: the next instruction is %2");
  ExpectRefused(With("= add", "= ad"), "line 11: 'ad' is no operation of ostraka ops/2");
  ExpectRefused(With("add %1 noise", "add %2 noise"), "line 11: '%2' is no value above");
  ExpectRefused(With("add %1 noise", "add %1"), "line 11: add has another number of operands");
  ExpectRefused(With("epsilon=1e-05", "eps=1e-05"), "expected epsilon=, not 'eps=1e-05'");
  ExpectRefused(With("epsilon=1e-05", "epsilon=inf"), "'inf' is no finite number");
  ExpectRefused(With("f32[5] zeros", "f32[5] zeroes"), "'zeroes' is no initial value");
  ExpectRefused(With("f32[5] zeros", "f64[5] zeros"), "'f64[5]' is no type");
  ExpectRefused(With("f32[5] zeros", "f32[5,] zeros"), "line 4: not the canonical text");
  ExpectRefused(With("f32[5] zeros", "f32[1,1,1,1,1,1,1,1,5] zeros"), "at most 8 extents");
  ExpectRefused(With("00ab", "00a"), "is no hash of 64 hexadecimal digits");
  ExpectRefused(With("0 5\n", "0\n"), "has a lowest value and a bound");
  ExpectRefused(With("parameter gain f32[4] ones\n", "parameter bias f32[4] ones\n"),
                "'bias' is declared twice");
  ExpectRefused(
      With("input noise f32[2,3,4]\n", "input noise f32[2,3,4]\nparameter p f32[1] ones\n"),
      "in this order");
}

TEST(Graph, DrawnInputsFollowThoseOfTheData) {
  const std::string drawn = With("noise f32[2,3,4]", "noise f32[2,3,4] keep 9e-01");
  const auto graph = ParseGraph(drawn);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(CheckGraph(*graph).ok());
  EXPECT_EQ(PrintGraph(*graph), drawn);
  EXPECT_EQ(graph->given_count(), 2U);
  EXPECT_EQ(graph->inputs[2].keep, 0.9F);
  EXPECT_EQ(ParseGraph(kGraph)->given_count(), 3U);
  const auto noise = [](const std::string& words) {
    return With("noise f32[2,3,4]", "noise f32[2,3,4] " + words);
  };
  ExpectRefused(noise("keep"), "line 9: an input of integers has a lowest value and a bound");
  ExpectRefused(noise("kept 9e-01"), "line 9: an input of integers has");
  ExpectRefused(noise("keep 9e-01 1"), "line 9: an input of integers has");
  ExpectRefused(noise("keep nan"), "'nan' is no finite number");
  ExpectRefused(noise("keep 9.0e-01"), "not the canonical text; write 'input noise");
  ExpectRefused(noise("keep 0e+00"), "line 9: keep is more than 0 and less than 1");
  for (const char* const keep : {"1e+00", "-5e-01", "1.5e+00", "1e-45"}) {
    ExpectRefused(noise(std::string("keep ") + keep),
                  "noise: a drawn input has floats, and keeps more than 0 and less than 1");
  }
  ExpectRefused(With("targets i32[2,3] -1 5", "targets i32[2,3] keep 5e-01"), "is no integer");
  ExpectRefused(
      With("input noise f32[2,3,4]", "input drop f32[2] keep 5e-01\ninput noise f32[2,3,4]"),
      "noise: inputs that are drawn come after those of the data");
}

TEST(Graph, AnotherSpellingIsRefusedWithTheRightOne) {
  ExpectRefused(With("2e-02", "0.2e-01"), "line 2: not the canonical text; write 'parameter table");
  ExpectRefused(With("2e-02", "2.0e-02"), "not the canonical text");
  ExpectRefused(With("2e-02", "2E-02"), "not the canonical text");
  ExpectRefused(With("f32[5,4]", "f32[05,4]"), "not the canonical text");
  ExpectRefused(With("%1 f32", "%1  f32"), "write: %N TYPE");
  ExpectRefused(With("00ab", "00AB"), "line 6: not the canonical text");
  ExpectRefused(With("-1 5", "-01 5"), "line 8: not the canonical text");
}

TEST(Graph, WhatMeansNothingIsRefusedByValue) {
  ExpectRefused(With("%1 f32[2,3,4]", "%1 f32[2,3,5]"), "%1: its type is f32[2,3,4]");
  ExpectRefused(With("tokens i32[2,3] 0 5", "tokens i32[2,3] 0 6"), "tokens has values outside");
  ExpectRefused(With("tokens i32[2,3] 0 5", "tokens i32[2,3] -1 5"), "tokens has values outside");
  ExpectRefused(With("targets i32[2,3] -1 5", "targets i32[2,3] -1 6"), "targets has values");
  ExpectRefused(With("targets i32[2,3] -1 5", "targets i32[2,3] -2 5"), "lowest value of 0 or -1");
  ExpectRefused(With("add %1 noise", "add %1 tokens"), "%2: add takes f32 as operand 2");
  ExpectRefused(With("embedding table tokens", "embedding table noise"), "takes i32 as operand 2");
  ExpectRefused(With("causal=1", "causal=2"), "causal is 0 or 1");
  ExpectRefused(With("%4 mask", "%4 %3"), "the mask of attention is [T, S]");
  ExpectRefused(With("loss %8", "loss %7"), "the loss is f32[], not f32[2,3,5]");
  ExpectRefused(With("f32[5] zeros", "f32[0] zeros"), "bias: every extent is at least 1");
  ExpectRefused(With("f32[5] zeros", "f32[65536,65536] zeros"), "at most 2147483647 elements");
  ExpectRefused(With("f32[4] ones\n", "f32[4] ones\nparameter bi-as f32[1] ones\n"),
                "a name has 1 to 128 letters");
  ExpectRefused(With("constant mask", "constant __metadata__"), "'mask' is no value above");
  ExpectRefused(
      With("input noise f32[2,3,4]\n", "input noise f32[2,3,4]\ninput __metadata__ f32[1]\n"),
      "is not __metadata__");
}

TEST(Graph, ALossWithoutParametersIsRefused) {
  ExpectRefused(
      "ostraka-graph 1\nparameter p f32[1] ones\ninput x f32[2]\n%1 f32[] = sum x axis=0\nloss "
      "%1\n",
      "depends on no parameter");
  ExpectRefused("ostraka-graph 1\nparameter p f32[] ones\n%1 f32[] = stop_gradient p\nloss %1\n",
                "depends on no parameter");
}

TEST(Graph, AMaskThatDependsOnAParameterIsRefused) {
  const auto masked_by = [](const std::string& value) {
    return "ostraka-graph 1\nparameter p f32[1,2,1,1] ones\nparameter m f32[2,2] ones\n"
           "%1 f32[2,2] = stop_gradient m\n"
           "%2 f32[1,2,1,1] = attention p p p " +
           value +
           " causal=0 scale=1e+00\n"
           "%3 f32[2] = reshape %2\n%4 f32[] = sum %3 axis=0\nloss %4\n";
  };
  ExpectRefused(masked_by("m"), "masks have no gradient");
  EXPECT_TRUE(ParseGraph(masked_by("%1")).ok());
}

TEST(Graph, LimitsHoldBeforeAnythingIsRead) {
  ExpectRefused(std::string(kMaxGraphBytes + 1, '\n'), "at most 4194304 bytes");
  std::string lines = "ostraka-graph 1\n";
  for (std::size_t i = 1; i <= kMaxGraphLines; ++i) {
    lines += "parameter p" + std::to_string(i) + " f32[1] ones\n";
  }
  ExpectRefused(lines, "at most 65536 lines");
  std::string words = "%1 f32[1] = cat";
  for (std::size_t i = 0; i < 200; ++i) words += " p";
  ExpectRefused("ostraka-graph 1\nparameter p f32[1] ones\n" + words + " axis=0\n", "more words");
}

TEST(Graph, NumbersHaveOneText) {
  for (const float value : {0.0F, -0.0F, 1.0F, 0.02F, 1e-5F, 0x1p-149F, 3.4028235e38F, -2.5F}) {
    const auto read = ParseFloat(FloatText(value));
    ASSERT_TRUE(read) << value;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(*read), std::bit_cast<std::uint32_t>(value));
  }
  EXPECT_EQ(FloatText(0.02F), "2e-02");
  EXPECT_EQ(FloatText(0.125F), "1.25e-01");
  for (const char* wrong :
       {"", "nan", "inf", "1e999", "1", "0x1p3", "1e-02 ", " 1e-02", "+1e-02"}) {
    EXPECT_FALSE(ParseFloat(wrong)) << wrong;
  }
  for (const char* wrong : {"", "1.0", "9223372036854775808", "0x1", " 1", "+1"}) {
    EXPECT_FALSE(ParseInteger(wrong)) << wrong;
  }
}

TEST(Operations, AreFoundByTheirNames) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Op::kCount); ++i) {
    const Operation& operation = OperationOf(static_cast<Op>(i));
    EXPECT_EQ(FindOperation(operation.name), &operation);
    EXPECT_THAT(AllOperationNames(), HasSubstr(std::string(operation.name)));
  }
  EXPECT_EQ(FindOperation("save"), nullptr);
}

struct TypeCase {
  Instruction instruction;
  std::vector<TensorType> operands;
  std::string text;  // of the type, or part of the error
};

TEST(Infer, EachOperationHasItsRule) {
  const auto f = [](std::vector<std::int64_t> shape) { return TensorType{Element::kFloat, shape}; };
  const auto i = [](std::vector<std::int64_t> shape) { return TensorType{Element::kInt, shape}; };
  const std::vector<TypeCase> cases = {
      {{.op = Op::kReshape, .type = f({6})}, {f({2, 3})}, "f32[6]"},
      {{.op = Op::kReshape, .type = f({7})}, {f({2, 3})}, "another number of elements"},
      {{.op = Op::kPermute, .attributes = {.order = {1, 0}}}, {f({2, 3})}, "f32[3,2]"},
      {{.op = Op::kPermute, .attributes = {.order = {1, 1}}}, {f({2, 3})}, "no permutation"},
      {{.op = Op::kPermute, .attributes = {.order = {0}}}, {f({2, 3})}, "no permutation"},
      {{.op = Op::kExpand, .type = f({4, 2, 3})}, {f({2, 1})}, "f32[4,2,3]"},
      {{.op = Op::kExpand, .type = f({4, 3})}, {f({2, 3})}, "does not expand"},
      {{.op = Op::kExpand, .type = f({3})}, {f({1, 3})}, "does not expand"},
      {{.op = Op::kCat, .attributes = {.axis = 1}}, {f({2, 3}), f({2, 1})}, "f32[2,4]"},
      {{.op = Op::kCat, .attributes = {.axis = 0}}, {f({2, 3}), f({2, 1})}, "differ beyond axis 0"},
      {{.op = Op::kCat, .attributes = {.axis = 2}}, {f({2, 3}), f({2, 3})}, "axis 2 is none of"},
      {{.op = Op::kSlice, .attributes = {.axis = 1, .begin = 1, .end = 3}},
       {f({2, 3})},
       "f32[2,2]"},
      {{.op = Op::kSlice, .attributes = {.axis = 1, .begin = 1, .end = 4}}, {f({2, 3})}, "outside"},
      {{.op = Op::kSlice, .attributes = {.axis = 1, .begin = 2, .end = 2}}, {f({2, 3})}, "empty"},
      {{.op = Op::kStopGradient}, {f({2, 3})}, "f32[2,3]"},
      {{.op = Op::kMatmul}, {f({5, 2, 3}), f({5, 3, 4})}, "f32[5,2,4]"},
      {{.op = Op::kMatmul}, {f({5, 2, 3}), f({4, 3, 4})}, "matmul takes"},
      {{.op = Op::kMatmul}, {f({3}), f({3})}, "matmul takes"},
      {{.op = Op::kLinear}, {f({5, 2, 3}), f({7, 3})}, "f32[5,2,7]"},
      {{.op = Op::kLinear}, {f({5, 2, 3}), f({3, 7})}, "linear takes"},
      {{.op = Op::kLinear}, {f({2, 3}), f({7, 3}), f({3})}, "bias of linear"},
      {{.op = Op::kAttention}, {f({1, 2, 4, 3}), f({1, 5, 2, 3}), f({1, 5, 2, 3})}, "f32[1,2,4,3]"},
      {{.op = Op::kAttention},
       {f({1, 2, 4, 3}), f({1, 5, 3, 3}), f({1, 5, 3, 3})},
       "attention takes"},
      {{.op = Op::kAttention, .attributes = {.causal = 1}},
       {f({1, 2, 4, 3}), f({1, 5, 2, 3}), f({1, 5, 2, 3})},
       "as many queries as keys"},
      {{.op = Op::kEmbedding}, {f({5, 3}), i({2, 2})}, "f32[2,2,3]"},
      {{.op = Op::kAdd}, {f({2}), f({2})}, "f32[2]"},
      {{.op = Op::kAdd}, {f({2}), f({1})}, "differ: expand one"},
      {{.op = Op::kSum, .attributes = {.axis = 1}}, {f({2, 3, 4})}, "f32[2,4]"},
      {{.op = Op::kMean, .attributes = {.axis = -1}}, {f({2, 3})}, "axis -1 is none of"},
      {{.op = Op::kSoftmax}, {f({})}, "softmax needs an axis"},
      {{.op = Op::kCrossEntropy}, {f({2, 3, 9}), i({2, 3})}, "f32[]"},
      {{.op = Op::kCrossEntropy}, {f({2, 3, 9}), i({6})}, "cross_entropy takes"},
      {{.op = Op::kLayerNorm}, {f({2, 3}), f({3}), f({3})}, "f32[2,3]"},
      {{.op = Op::kRmsNorm}, {f({2, 3}), f({2})}, "a normalization takes"},
      {{.op = Op::kTanh}, {i({2})}, "tanh takes f32"},
      {{.op = Op::kEmbedding}, {f({65536, 32768}), i({65536})}, "elements"},
  };
  for (const TypeCase& each : cases) {
    std::vector<const TensorType*> operands;
    for (const TensorType& operand : each.operands) operands.push_back(&operand);
    const auto type = InferType(each.instruction, operands);
    EXPECT_THAT(type.ok() ? TextOf(*type) : base::MessageOf(type.status()), HasSubstr(each.text));
  }
}

}  // namespace
}  // namespace ostraka::exact::graph_test
