#include "exact/graph/infer.h"

#include <algorithm>
#include <string>

#include "exact/graph/operations.h"

namespace ostraka::exact {
namespace {

using Operands = std::span<const TensorType* const>;
using Shape = std::vector<std::int64_t>;

base::StatusOr<TensorType> FloatOf(Shape shape) {
  TensorType type{Element::kFloat, std::move(shape)};
  RETURN_IF_ERROR(CheckType(type));
  return type;
}

base::Status CheckAxis(std::int64_t axis, const TensorType& type) {
  if (axis >= 0 && axis < static_cast<std::int64_t>(type.shape.size())) return base::OkStatus();
  return base::InvalidArgument("axis " + std::to_string(axis) + " is none of " + TextOf(type));
}

base::StatusOr<TensorType> Permuted(const Attributes& attributes, const TensorType& operand) {
  Shape sorted = attributes.order;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.size() == operand.shape.size();
  for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i) {
    is_permutation = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!is_permutation)
    return base::InvalidArgument("order is no permutation of the axes of " + TextOf(operand));
  Shape shape;
  for (const std::int64_t axis : attributes.order) {
    shape.push_back(operand.shape[static_cast<std::size_t>(axis)]);
  }
  return FloatOf(std::move(shape));
}

// Axes are aligned at the end; one that is 1 or missing in the operand takes any extent.
base::StatusOr<TensorType> Expanded(const TensorType& stated, const TensorType& operand) {
  const Shape& from = operand.shape;
  const Shape& to = stated.shape;
  bool fits = from.size() <= to.size();
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    const std::int64_t extent = from[from.size() - 1 - i];
    fits = extent == 1 || extent == to[to.size() - 1 - i];
  }
  if (!fits)
    return base::InvalidArgument(TextOf(operand) + " does not expand to " + TextOf(stated));
  return FloatOf(to);
}

base::StatusOr<TensorType> Joined(const Attributes& attributes, Operands operands) {
  RETURN_IF_ERROR(CheckAxis(attributes.axis, *operands[0]));
  const auto axis = static_cast<std::size_t>(attributes.axis);
  Shape shape = operands[0]->shape;
  shape[axis] = 0;
  for (const TensorType* operand : operands) {
    Shape other = operand->shape;
    if (other.size() == shape.size()) {
      shape[axis] += other[axis];
      other[axis] = shape[axis];
    }
    if (other != shape) {
      return base::InvalidArgument(TextOf(*operand) + " and " + TextOf(*operands[0]) +
                                   " differ beyond axis " + std::to_string(axis));
    }
  }
  return FloatOf(std::move(shape));
}

base::StatusOr<TensorType> Sliced(const Attributes& attributes, const TensorType& operand) {
  RETURN_IF_ERROR(CheckAxis(attributes.axis, operand));
  Shape shape = operand.shape;
  std::int64_t& extent = shape[static_cast<std::size_t>(attributes.axis)];
  if (attributes.begin < 0 || attributes.begin >= attributes.end || attributes.end > extent) {
    return base::InvalidArgument("the range is empty or outside of axis " +
                                 std::to_string(attributes.axis) + " of " + TextOf(operand));
  }
  extent = attributes.end - attributes.begin;
  return FloatOf(std::move(shape));
}

base::StatusOr<TensorType> Multiplied(Operands operands) {
  const Shape& a = operands[0]->shape;
  const Shape& b = operands[1]->shape;
  const std::size_t rank = a.size();
  if (rank < 2 || b.size() != rank || !std::equal(a.begin(), a.end() - 2, b.begin()) ||
      a[rank - 1] != b[rank - 2]) {
    return base::InvalidArgument("matmul takes [..., M, K] and [..., K, N], not " +
                                 TextOf(*operands[0]) + " and " + TextOf(*operands[1]));
  }
  Shape shape = a;
  shape[rank - 1] = b[rank - 1];
  return FloatOf(std::move(shape));
}

base::StatusOr<TensorType> Linear(Operands operands) {
  const Shape& x = operands[0]->shape;
  const Shape& w = operands[1]->shape;
  if (x.empty() || w.size() != 2 || x.back() != w[1]) {
    return base::InvalidArgument("linear takes [..., K] and a weight [N, K], not " +
                                 TextOf(*operands[0]) + " and " + TextOf(*operands[1]));
  }
  if (operands.size() == 3 && operands[2]->shape != Shape{w[0]}) {
    return base::InvalidArgument("the bias of linear is [N], not " + TextOf(*operands[2]));
  }
  Shape shape = x;
  shape.back() = w[0];
  return FloatOf(std::move(shape));
}

base::StatusOr<TensorType> Attended(const Attributes& attributes, Operands operands) {
  const Shape& q = operands[0]->shape;
  const Shape& k = operands[1]->shape;
  if (q.size() != 4 || k.size() != 4 || operands[2]->shape != k || q[0] != k[0] || q[3] != k[3] ||
      q[2] % k[2] != 0) {
    return base::InvalidArgument(
        "attention takes a query [B, T, H, D] and key and value [B, S, G, D], H a multiple of G, "
        "not " +
        TextOf(*operands[0]) + ", " + TextOf(*operands[1]) + " and " + TextOf(*operands[2]));
  }
  if (attributes.causal != 0 && q[1] != k[1]) {
    return base::InvalidArgument("causal attention needs as many queries as keys");
  }
  if (operands.size() == 4 && operands[3]->shape != Shape{q[1], k[1]}) {
    return base::InvalidArgument("the mask of attention is [T, S], not " + TextOf(*operands[3]));
  }
  return FloatOf(q);
}

