#include "exact/device/conformance_cases.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>

#include "exact/device/operation_cases.h"
#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/program/differentiate.h"
#include "node/base/check.h"
#include "node/base/rng.h"

namespace ostraka::exact {
namespace {

using base::Rng;

enum class Values : std::uint8_t { kOrdinary, kTiny, kWild };
constexpr Values kAllValues[] = {Values::kOrdinary, Values::kTiny, Values::kWild};

const char* NameOf(Values values) {
  switch (values) {
    case Values::kOrdinary:
      return "ordinary values";
    case Values::kTiny:
      return "tiny values";
    case Values::kWild:
      return "wild values";
  }
  return "";
}

float PowerOfTwo(std::int64_t exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(127 + exponent) << 23);
}

// Tiny: products of two are subnormal or +-0. Wild: of all sizes, one in 20 special.
float Draw(Rng& rng, Values values) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kSpecials[] = {
      0.0F,       -0.0F,     kInfinity,       -kInfinity,    0x1p-149F,
      -0x1p-130F, 0x1p-126F, 0x1.fffffep127F, kCanonicalNan, std::bit_cast<float>(0xffc12345U)};
  const auto normal = static_cast<float>(rng.Normal());
  if (values == Values::kOrdinary) return normal;
  if (values == Values::kTiny) return normal * PowerOfTwo(rng.Between(-80, -60));
  if (rng.Chance(1, 20)) return kSpecials[rng.Below(std::size(kSpecials))];
  return normal * PowerOfTwo(rng.Between(-40, 40));
}

std::vector<float> DrawAll(Rng& rng, Values values, std::int64_t count) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& value : all) value = Draw(rng, values);
  return all;
}

CaseInputs DrawInputs(Rng& rng, Values values, const Graph& graph) {
  CaseInputs inputs;
  for (const Input& input : graph.inputs) {
    const bool of_integers = input.type.element == Element::kInt;
    inputs.floats.push_back(of_integers ? std::vector<float>{}
                                        : DrawAll(rng, values, input.type.count()));
    std::vector<std::int32_t> integers;
    for (std::int64_t i = 0; of_integers && i < input.type.count(); ++i) {
      integers.push_back(static_cast<std::int32_t>(rng.Between(input.lowest, input.bound - 1)));
    }
    inputs.integers.push_back(std::move(integers));
  }
  return inputs;
}

Graph ParseCase(const std::string& lines) {
  auto graph = ParseGraph("ostraka-graph 1\n" + lines);
  OSTRAKA_CHECK(graph.ok() && CheckGraph(*graph).ok());
  return *std::move(graph);
}

ConformanceCase DrawCase(const std::string& name, const std::string& lines, Values values,
                         std::uint64_t seed) {
  const Graph graph = ParseCase(lines);
  Rng rng = Rng(seed).Fork(name, static_cast<std::uint64_t>(values));
  ConformanceCase drawn{.name = name + ", " + NameOf(values), .program = Differentiate(graph)};
  drawn.parameters = DrawAll(rng, values, static_cast<std::int64_t>(drawn.program.parameter_count));
  // Small ones show that gradients are added, large ones take long.
  const std::size_t micro_batches = drawn.parameters.size() < 1000 ? 3 : 1;
  for (std::size_t i = 0; i < micro_batches; ++i) {
    drawn.micro_batches.push_back(DrawInputs(rng, values, graph));
  }
  return drawn;
}

std::string Shape(std::initializer_list<std::uint64_t> extents) {
  std::string text = "f32[";
  for (const std::uint64_t extent : extents) {
    text += (text.back() == '[' ? "" : ",") + std::to_string(extent);
  }
  return text + "]";
}

std::string Declared(const std::string& name, const std::string& shape) {
  return "parameter " + name + " " + shape + " normal 1e+00\n";
}

// The declaration of `weights`, and the loss: the sum of %`last`'s elements times these.
struct Weighted {
  std::string declaration;
  std::string loss;
};
Weighted WeightedSum(std::initializer_list<std::uint64_t> extents, int last) {
  const std::string shape = Shape(extents);
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents) count *= extent;
  const auto value = [&](int more) { return "%" + std::to_string(last + more); };
  return {Declared("weights", shape), value(1) + " " + shape + " = mul " + value(0) + " weights\n" +
                                          value(2) + " " + Shape({count}) + " = reshape " +
                                          value(1) + "\n" + value(3) + " f32[] = sum " + value(2) +
                                          " axis=0\nloss " + value(3) + "\n"};
}

