#include "node/train/torch/torch_graph.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "node/base/check.h"

namespace ostraka::train {
namespace {

using at::Tensor;
using exact::Attributes;
using exact::Element;
using exact::Instruction;
using exact::Op;
using exact::ValueId;

std::vector<std::int64_t> AxesWithHeadsFirst() { return {0, 2, 1, 3}; }

// What a causal mask hides, by length: made once, as a module keeps it in a buffer.
using Masks = std::map<std::int64_t, Tensor>;

const Tensor& HiddenOf(Masks& masks, std::int64_t length) {
  Tensor& mask = masks[length];
  if (!mask.defined()) mask = at::triu(at::ones({length, length}, at::kBool), 1);
  return mask;
}

Tensor Attention(const Instruction& instruction, const std::vector<Tensor>& a, Masks& masks) {
  const Tensor q = a[0].permute(AxesWithHeadsFirst());
  const std::int64_t repeats = q.size(1) / a[1].size(2);
  const auto heads = [&](const Tensor& x) {
    const Tensor each = x.permute(AxesWithHeadsFirst());
    return repeats == 1 ? each : at::repeat_interleave(each, repeats, 1);
  };
  Tensor scores = at::matmul(q, heads(a[1]).transpose(-1, -2)) * instruction.attributes.scale;
  if (a.size() == 4) scores = scores + a[3];
  if (instruction.attributes.causal != 0) {
    scores =
        scores.masked_fill(HiddenOf(masks, q.size(2)), -std::numeric_limits<float>::infinity());
  }
  return at::matmul(at::softmax(scores, -1), heads(a[2]))
      .permute(AxesWithHeadsFirst())
      .contiguous();
}

Tensor Apply(const Instruction& instruction, const std::vector<Tensor>& a, Masks& masks) {
  const Attributes& attributes = instruction.attributes;
  switch (instruction.op) {
    case Op::kReshape:
      return a[0].reshape(instruction.type.shape);
    case Op::kPermute:
      return a[0].permute(attributes.order);
    case Op::kExpand:
      return a[0].expand(instruction.type.shape);
    case Op::kCat:
      return at::cat(a, attributes.axis);
    case Op::kSlice:
      return a[0].slice(attributes.axis, attributes.begin, attributes.end);
    case Op::kStopGradient:
      return a[0].detach();
    case Op::kMatmul:
      return at::matmul(a[0], a[1]);
    case Op::kLinear:
      return a.size() == 3 ? at::linear(a[0], a[1], a[2]) : at::linear(a[0], a[1]);
    case Op::kAttention:
      return Attention(instruction, a, masks);
    case Op::kEmbedding:
      return at::embedding(a[0], a[1]);
    case Op::kAdd:
      return a[0] + a[1];
    case Op::kSub:
      return a[0] - a[1];
    case Op::kMul:
      return a[0] * a[1];
    case Op::kDiv:
      return a[0] / a[1];
    case Op::kAddScalar:
      return a[0] + attributes.scalar;
    case Op::kMulScalar:
      return a[0] * attributes.scalar;
    case Op::kDivScalar:
      return a[0] / attributes.scalar;
    case Op::kRsqrt:
      return at::rsqrt(a[0]);
    case Op::kTanh:
      return at::tanh(a[0]);
    case Op::kSigmoid:
      return at::sigmoid(a[0]);
    case Op::kSilu:
      return at::silu(a[0]);
    case Op::kGelu:
      return at::gelu(a[0]);
    case Op::kGeluTanh:
      return at::gelu(a[0], "tanh");
    case Op::kRelu:
      return at::relu(a[0]);
    case Op::kSum:
      return a[0].sum(attributes.axis);
    case Op::kMean:
      return a[0].mean(attributes.axis);
    case Op::kSoftmax:
      return at::softmax(a[0], -1);
    case Op::kCrossEntropy:
      return at::cross_entropy_loss(a[0].reshape({-1, a[0].size(-1)}), a[1].reshape({-1}), {},
                                    at::Reduction::Mean, /*ignore_index=*/-1);
    case Op::kLayerNorm:
      return at::layer_norm(a[0], {a[0].size(-1)}, a[1], a[2], attributes.epsilon);
    case Op::kRmsNorm:
      return a[0] * at::rsqrt((a[0] * a[0]).mean(-1, true) + attributes.epsilon) * a[1];
    case Op::kCount:
      break;
  }
  OSTRAKA_CHECK(false);
  return {};
}

Tensor Floats(std::span<const float> values, const exact::TensorType& type) {
  OSTRAKA_CHECK(std::cmp_equal(values.size(), type.count()));
  Tensor tensor = at::empty(type.shape, at::kFloat);
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor;
}

Tensor Integers(std::span<const std::int32_t> values, const exact::TensorType& type) {
  OSTRAKA_CHECK(std::cmp_equal(values.size(), type.count()));
  Tensor tensor = at::empty(type.shape, at::kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<std::int64_t>());
  return tensor;
}

// For each value the instruction that reads it last; the number of instructions if none does.
std::vector<std::size_t> LastUses(const exact::Graph& graph) {
  std::vector<std::size_t> last(graph.value_count(), graph.instructions.size());
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    for (const ValueId operand : graph.instructions[i].operands) last[operand] = i;
  }
  return last;
}

}  // namespace

