// The forward steps of each operation, and what both passes share.
#include <algorithm>
#include <utility>

#include "exact/graph/check.h"
#include "exact/program/lowering.h"
#include "node/base/check.h"

namespace ostraka::exact {
namespace {

std::vector<std::size_t> StridesOf(const std::vector<std::int64_t>& shape) {
  std::vector<std::size_t> strides(shape.size());
  std::size_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= Size(shape[i]);
  }
  return strides;
}

Map MapOf(Op op) {
  switch (op) {
    case Op::kAdd:
      return Map::kAdd;
    case Op::kSub:
      return Map::kSub;
    case Op::kMul:
      return Map::kMul;
    case Op::kDiv:
      return Map::kDiv;
    case Op::kAddScalar:
      return Map::kAddScalar;
    case Op::kMulScalar:
      return Map::kMulScalar;
    case Op::kDivScalar:
      return Map::kDivScalar;
    case Op::kRsqrt:
      return Map::kRsqrt;
    case Op::kTanh:
      return Map::kTanh;
    case Op::kSigmoid:
      return Map::kSigmoid;
    case Op::kSilu:
      return Map::kSilu;
    case Op::kGelu:
      return Map::kGelu;
    case Op::kGeluTanh:
      return Map::kGeluTanh;
    case Op::kRelu:
      return Map::kRelu;
    default:
      return Map::kCount;
  }
}

}  // namespace

AxisView ViewOf(const std::vector<std::int64_t>& shape, std::int64_t axis) {
  AxisView view;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    std::size_t& extent =
        position < axis ? view.outer : (position == axis ? view.extent : view.inner);
    extent *= Size(shape[i]);
  }
  return view;
}

RowView RowsOf(const TensorType& type) {
  const std::size_t width = type.shape.empty() ? 1 : Size(type.shape.back());
  return {.rows = Size(type.count()) / width, .width = width};
}

GatherStep ExpansionOf(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
  GatherStep step;
  const std::vector<std::size_t> strides = StridesOf(from);
  const std::size_t missing = to.size() - from.size();
  for (std::size_t i = 0; i < to.size(); ++i) {
    step.extents.push_back(Size(to[i]));
    const bool repeated = i < missing || (from[i - missing] == 1 && to[i] != 1);
    step.strides.push_back(repeated ? 0 : strides[i - missing]);
  }
  return step;
}

GatherStep PermutationOf(const std::vector<std::int64_t>& from,
                         const std::vector<std::int64_t>& order) {
  GatherStep step;
  const std::vector<std::size_t> strides = StridesOf(from);
  for (const std::int64_t axis : order) {
    step.extents.push_back(Size(from[Size(axis)]));
    step.strides.push_back(strides[Size(axis)]);
  }
  return step;
}

ProductStep MatmulOf(const TensorType& left, const TensorType& right) {
  const std::size_t rank = left.shape.size();
  const std::size_t rows = Size(left.shape[rank - 2]);
  const std::size_t depth = Size(left.shape[rank - 1]);
  return {.batch = Size(left.count()) / (rows * depth),
          .rows = rows,
          .columns = Size(right.shape[rank - 1]),
          .depth = depth};
}

AttentionShape AttentionOf(const Graph& graph, const Instruction& instruction) {
  const std::vector<std::int64_t>& q = graph.type_of(instruction.operands[0]).shape;
  const std::vector<std::int64_t>& k = graph.type_of(instruction.operands[1]).shape;
  return {.batch = Size(q[0]),
          .queries = Size(q[1]),
          .keys = Size(k[1]),
          .heads = Size(q[2]),
          .groups = Size(k[2]),
          .width = Size(q[3]),
          .scale = instruction.attributes.scale,
          .causal = instruction.attributes.causal != 0,
          .has_mask = instruction.operands.size() == 4};
}