std::string LinearOf(std::uint64_t rows, std::uint64_t depth, std::uint64_t columns) {
  const Weighted sum = WeightedSum({rows, columns}, 1);
  return Declared("x", Shape({rows, depth})) + Declared("w", Shape({columns, depth})) +
         Declared("b", Shape({columns})) + sum.declaration + "%1 " + Shape({rows, columns}) +
         " = linear x w b\n" + sum.loss;
}

std::string NormOf(std::uint64_t rows, std::uint64_t width, bool centered) {
  const Weighted sum = WeightedSum({rows, width}, 1);
  return Declared("x", Shape({rows, width})) + Declared("w", Shape({width})) +
         (centered ? Declared("b", Shape({width})) : "") + sum.declaration + "%1 " +
         Shape({rows, width}) + (centered ? " = layer_norm x w b" : " = rms_norm x w") +
         " epsilon=1e-05\n" + sum.loss;
}

// A sum over the middle axis.
std::string SumOf(std::uint64_t outer, std::uint64_t count, std::uint64_t inner) {
  const Weighted sum = WeightedSum({outer, inner}, 2);
  const std::string shape = Shape({outer, count, inner});
  return Declared("x", shape) + sum.declaration + "%1 " + shape + " = mul x x\n%2 " +
         Shape({outer, inner}) + " = sum %1 axis=1\n" + sum.loss;
}

// Graphs of one operation each, with drawn extents.
class Drawn {
 public:
  explicit Drawn(Rng rng) : rng_(rng) {}

  std::string Linear() {
    const std::uint64_t rows = UpTo(90), depth = UpTo(50), columns = UpTo(90);
    return LinearOf(rows, depth, columns);
  }
  std::string Matmul() {
    const std::uint64_t batch = UpTo(3), rows = UpTo(70), depth = UpTo(50), columns = UpTo(70);
    const Weighted sum = WeightedSum({batch, rows, columns}, 1);
    return Declared("x", Shape({batch, rows, depth})) +
           Declared("w", Shape({batch, depth, columns})) + sum.declaration + "%1 " +
           Shape({batch, rows, columns}) + " = matmul x w\n" + sum.loss;
  }
  std::string Attention() {
    const std::uint64_t batch = UpTo(2), groups = UpTo(2), per_group = UpTo(3), width = UpTo(20);
    const std::uint64_t queries = UpTo(90);
    const std::uint64_t keys = rng_.Chance(1, 2) ? queries : UpTo(90);
    const bool causal = queries == keys && rng_.Chance(2, 3);
    const Weighted sum = WeightedSum({batch, queries, groups * per_group, width}, 1);
    const std::string of_queries = Shape({batch, queries, groups * per_group, width});
    const std::string of_keys = Shape({batch, keys, groups, width});
    return Declared("q", of_queries) + Declared("k", of_keys) + Declared("v", of_keys) +
           sum.declaration + "%1 " + of_queries +
           " = attention q k v causal=" + (causal ? "1" : "0") + " scale=5e-01\n" + sum.loss;
  }
  std::string Norm(bool centered) {
    const std::uint64_t rows = UpTo(60), width = UpTo(70);
    return NormOf(rows, width, centered);
  }
  std::string CrossEntropy() {
    const std::uint64_t rows = UpTo(60), width = UpTo(70);
    return Declared("a", Shape({rows, width})) + "input t i32[" + std::to_string(rows) + "] -1 " +
           std::to_string(width) + "\n%1 f32[] = cross_entropy a t\nloss %1\n";
  }
  std::string Embedding() {
    const std::uint64_t table = UpTo(40), positions = UpTo(90), width = UpTo(30);
    const Weighted sum = WeightedSum({positions, width}, 1);
    return Declared("table", Shape({table, width})) + sum.declaration + "input i i32[" +
           std::to_string(positions) + "] 0 " + std::to_string(table) + "\n%1 " +
           Shape({positions, width}) + " = embedding table i\n" + sum.loss;
  }
  std::string Softmax() {
    const std::uint64_t rows = UpTo(60), width = UpTo(70);
    const Weighted sum = WeightedSum({rows, width}, 1);
    return Declared("a", Shape({rows, width})) + sum.declaration + "%1 " + Shape({rows, width}) +
           " = softmax a\n" + sum.loss;
  }
  std::string Unary() {
    static constexpr const char* kNames[] = {"gelu",    "gelu_tanh", "silu", "tanh",
                                             "sigmoid", "relu",      "rsqrt"};
    const std::uint64_t rows = UpTo(40), width = UpTo(40);
    const std::string shape = Shape({rows, width});
    const Weighted sum = WeightedSum({rows, width}, 2);
    return Declared("a", shape) + sum.declaration + "%1 " + shape + " = " +
           kNames[rng_.Below(std::size(kNames))] + " a\n%2 " + shape + " = div %1 weights\n" +
           sum.loss;
  }