struct TorchGraph::State {
  Tensor Forward();

  exact::Graph graph;
  std::vector<std::size_t> last_uses;
  std::vector<Tensor> parameters;
  std::vector<Tensor> constants;
  std::vector<Tensor> inputs;
  Masks masks;
  float loss = 0;
  Tensor logits;
  std::vector<Tensor> gradients;  // undefined where the loss depends on none of a parameter
};

// The loss. A value that no later instruction reads is let go at once: what its gradient needs of
// it, autograd holds.
Tensor TorchGraph::State::Forward() {
  std::vector<Tensor> values = parameters;
  values.insert(values.end(), constants.begin(), constants.end());
  values.insert(values.end(), inputs.begin(), inputs.end());
  OSTRAKA_CHECK(values.size() == graph.declared_count());
  logits = Tensor();
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    const Instruction& instruction = graph.instructions[i];
    std::vector<Tensor> operands;
    for (const ValueId operand : instruction.operands) operands.push_back(values[operand]);
    const bool is_loss = values.size() == graph.loss;
    if (is_loss && instruction.op == Op::kCrossEntropy &&
        instruction.operands.front() >= graph.declared_count()) {
      logits = operands.front().detach().contiguous();
    }
    values.push_back(Apply(instruction, operands, masks));
    for (const ValueId operand : instruction.operands) {
      if (last_uses[operand] == i && operand != graph.loss) values[operand] = Tensor();
    }
  }
  return values[graph.loss];
}

TorchGraph::TorchGraph(exact::Graph graph, const std::vector<std::vector<float>>& constants)
    : state_(new State) {
  OSTRAKA_CHECK(constants.size() == graph.constants.size());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    state_->constants.push_back(Floats(constants[i], graph.constants[i].type));
  }
  state_->last_uses = LastUses(graph);
  state_->graph = std::move(graph);
}

TorchGraph::TorchGraph(TorchGraph&&) noexcept = default;

TorchGraph::~TorchGraph() = default;

void TorchGraph::SetParameters(std::span<const float> parameters) {
  state_->parameters.clear();
  for (const exact::Parameter& parameter : state_->graph.parameters) {
    const auto count = static_cast<std::size_t>(parameter.type.count());
    state_->parameters.push_back(Floats(parameters.first(count), parameter.type));
    state_->parameters.back().set_requires_grad(true);
    parameters = parameters.subspan(count);
  }
  OSTRAKA_CHECK(parameters.empty());
}

void TorchGraph::SetInputs(std::span<const exact::InputValues> inputs) {
  OSTRAKA_CHECK(inputs.size() == state_->graph.inputs.size());
  state_->inputs.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const exact::TensorType& type = state_->graph.inputs[i].type;
    state_->inputs.push_back(type.element == Element::kFloat ? Floats(inputs[i].floats, type)
                                                             : Integers(inputs[i].integers, type));
  }
}

void TorchGraph::Run() {
  const at::AutoGradMode with_gradients(true);
  const Tensor loss = state_->Forward();
  state_->loss = loss.item<float>();
  // grad, not backward: nothing accumulates in the parameters, and what autograd holds goes with
  // `loss`.
  state_->gradients =
      torch::autograd::grad({loss}, state_->parameters, /*grad_outputs=*/{},
                            /*retain_graph=*/false, /*create_graph=*/false, /*allow_unused=*/true);
}

void TorchGraph::RunForward() {
  const at::NoGradGuard no_gradients;
  state_->loss = state_->Forward().item<float>();
}

float TorchGraph::loss() const { return state_->loss; }

std::span<const float> TorchGraph::logits() const {
  if (!state_->logits.defined()) return {};
  return {state_->logits.data_ptr<float>(), static_cast<std::size_t>(state_->logits.numel())};
}

void TorchGraph::CopyGradient(std::span<float> gradient) const {
  OSTRAKA_CHECK(state_->gradients.size() == state_->graph.parameters.size());
  for (std::size_t i = 0; i < state_->gradients.size(); ++i) {
    const auto count = static_cast<std::size_t>(state_->graph.parameters[i].type.count());
    OSTRAKA_CHECK(count <= gradient.size());
    if (state_->gradients[i].defined()) {
      const Tensor rows = state_->gradients[i].contiguous();
      std::copy_n(rows.data_ptr<float>(), count, gradient.begin());
    } else {
      std::fill_n(gradient.begin(), count, 0.0F);
    }
    gradient = gradient.subspan(count);
  }
  OSTRAKA_CHECK(gradient.empty());
}

}  // namespace ostraka::train
