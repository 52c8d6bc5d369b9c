// The gradient of each operation (docs/numerics.md 6).
#include <algorithm>
#include <utility>

#include "exact/program/lowering.h"
#include "node/base/check.h"

namespace ostraka::exact {
namespace {

// A backward map of the operand, or of the result if `of_result`.
struct BackwardMap {
  Map map = Map::kCount;
  bool of_result = false;
};

BackwardMap BackwardOf(Op op) {
  switch (op) {
    case Op::kRsqrt:
      return {Map::kRsqrtBackward, true};
    case Op::kTanh:
      return {Map::kTanhBackward, true};
    case Op::kSigmoid:
      return {Map::kSigmoidBackward, true};
    case Op::kSilu:
      return {Map::kSiluBackward, false};
    case Op::kGelu:
      return {Map::kGeluBackward, false};
    case Op::kGeluTanh:
      return {Map::kGeluTanhBackward, false};
    case Op::kRelu:
      return {Map::kReluBackward, false};
    default:
      return {};
  }
}

}  // namespace

void Lowering::Contribute(ValueId value, BufferId gradient) {
  std::optional<BufferId>& held = gradients_[value];
  held = held ? EmitMap(Map::kAdd, {*held, gradient}, count_of(value)) : gradient;
}

void Lowering::BeginBackward() {
  program_.forward_steps = program_.steps.size();
  program_.loss = buffer_of(graph_.loss);
  const std::size_t first = graph_.declared_count();
  if (graph_.loss >= first && graph_.instructions[graph_.loss - first].op == Op::kCrossEntropy) {
    program_.logits = buffer_of(graph_.instructions[graph_.loss - first].operands[0]);
  }
  const BufferId one = NewBuffer(1);
  Emit(FillStep{1}, {}, {one});
  gradients_[graph_.loss] = one;
}

void Lowering::Backward(std::size_t index) {
  const Instruction& instruction = graph_.instructions[index];
  const ValueId value = value_of(index);
  if (!needs(value) || !gradients_[value]) return;
  const BufferId gradient = *gradients_[value];
  switch (instruction.op) {
    case Op::kReshape:
      return Contribute(instruction.operands[0], gradient);
    case Op::kPermute:
    case Op::kExpand:
      return BackwardShape(instruction, gradient);
    case Op::kCat:
      return BackwardCat(instruction, gradient);
    case Op::kSlice:
      return BackwardSlice(instruction, gradient);
    case Op::kMatmul:
      return BackwardMatmul(instruction, gradient);
    case Op::kLinear:
      return BackwardLinear(instruction, gradient);
    case Op::kAttention:
      return BackwardAttention(instruction, gradient);
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
    case Op::kAddScalar:
    case Op::kMulScalar:
    case Op::kDivScalar:
      return BackwardArithmetic(instruction, gradient);
    case Op::kSum:
    case Op::kMean:
      return BackwardSum(instruction, gradient);
    case Op::kEmbedding:
    case Op::kSoftmax:
    case Op::kCrossEntropy:
      return BackwardRows(instruction, index, gradient);
    case Op::kLayerNorm:
    case Op::kRmsNorm:
      return BackwardNorm(instruction, index, gradient);
    default:
      return BackwardUnary(instruction, index, gradient);
  }
}

void Lowering::BackwardShape(const Instruction& instruction, BufferId gradient) {
  const ValueId operand = instruction.operands[0];
  const std::vector<std::int64_t>& from = type_of(operand).shape;
  const BufferId out = NewBuffer(count_of(operand));
  if (instruction.op == Op::kPermute) {
    std::vector<std::int64_t> inverse(from.size());
    for (std::size_t i = 0; i < inverse.size(); ++i) {
      inverse[Size(instruction.attributes.order[i])] = static_cast<std::int64_t>(i);
    }
    Emit(PermutationOf(instruction.type.shape, inverse), {gradient}, {out});
  } else {
    GatherStep expansion = ExpansionOf(from, instruction.type.shape);
    Emit(ReduceStep{std::move(expansion.extents), std::move(expansion.strides)}, {gradient}, {out});
  }
  Contribute(operand, out);
}

void Lowering::BackwardCat(const Instruction& instruction, BufferId gradient) {
  const AxisView whole = ViewOf(instruction.type.shape, instruction.attributes.axis);
  std::size_t from = 0;
  for (const ValueId operand : instruction.operands) {
    const AxisView part = ViewOf(type_of(operand).shape, instruction.attributes.axis);
    const std::size_t length = part.extent * part.inner;
    if (needs(operand)) {
      const BufferId out = NewBuffer(count_of(operand));
      Emit(CopyStep{.blocks = part.outer,
                    .length = length,
                    .from = from,
                    .from_stride = whole.extent * whole.inner,
                    .to_stride = length},
           {gradient}, {out});
      Contribute(operand, out);
    }
    from += length;
  }
}

void Lowering::BackwardSlice(const Instruction& instruction, BufferId gradient) {
  const Attributes& attributes = instruction.attributes;
  const ValueId operand = instruction.operands[0];
  const AxisView whole = ViewOf(type_of(operand).shape, attributes.axis);
  const std::size_t length = Size(attributes.end - attributes.begin) * whole.inner;
  const BufferId out = NewBuffer(count_of(operand));
  Emit(FillStep{0}, {}, {out});
  Emit(CopyStep{.blocks = whole.outer,
                .length = length,
                .from_stride = length,
                .to = Size(attributes.begin) * whole.inner,
                .to_stride = whole.extent * whole.inner},
       {gradient}, {out});
  Contribute(operand, out);
}

void Lowering::BackwardMatmul(const Instruction& instruction, BufferId gradient) {
  const ValueId left = instruction.operands[0];
  const ValueId right = instruction.operands[1];
  const ProductStep forward = MatmulOf(type_of(left), type_of(right));
  if (needs(left)) {
    const BufferId out = NewBuffer(count_of(left));
    Emit(ProductStep{.batch = forward.batch,
                     .rows = forward.rows,
                     .columns = forward.depth,
                     .depth = forward.columns,
                     .right_transposed = true},
         {gradient, buffer_of(right)}, {out});
    Contribute(left, out);
  }
  if (needs(right)) {
    const BufferId out = NewBuffer(count_of(right));
    Emit(ProductStep{.batch = forward.batch,
                     .rows = forward.depth,
                     .columns = forward.columns,
                     .depth = forward.rows,
                     .left_transposed = true},
         {buffer_of(left), gradient}, {out});
    Contribute(right, out);
  }
}

void Lowering::BackwardLinear(const Instruction& instruction, BufferId gradient) {
  const ValueId x = instruction.operands[0];
  const ValueId weight = instruction.operands[1];
  const RowView rows = RowsOf(type_of(x));
  const std::size_t columns = Size(instruction.type.shape.back());
  if (needs(x)) {
    const BufferId out = NewBuffer(count_of(x));
    Emit(ProductStep{.rows = rows.rows, .columns = rows.width, .depth = columns},
         {gradient, buffer_of(weight)}, {out});
    Contribute(x, out);
  }
  if (needs(weight)) {
    const BufferId out = NewBuffer(count_of(weight));
    Emit(
        ProductStep{
            .rows = columns, .columns = rows.width, .depth = rows.rows, .left_transposed = true},
        {gradient, buffer_of(x)}, {out});
    Contribute(weight, out);
  }
  if (instruction.operands.size() == 3 && needs(instruction.operands[2])) {
    const BufferId out = NewBuffer(columns);
    Emit(SumStep{.count = rows.rows, .inner = columns}, {gradient}, {out});
    Contribute(instruction.operands[2], out);
  }
}

void Lowering::BackwardAttention(const Instruction& instruction, BufferId gradient) {
  std::vector<BufferId> reads = {gradient};
  for (const ValueId operand : instruction.operands) reads.push_back(buffer_of(operand));
  std::vector<BufferId> outs;
  for (std::size_t i = 0; i < 3; ++i) outs.push_back(NewBuffer(count_of(instruction.operands[i])));
  Emit(AttentionBackwardStep{AttentionOf(graph_, instruction)}, std::move(reads), outs);
  for (std::size_t i = 0; i < 3; ++i) {
    if (needs(instruction.operands[i])) Contribute(instruction.operands[i], outs[i]);
  }
}

void Lowering::BackwardArithmetic(const Instruction& instruction, BufferId gradient) {
  const ValueId a = instruction.operands[0];
  const ValueId b = instruction.operands.back();
  const std::size_t count = count_of(a);
  const float scalar = instruction.attributes.scalar;
  switch (instruction.op) {
    case Op::kAdd:
      if (needs(a)) Contribute(a, gradient);
      if (needs(b)) Contribute(b, gradient);
      return;
    case Op::kSub:
      if (needs(a)) Contribute(a, gradient);
      if (needs(b)) Contribute(b, EmitMap(Map::kMulScalar, {gradient}, count, -1));
      return;
    case Op::kMul:
      if (needs(a)) Contribute(a, EmitMap(Map::kMul, {gradient, buffer_of(b)}, count));
      if (needs(b)) Contribute(b, EmitMap(Map::kMul, {gradient, buffer_of(a)}, count));
      return;
    case Op::kDiv:
      if (needs(a)) Contribute(a, EmitMap(Map::kDiv, {gradient, buffer_of(b)}, count));
      if (needs(b)) {
        Contribute(b, EmitMap(Map::kDivBackward, {gradient, buffer_of(a), buffer_of(b)}, count));
      }
      return;
    case Op::kAddScalar:
      return Contribute(a, gradient);
    case Op::kMulScalar:
      return Contribute(a, EmitMap(Map::kMulScalar, {gradient}, count, scalar));
    default:
      return Contribute(a, EmitMap(Map::kDivScalar, {gradient}, count, scalar));
  }
}

void Lowering::BackwardUnary(const Instruction& instruction, std::size_t index, BufferId gradient) {
  const BackwardMap backward = BackwardOf(instruction.op);
  OSTRAKA_CHECK(backward.map != Map::kCount);
  const ValueId operand = instruction.operands[0];
  const BufferId of = buffer_of(backward.of_result ? value_of(index) : operand);
  Contribute(operand, EmitMap(backward.map, {gradient, of}, count_of(operand)));
}

void Lowering::BackwardSum(const Instruction& instruction, BufferId gradient) {
  const ValueId operand = instruction.operands[0];
  const AxisView view = ViewOf(type_of(operand).shape, instruction.attributes.axis);
  if (instruction.op == Op::kMean) {
    gradient = EmitMap(Map::kDivScalar, {gradient}, view.outer * view.inner,
                       static_cast<float>(view.extent));
  }
  const BufferId out = NewBuffer(count_of(operand));
  Emit(GatherStep{{view.outer, view.extent, view.inner}, {view.inner, 0, 1}}, {gradient}, {out});
  Contribute(operand, out);
}

void Lowering::BackwardRows(const Instruction& instruction, std::size_t index, BufferId gradient) {
  const ValueId operand = instruction.operands[0];
  const RowView rows = RowsOf(type_of(operand));
  const BufferId out = NewBuffer(count_of(operand));
  if (instruction.op == Op::kEmbedding) {
    const ValueId integers = instruction.operands[1];
    Emit(EmbeddingBackwardStep{count_of(integers), rows.width}, {gradient, buffer_of(integers)},
         {out});
  } else if (instruction.op == Op::kSoftmax) {
    Emit(SoftmaxBackwardStep{rows.rows, rows.width}, {gradient, buffer_of(value_of(index))}, {out});
  } else {
    Emit(CrossEntropyBackwardStep{rows.rows, rows.width},
         {gradient, buffer_of(operand), buffer_of(instruction.operands[1])}, {out});
  }
  Contribute(operand, out);
}

void Lowering::BackwardNorm(const Instruction& instruction, std::size_t index, BufferId gradient) {
  const ValueId x = instruction.operands[0];
  const ValueId weight = instruction.operands[1];
  const bool centered = instruction.op == Op::kLayerNorm;
  const RowView rows = RowsOf(instruction.type);
  const BufferId statistics = *statistics_[index];
  if (needs(x)) {
    const BufferId out = NewBuffer(count_of(x));
    Emit(NormBackwardStep{rows.rows, rows.width, centered},
         {gradient, buffer_of(x), buffer_of(weight), statistics}, {out});
    Contribute(x, out);
  }
  if (!needs(weight) && !(centered && needs(instruction.operands[2]))) return;
  std::vector<BufferId> outs = {NewBuffer(rows.width)};
  if (centered) outs.push_back(NewBuffer(rows.width));
  Emit(NormColumnsStep{rows.rows, rows.width}, {gradient, buffer_of(x), statistics}, outs);
  if (needs(weight)) Contribute(weight, outs[0]);
  if (centered && needs(instruction.operands[2])) Contribute(instruction.operands[2], outs[1]);
}

void Lowering::BindGradients() {
  for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
    const Buffer& parameter = program_.buffers[buffer_of(static_cast<ValueId>(i))];
    const Buffer place = {
        .place = Place::kGradient, .offset = parameter.offset, .count = parameter.count};
    const std::optional<BufferId> gradient = gradients_[i];
    if (gradient && program_.buffers[*gradient].place == Place::kArena) {
      program_.buffers[*gradient] = place;  // it is written where the caller wants it
      continue;
    }
    program_.buffers.push_back(place);
    const auto out = static_cast<BufferId>(program_.buffers.size() - 1);
    if (gradient) {  // two parameters share this gradient
      Emit(CopyStep{.length = place.count}, {*gradient}, {out});
    } else {
      Emit(FillStep{0}, {}, {out});
    }
  }
}

}  // namespace ostraka::exact