 private:
  std::uint64_t UpTo(std::uint64_t most) { return 1 + rng_.Below(most); }

  Rng rng_;
};

void AppendDrawn(std::vector<ConformanceCase>& cases, std::uint64_t seed, Values values) {
  Drawn drawn(Rng(seed).Fork("extents", static_cast<std::uint64_t>(values)));
  const auto append = [&](const std::string& name, const std::string& lines) {
    cases.push_back(DrawCase("drawn " + name + " " + std::to_string(seed), lines, values, seed));
  };
  append("layer_norm", drawn.Norm(true));
  append("rms_norm", drawn.Norm(false));
  append("cross_entropy", drawn.CrossEntropy());
  append("embedding", drawn.Embedding());
  append("softmax", drawn.Softmax());
  append("unary", drawn.Unary());
  const std::size_t others = cases.size();
  append("linear", drawn.Linear());
  append("matmul", drawn.Matmul());
  append("attention", drawn.Attention());
  for (std::size_t i = others; i < cases.size(); ++i) cases[i].of_products = true;
}

// Parameters in the order of their declaration, each `count` times `value`.
struct Run {
  std::size_t count = 0;
  float value = 0;
};
ConformanceCase Chosen(const std::string& name, const std::string& lines,
                       std::initializer_list<Run> parameters, const CaseInputs& inputs = {}) {
  ConformanceCase chosen{.name = name, .program = Differentiate(ParseCase(lines))};
  for (const Run& run : parameters) {
    chosen.parameters.insert(chosen.parameters.end(), run.count, run.value);
  }
  OSTRAKA_CHECK(chosen.parameters.size() == chosen.program.parameter_count);
  chosen.micro_batches.push_back(inputs);
  chosen.of_products = true;
  return chosen;
}

// Chains whose products underflow to -0. One step more, fma(+0, +0, -0), makes them +0. No extent
// is a multiple of a tile's.
void AppendChains(std::vector<ConformanceCase>& cases) {
  const Weighted linear = WeightedSum({5, 3}, 1);
  cases.push_back(Chosen("a chain is not padded, linear",
                         Declared("x", "f32[5,7]") + Declared("w", "f32[3,7]") +
                             linear.declaration + "%1 f32[5,3] = linear x w\n" + linear.loss,
                         {{5 * 7, -0x1p-100F}, {3 * 7, 0x1p-100F}, {5 * 3, 0x1p-100F}}));
  const Weighted attention = WeightedSum({1, 5, 1, 3}, 1);
  cases.push_back(Chosen("a chain is not padded, attention",
                         Declared("q", "f32[1,5,1,3]") + Declared("k", "f32[1,5,1,3]") +
                             Declared("v", "f32[1,5,1,3]") + attention.declaration +
                             "%1 f32[1,5,1,3] = attention q k v causal=0 scale=5e-01\n" +
                             attention.loss,
                         {{15, 1}, {15, 0.5F}, {15, -0x1p-149F}, {15, -0x1p-149F}}));
}

// The gradient of a norm's weight is such a chain over its rows: 64 of them would be a whole stage.
void AppendColumns(std::vector<ConformanceCase>& cases) {
  const Weighted norm = WeightedSum({5, 2}, 1);
  cases.push_back(Chosen("a chain is not padded, rms_norm",
                         Declared("x", "f32[5,2]") + Declared("w", "f32[2]") + norm.declaration +
                             "%1 f32[5,2] = rms_norm x w epsilon=1e-05\n" + norm.loss,
                         {{10, 0x1p-100F}, {2, 1}, {10, -0x1p-100F}}));
}

// Sums in lanes of a row of 20: each product is -0 by underflow or as -0 times a number, so each
// lane is -0 unless padding makes it +0. What the sum is subtracted from is -0 and shows its sign.
void AppendLanes(std::vector<ConformanceCase>& cases) {
  const Weighted softmax = WeightedSum({1, 20}, 1);
  cases.push_back(Chosen("a row is padded to lanes, softmax",
                         Declared("a", "f32[1,20]") + softmax.declaration +
                             "%1 f32[1,20] = softmax a\n" + softmax.loss,
                         {{20, 1}, {16, -0x1p-149F}, {4, -0.0F}}));
  const Weighted norm = WeightedSum({1, 20}, 1);
  cases.push_back(Chosen("a row is padded to lanes, rms_norm",
                         Declared("x", "f32[1,20]") + Declared("w", "f32[20]") + norm.declaration +
                             "%1 f32[1,20] = rms_norm x w epsilon=1e-05\n" + norm.loss,
                         {{19, 0.125F}, {1, 8}, {20, 1}, {16, -0x1p-149F}, {4, -0.0F}}));
}

