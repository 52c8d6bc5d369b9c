#include "exact/graph/operations.h"

#include <array>

#include "node/base/check.h"

namespace ostraka::exact {
namespace {

using enum Attribute;

constexpr Attribute kOrderOnly[] = {kOrder};
constexpr Attribute kAxisOnly[] = {kAxis};
constexpr Attribute kRange[] = {kAxis, kBegin, kEnd};
constexpr Attribute kScores[] = {kCausal, kScale};
constexpr Attribute kScalarOnly[] = {kScalar};
constexpr Attribute kEpsilonOnly[] = {kEpsilon};

constexpr std::size_t kOpCount = static_cast<std::size_t>(Op::kCount);

// In the order of enum class Op.
constexpr std::array<Operation, kOpCount> kOperations = {{
    {Op::kReshape, "reshape", 1, 1, {}},
    {Op::kPermute, "permute", 1, 1, kOrderOnly},
    {Op::kExpand, "expand", 1, 1, {}},
    {Op::kCat, "cat", 1, kMaxOperands, kAxisOnly},
    {Op::kSlice, "slice", 1, 1, kRange},
    {Op::kStopGradient, "stop_gradient", 1, 1, {}},
    {Op::kMatmul, "matmul", 2, 2, {}},
    {Op::kLinear, "linear", 2, 3, {}},
    {Op::kAttention, "attention", 3, 4, kScores},
    {Op::kEmbedding, "embedding", 2, 2, {}},
    {Op::kAdd, "add", 2, 2, {}},
    {Op::kSub, "sub", 2, 2, {}},
    {Op::kMul, "mul", 2, 2, {}},
    {Op::kDiv, "div", 2, 2, {}},
    {Op::kAddScalar, "add_scalar", 1, 1, kScalarOnly},
    {Op::kMulScalar, "mul_scalar", 1, 1, kScalarOnly},
    {Op::kDivScalar, "div_scalar", 1, 1, kScalarOnly},
    {Op::kRsqrt, "rsqrt", 1, 1, {}},
    {Op::kTanh, "tanh", 1, 1, {}},
    {Op::kSigmoid, "sigmoid", 1, 1, {}},
    {Op::kSilu, "silu", 1, 1, {}},
    {Op::kGelu, "gelu", 1, 1, {}},
    {Op::kGeluTanh, "gelu_tanh", 1, 1, {}},
    {Op::kRelu, "relu", 1, 1, {}},
    {Op::kSum, "sum", 1, 1, kAxisOnly},
    {Op::kMean, "mean", 1, 1, kAxisOnly},
    {Op::kSoftmax, "softmax", 1, 1, {}},
    {Op::kCrossEntropy, "cross_entropy", 2, 2, {}},
    {Op::kLayerNorm, "layer_norm", 3, 3, kEpsilonOnly},
    {Op::kRmsNorm, "rms_norm", 2, 2, kEpsilonOnly},
}};

constexpr bool TableIsInOrder() {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    if (kOperations[i].op != static_cast<Op>(i) || kOperations[i].name.empty()) return false;
  }
  return true;
}
static_assert(TableIsInOrder());

}  // namespace

std::string_view NameOf(Attribute attribute) {
  switch (attribute) {
    case kOrder:
      return "order";
    case kAxis:
      return "axis";
    case kBegin:
      return "begin";
    case kEnd:
      return "end";
    case kCausal:
      return "causal";
    case kScale:
      return "scale";
    case kScalar:
      return "scalar";
    case kEpsilon:
      return "epsilon";
  }
  return "unknown";
}

const Operation& OperationOf(Op op) {
  OSTRAKA_CHECK(op < Op::kCount);
  return kOperations[static_cast<std::size_t>(op)];
}

const Operation* FindOperation(std::string_view name) {
  for (const Operation& operation : kOperations) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

std::string AllOperationNames() {
  std::string names;
  for (const Operation& operation : kOperations) {
    if (!names.empty()) names += ", ";
    names += operation.name;
  }
  return names;
}

}  // namespace ostraka::exact
