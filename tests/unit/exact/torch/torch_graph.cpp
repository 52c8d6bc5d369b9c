#include "tests/unit/exact/torch/torch_graph.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>
#include <map>

namespace ostraka::exact::testing {
namespace {

using at::Tensor;

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

void UseThreads(int threads) {
  at::set_num_threads(threads);
  using SetThreads = void(int);
  auto* set = reinterpret_cast<SetThreads*>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set != nullptr) set(threads);
}

// The declared values of a problem; parameters want a gradient.
std::vector<Tensor> Declared(const Problem& problem) {
  std::vector<Tensor> values;
  const auto floats = [&](const float* data, const TensorType& type) {
    values.push_back(at::empty(type.shape, at::kFloat));
    std::copy_n(data, type.count(), values.back().data_ptr<float>());
  };
  std::size_t offset = 0;
  for (const Parameter& parameter : problem.graph.parameters) {
    floats(problem.parameters.data() + offset, parameter.type);
    values.back().set_requires_grad(true);
    offset += static_cast<std::size_t>(parameter.type.count());
  }
  for (std::size_t i = 0; i < problem.constants.size(); ++i) {
    floats(problem.constants[i].data(), problem.graph.constants[i].type);
  }
  for (std::size_t i = 0; i < problem.graph.inputs.size(); ++i) {
    const Input& input = problem.graph.inputs[i];
    if (input.type.element == Element::kFloat) {
      floats(problem.floats[i].data(), input.type);
    } else {
      values.push_back(at::empty(input.type.shape, at::kLong));
      std::copy(problem.integers[i].begin(), problem.integers[i].end(),
                values.back().data_ptr<std::int64_t>());
    }
  }
  return values;
}

}  // namespace

struct TorchGraph::State {
  Graph graph;
  std::vector<Tensor> declared;
  std::vector<Tensor> parameters;
  Masks masks;
  Tensor loss;
  std::vector<Tensor> gradients;
};

TorchGraph::TorchGraph(const Problem& problem, int threads) : state_(new State) {
  UseThreads(threads);
  state_->graph = problem.graph;
  state_->declared = Declared(problem);
  const auto count = static_cast<std::ptrdiff_t>(problem.graph.parameters.size());
  state_->parameters.assign(state_->declared.begin(), state_->declared.begin() + count);
}

TorchGraph::~TorchGraph() = default;

void TorchGraph::Run() {
  const at::AutoGradMode with_gradients(true);
  std::vector<Tensor> values = state_->declared;
  for (const Instruction& instruction : state_->graph.instructions) {
    std::vector<Tensor> operands;
    for (const ValueId operand : instruction.operands) operands.push_back(values[operand]);
    values.push_back(Apply(instruction, operands, state_->masks));
  }
  state_->loss = values[state_->graph.loss];
  values.clear();
  state_->gradients = torch::autograd::grad({state_->loss}, state_->parameters);
}

Gradient TorchGraph::result() const {
  Gradient result;
  for (const Tensor& gradient : state_->gradients) {
    const Tensor rows = gradient.contiguous();
    const auto* data = rows.data_ptr<float>();
    result.values.insert(result.values.end(), data, data + rows.numel());
  }
  result.loss = state_->loss.item<float>();
  return result;
}

Gradient TorchGradientOf(const Problem& problem) {
  TorchGraph graph(problem, 1);
  graph.Run();
  return graph.result();
}

}  // namespace ostraka::exact::testing