Lowering::Lowering(const Graph& graph)
    : graph_(graph),
      depends_(DependsOnParameters(graph)),
      buffers_(graph.value_count()),
      gradients_(graph.value_count()),
      statistics_(graph.instructions.size()) {
  ValueId value = 0;
  for (const Parameter& parameter : graph.parameters) {
    const std::size_t count = Size(parameter.type.count());
    buffers_[value++] = static_cast<BufferId>(program_.buffers.size());
    program_.buffers.push_back(
        {.place = Place::kParameter, .offset = program_.parameter_count, .count = count});
    program_.parameter_count += count;
  }
  for (std::size_t i = 0; i < graph.constants.size(); ++i) {
    const std::size_t count = Size(graph.constants[i].type.count());
    buffers_[value++] = static_cast<BufferId>(program_.buffers.size());
    program_.buffers.push_back({.place = Place::kConstant, .index = i, .count = count});
    program_.constant_elements.push_back(count);
  }
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::size_t count = Size(graph.inputs[i].type.count());
    buffers_[value++] = static_cast<BufferId>(program_.buffers.size());
    program_.buffers.push_back({.place = Place::kInput, .index = i, .count = count});
  }
  program_.inputs = graph.inputs;
}

BufferId Lowering::NewBuffer(std::size_t count) {
  program_.buffers.push_back({.place = Place::kArena, .count = count});
  return static_cast<BufferId>(program_.buffers.size() - 1);
}

void Lowering::Emit(StepKind kind, std::vector<BufferId> reads, std::vector<BufferId> writes) {
  program_.steps.push_back({std::move(kind), std::move(reads), std::move(writes)});
}

BufferId Lowering::EmitMap(Map map, std::vector<BufferId> reads, std::size_t count, float scalar) {
  const BufferId out = NewBuffer(count);
  Emit(MapStep{map, scalar}, std::move(reads), {out});
  return out;
}

void Lowering::Forward(std::size_t index) {
  const Instruction& instruction = graph_.instructions[index];
  const ValueId value = value_of(index);
  // Row-major without gaps: the elements stay where they are.
  if (instruction.op == Op::kReshape || instruction.op == Op::kStopGradient) {
    buffers_[value] = buffer_of(instruction.operands[0]);
    return;
  }
  const BufferId out = NewBuffer(count_of(value));
  buffers_[value] = out;
  std::vector<BufferId> reads;
  for (const ValueId operand : instruction.operands) reads.push_back(buffer_of(operand));
  const RowView rows = RowsOf(type_of(instruction.operands[0]));
  switch (instruction.op) {
    case Op::kPermute:
    case Op::kExpand:
      return ForwardShape(instruction, out);
    case Op::kCat:
      return ForwardCat(instruction, out);
    case Op::kSlice:
      return ForwardSlice(instruction, out);
    case Op::kMatmul:
      return Emit(MatmulOf(type_of(instruction.operands[0]), type_of(instruction.operands[1])),
                  std::move(reads), {out});
    case Op::kLinear:
      return ForwardLinear(instruction, out);
    case Op::kAttention:
      return Emit(AttentionStep{AttentionOf(graph_, instruction)}, std::move(reads), {out});
    case Op::kEmbedding:
      return Emit(EmbeddingStep{count_of(instruction.operands[1]), rows.width}, std::move(reads),
                  {out});
    case Op::kSum:
    case Op::kMean:
      return ForwardSum(instruction, out);
    case Op::kSoftmax:
      return Emit(SoftmaxStep{rows.rows, rows.width}, std::move(reads), {out});
    case Op::kCrossEntropy:
      return Emit(CrossEntropyStep{rows.rows, rows.width}, std::move(reads),
                  {out, NewBuffer(rows.rows)});
    case Op::kLayerNorm:
    case Op::kRmsNorm:
      return ForwardNorm(instruction, index, out);
    default:
      return ForwardMap(instruction, out);
  }
}

void Lowering::ForwardShape(const Instruction& instruction, BufferId out) {
  const std::vector<std::int64_t>& from = type_of(instruction.operands[0]).shape;
  Emit(instruction.op == Op::kPermute ? PermutationOf(from, instruction.attributes.order)
                                      : ExpansionOf(from, instruction.type.shape),
       {buffer_of(instruction.operands[0])}, {out});
}