base::StatusOr<TensorType> Embedded(Operands operands) {
  const Shape& table = operands[0]->shape;
  if (table.size() != 2 || operands[1]->element != Element::kInt) {
    return base::InvalidArgument("embedding takes a table [V, D] and integers, not " +
                                 TextOf(*operands[0]) + " and " + TextOf(*operands[1]));
  }
  Shape shape = operands[1]->shape;
  shape.push_back(table[1]);
  return FloatOf(std::move(shape));
}

base::StatusOr<TensorType> Reduced(const Attributes& attributes, const TensorType& operand) {
  RETURN_IF_ERROR(CheckAxis(attributes.axis, operand));
  Shape shape = operand.shape;
  shape.erase(shape.begin() + attributes.axis);
  return FloatOf(std::move(shape));
}

base::StatusOr<TensorType> CrossEntropy(Operands operands) {
  Shape rows = operands[0]->shape;
  if (!rows.empty()) rows.pop_back();
  if (operands[0]->shape.empty() || operands[1]->element != Element::kInt ||
      operands[1]->shape != rows) {
    return base::InvalidArgument("cross_entropy takes logits [..., C] and integers [...], not " +
                                 TextOf(*operands[0]) + " and " + TextOf(*operands[1]));
  }
  return FloatOf({});
}

base::StatusOr<TensorType> Normalized(Operands operands) {
  const Shape& x = operands[0]->shape;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (x.empty() || operands[i]->shape != Shape{x.back()}) {
      return base::InvalidArgument("a normalization takes [..., D] and vectors [D], not " +
                                   TextOf(*operands[0]) + " and " + TextOf(*operands[i]));
    }
  }
  return FloatOf(x);
}

// Where an operation takes integers: the operand's index, or none.
std::size_t IntegerOperand(Op op) {
  return op == Op::kEmbedding || op == Op::kCrossEntropy ? 1 : kMaxOperands;
}

base::StatusOr<TensorType> InferShape(const Instruction& instruction, Operands operands) {
  const Attributes& attributes = instruction.attributes;
  switch (instruction.op) {
    case Op::kReshape:
      if (instruction.type.count() != operands[0]->count()) {
        return base::InvalidArgument(TextOf(*operands[0]) +
                                     " has another number of elements than " +
                                     TextOf(instruction.type));
      }
      return FloatOf(instruction.type.shape);
    case Op::kPermute:
      return Permuted(attributes, *operands[0]);
    case Op::kExpand:
      return Expanded(instruction.type, *operands[0]);
    case Op::kCat:
      return Joined(attributes, operands);
    case Op::kSlice:
      return Sliced(attributes, *operands[0]);
    case Op::kMatmul:
      return Multiplied(operands);
    case Op::kLinear:
      return Linear(operands);
    case Op::kAttention:
      return Attended(attributes, operands);
    case Op::kEmbedding:
      return Embedded(operands);
    case Op::kSum:
    case Op::kMean:
      return Reduced(attributes, *operands[0]);
    case Op::kCrossEntropy:
      return CrossEntropy(operands);
    case Op::kLayerNorm:
    case Op::kRmsNorm:
      return Normalized(operands);
    case Op::kSoftmax:
      if (operands[0]->shape.empty()) return base::InvalidArgument("softmax needs an axis");
      return FloatOf(operands[0]->shape);
    default:  // elementwise
      for (const TensorType* operand : operands) {
        if (*operand != *operands[0]) {
          return base::InvalidArgument(TextOf(*operands[0]) + " and " + TextOf(*operand) +
                                       " differ: expand one");
        }
      }
      return FloatOf(operands[0]->shape);
  }
}

}  // namespace

base::Status CheckType(const TensorType& type) {
  if (type.shape.size() > kMaxRank) {
    return base::InvalidArgument("a tensor has at most " + std::to_string(kMaxRank) + " axes");
  }
  std::int64_t count = 1;
  for (const std::int64_t extent : type.shape) {
    if (extent < 1) return base::InvalidArgument("every extent is at least 1");
    if (extent > kMaxElements / count) {
      return base::InvalidArgument("a tensor has at most " + std::to_string(kMaxElements) +
                                   " elements");
    }
    count *= extent;
  }
  return base::OkStatus();
}

base::StatusOr<TensorType> InferType(const Instruction& instruction, Operands operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool wants_integers = i == IntegerOperand(instruction.op);
    if ((operands[i]->element == Element::kInt) != wants_integers) {
      return base::InvalidArgument(std::string(OperationOf(instruction.op).name) + " takes " +
                                   (wants_integers ? "i32" : "f32") + " as operand " +
                                   std::to_string(i + 1) + ", not " + TextOf(*operands[i]));
    }
  }
  return InferShape(instruction, operands);
}

}  // namespace ostraka::exact
