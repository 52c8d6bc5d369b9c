#include "exact/models/layers.h"

#include <utility>

namespace ostraka::exact {
namespace {

constexpr float kEpsilon = 1e-5F;
constexpr float kLoraDeviation = 0.02F;

}  // namespace

Node Layers::Parametrize(const std::string& name, Shape shape, Initial initial, float scale) {
  return builder_.AddParameter({.name = name,
                                .type = {Element::kFloat, std::move(shape)},
                                .initial = initial,
                                .scale = scale});
}

Node Layers::Weight(const std::string& name, Shape shape, Initial initial, float scale) {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  Node node;
  if (options_.lora_rank == 0) {
    node = Parametrize(name, std::move(shape), initial, scale);
  } else {
    const auto hash = options_.base.find(name);
    if (hash == options_.base.end() && status_.ok()) {
      status_ = base::InvalidArgument("the base has no tensor " + name);
    }
    node =
        builder_.AddConstant({.name = name,
                              .type = {Element::kFloat, std::move(shape)},
                              .hash = hash == options_.base.end() ? base::Digest{} : hash->second});
  }
  known_.emplace(name, node);
  return node;
}

Node Layers::Linear(const std::string& name, Node x, std::int64_t columns, bool bias,
                    float deviation) {
  const std::int64_t fan_in = builder_.shape_of(x).back();
  std::vector<Node> operands = {
      x, Weight(name + ".weight", {columns, fan_in}, Initial::kNormal, deviation)};
  if (bias) operands.push_back(Weight(name + ".bias", {columns}, Initial::kZeros));
  const Node y = builder_.Apply(Op::kLinear, operands);
  if (options_.lora_rank == 0) return y;
  const auto factor = [&](const std::string& suffix, Shape shape, Initial initial) {
    const auto found = known_.find(name + suffix);
    if (found != known_.end()) return found->second;
    const Node node = Parametrize(name + suffix, std::move(shape), initial,
                                  initial == Initial::kNormal ? kLoraDeviation : 0);
    known_.emplace(name + suffix, node);
    return node;
  };
  // The second factor is zero at first, so training begins at the base.
  const Node down = builder_.Apply(
      Op::kLinear, {x, factor(".lora_A.weight", {options_.lora_rank, fan_in}, Initial::kNormal)});
  const Node up = builder_.Apply(
      Op::kLinear,
      {down, factor(".lora_B.weight", {columns, options_.lora_rank}, Initial::kZeros)});
  return builder_.Apply(Op::kAdd, {y, up});
}

Node Layers::LayerNorm(const std::string& name, Node x) {
  const std::int64_t width = builder_.shape_of(x).back();
  return builder_.Apply(Op::kLayerNorm,
                        {x, Weight(name + ".weight", {width}, Initial::kOnes),
                         Weight(name + ".bias", {width}, Initial::kZeros)},
                        {.epsilon = kEpsilon});
}

Node Layers::RmsNorm(const std::string& name, Node x) {
  const std::int64_t width = builder_.shape_of(x).back();
  return builder_.Apply(Op::kRmsNorm, {x, Weight(name + ".weight", {width}, Initial::kOnes)},
                        {.epsilon = kEpsilon});
}

Node Layers::Table(const ConstantTensor& table) {
  tables_.push_back(table);
  return builder_.AddConstant({.name = table.name,
                               .type = {Element::kFloat, table.shape},
                               .hash = HashOfConstant(table.values)});
}

Node Layers::Scaled(Node x, float factor) {
  return builder_.Apply(Op::kMulScalar, {x}, {.scalar = factor});
}

Model Layers::Finish(Node loss) {
  return {.graph = builder_.Finish(loss), .constants = std::move(tables_)};
}

}  // namespace ostraka::exact