void Lowering::ForwardCat(const Instruction& instruction, BufferId out) {
  const AxisView whole = ViewOf(instruction.type.shape, instruction.attributes.axis);
  std::size_t to = 0;
  for (const ValueId operand : instruction.operands) {
    const AxisView part = ViewOf(type_of(operand).shape, instruction.attributes.axis);
    const std::size_t length = part.extent * part.inner;
    Emit(CopyStep{.blocks = part.outer,
                  .length = length,
                  .from_stride = length,
                  .to = to,
                  .to_stride = whole.extent * whole.inner},
         {buffer_of(operand)}, {out});
    to += length;
  }
}

void Lowering::ForwardSlice(const Instruction& instruction, BufferId out) {
  const Attributes& attributes = instruction.attributes;
  const AxisView whole = ViewOf(type_of(instruction.operands[0]).shape, attributes.axis);
  const std::size_t length = Size(attributes.end - attributes.begin) * whole.inner;
  Emit(CopyStep{.blocks = whole.outer,
                .length = length,
                .from = Size(attributes.begin) * whole.inner,
                .from_stride = whole.extent * whole.inner,
                .to_stride = length},
       {buffer_of(instruction.operands[0])}, {out});
}

void Lowering::ForwardLinear(const Instruction& instruction, BufferId out) {
  const RowView rows = RowsOf(type_of(instruction.operands[0]));
  const std::size_t columns = Size(instruction.type.shape.back());
  const bool has_bias = instruction.operands.size() == 3;
  const BufferId product = has_bias ? NewBuffer(rows.rows * columns) : out;
  Emit(
      ProductStep{
          .rows = rows.rows, .columns = columns, .depth = rows.width, .right_transposed = true},
      {buffer_of(instruction.operands[0]), buffer_of(instruction.operands[1])}, {product});
  if (has_bias) {
    Emit(AddRowStep{rows.rows, columns}, {product, buffer_of(instruction.operands[2])}, {out});
  }
}

void Lowering::ForwardSum(const Instruction& instruction, BufferId out) {
  const std::vector<std::int64_t>& shape = type_of(instruction.operands[0]).shape;
  const AxisView view = ViewOf(shape, instruction.attributes.axis);
  const bool is_mean = instruction.op == Op::kMean;
  const std::size_t count = view.outer * view.inner;
  const BufferId sum = is_mean ? NewBuffer(count) : out;
  Emit(SumStep{.outer = view.outer,
               .count = view.extent,
               .inner = view.inner,
               .lanes = Size(instruction.attributes.axis) + 1 == shape.size()},
       {buffer_of(instruction.operands[0])}, {sum});
  if (is_mean) Emit(MapStep{Map::kDivScalar, static_cast<float>(view.extent)}, {sum}, {out});
}

void Lowering::ForwardNorm(const Instruction& instruction, std::size_t index, BufferId out) {
  const RowView rows = RowsOf(instruction.type);
  std::vector<BufferId> reads;
  for (const ValueId operand : instruction.operands) reads.push_back(buffer_of(operand));
  const BufferId statistics = NewBuffer(2 * rows.rows);
  statistics_[index] = statistics;
  Emit(NormStep{.rows = rows.rows,
                .width = rows.width,
                .epsilon = instruction.attributes.epsilon,
                .centered = instruction.op == Op::kLayerNorm},
       std::move(reads), {out, statistics});
}

void Lowering::ForwardMap(const Instruction& instruction, BufferId out) {
  const Map map = MapOf(instruction.op);
  OSTRAKA_CHECK(map != Map::kCount);
  std::vector<BufferId> reads;
  for (const ValueId operand : instruction.operands) reads.push_back(buffer_of(operand));
  Emit(MapStep{map, instruction.attributes.scalar}, std::move(reads), {out});
}

}  // namespace ostraka::exact