// Sums of one element, -0: each begins with +0, so it is +0.
void AppendBeginnings(std::vector<ConformanceCase>& cases) {
  const Weighted rows = WeightedSum({3}, 1);
  cases.push_back(Chosen(
      "a sum begins with +0, of rows",
      Declared("a", "f32[1,3]") + rows.declaration + "%1 f32[3] = sum a axis=0\n" + rows.loss,
      {{3, -0.0F}, {3, 1}}));
  const Weighted linear = WeightedSum({2, 2}, 1);
  cases.push_back(Chosen("a sum begins with +0, linear",
                         Declared("x", "f32[2,1]") + Declared("w", "f32[2,1]") +
                             linear.declaration + "%1 f32[2,2] = linear x w\n" + linear.loss,
                         {{2, -0.0F}, {2, 1}, {4, 1}}));
  const Weighted embedding = WeightedSum({2, 2}, 1);
  cases.push_back(Chosen("a sum begins with +0, embedding",
                         Declared("table", "f32[3,2]") + embedding.declaration +
                             "input i i32[2] 0 3\n%1 f32[2,2] = embedding table i\n" +
                             embedding.loss,
                         {{6, 1}, {4, -0.0F}}, {.floats = {{}}, .integers = {{2, 0}}}));
}

// Of a sum of w * x, whose gradient is x: in three blocks of the norm, the last one shorter.
void AppendDescents(std::vector<ConformanceCase>& cases, Values values) {
  constexpr std::uint64_t kSteps = 3;
  const std::string shape = Shape({2 * aggregation::kNormBlock + 100});
  const std::string lines = "parameter w " + shape + " normal 1e+00\ninput x " + shape + "\n%1 " +
                            shape + " = mul w x\n%2 f32[] = sum %1 axis=0\nloss %2\n";
  for (const std::uint64_t batches : {1, 3}) {
    const std::string name = "local steps of " + std::to_string(batches) + " batches";
    ConformanceCase descent = DrawCase(name, lines, values, 1);
    Rng rng = Rng(2).Fork(name, static_cast<std::uint64_t>(values));
    descent.micro_batches.clear();
    for (std::uint64_t i = 0; i < kSteps * batches; ++i) {
      descent.micro_batches.push_back(DrawInputs(rng, values, ParseCase(lines)));
    }
    // Of ordinary values one gradient is clipped and one is not: the norm is 91, of three 53.
    descent.local = {.count = kSteps,
                     .rate = 0.01,
                     .warmup = 2,
                     .clip_norm = batches == 1 ? 1.0 : 1000.0,
                     .beta1 = 0.9,
                     .beta2 = 0.95,
                     .epsilon = 1e-25,  // so little that subnormal second moments would count
                     .weight_decay = 0.1};
    cases.push_back(std::move(descent));
  }
}

}  // namespace

std::vector<InputValues> CaseInputs::values() const {
  std::vector<InputValues> views;
  for (std::size_t i = 0; i < floats.size(); ++i) views.push_back({floats[i], integers[i]});
  return views;
}

std::vector<ConformanceCase> DrawnCases(std::uint64_t seed) {
  std::vector<ConformanceCase> cases;
  for (const Values values : kAllValues) AppendDrawn(cases, seed, values);
  return cases;
}

std::vector<ConformanceCase> ConformanceCases() {
  std::vector<ConformanceCase> cases;
  AppendChains(cases);
  AppendColumns(cases);
  AppendLanes(cases);
  AppendBeginnings(cases);
  for (const Values values : kAllValues) {
    for (const OperationCase& each : kOperationCases) {
      cases.push_back(DrawCase(each.name, each.lines, values, 1));
    }
    for (const std::uint64_t seed : {1, 2}) AppendDrawn(cases, seed, values);
    // Several tiles of 128 each way, none of them whole.
    cases.push_back(DrawCase("linear of many tiles", LinearOf(140, 13, 150), values, 1));
    cases.back().of_products = true;
    // Chains over rows that a device brings in several stages (rows.inc), the last one not whole.
    cases.push_back(DrawCase("sums of many rows", SumOf(2, 135, 37), values, 1));
    cases.push_back(DrawCase("layer_norm of many rows", NormOf(135, 37, true), values, 1));
  }
  for (const Values values : kAllValues) AppendDescents(cases, values);
  return cases;
}

}  // namespace ostraka::exact
