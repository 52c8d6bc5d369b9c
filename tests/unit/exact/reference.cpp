#include "tests/unit/exact/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ostraka::exact::testing {
namespace {

using Values = std::vector<double>;
using Index = std::vector<std::int64_t>;

std::size_t Size(std::int64_t extent) { return static_cast<std::size_t>(extent); }

Index IndexOf(std::size_t flat, const Index& shape) {
  Index index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = static_cast<std::int64_t>(flat) % shape[i];
    flat /= Size(shape[i]);
  }
  return index;
}

std::size_t FlatOf(const Index& index, const Index& shape) {
  std::size_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) flat = flat * Size(shape[i]) + Size(index[i]);
  return flat;
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const ReferenceInputs& inputs) : graph_(graph), inputs_(inputs) {}

  double Loss(const Values& parameters) {
    std::size_t offset = 0;
    for (const Parameter& parameter : graph_.parameters) {
      const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(offset);
      values_.emplace_back(begin, begin + parameter.type.count());
      offset += Size(parameter.type.count());
    }
    values_.insert(values_.end(), inputs_.constants.begin(), inputs_.constants.end());
    values_.insert(values_.end(), inputs_.floats.begin(), inputs_.floats.end());
    for (const Instruction& instruction : graph_.instructions) {
      instruction_ = &instruction;
      values_.push_back(Run());
    }
    return values_[graph_.loss].front();
  }

 private:
  const Values& a(std::size_t i) const { return values_[instruction_->operands[i]]; }
  const Index& shape(std::size_t i) const {
    return graph_.type_of(instruction_->operands[i]).shape;
  }
  const std::vector<std::int32_t>& integers(std::size_t i) const {
    const std::size_t first = graph_.parameters.size() + graph_.constants.size();
    return inputs_.integers[instruction_->operands[i] - first];
  }
  std::size_t width() const { return shape(0).empty() ? 1 : Size(shape(0).back()); }

  Values Run() {
    Values out(Size(instruction_->type.count()));
    const Attributes& attributes = instruction_->attributes;
    switch (instruction_->op) {
      case Op::kReshape:
      case Op::kStopGradient:
        return a(0);
      case Op::kPermute:
      case Op::kExpand:
      case Op::kSlice:
        return Move();
      case Op::kCat:
        return Cat();
      case Op::kMatmul:
        return Matmul();
      case Op::kLinear:
        return Linear();
      case Op::kAttention:
        return Attention();
      case Op::kEmbedding:
        for (std::size_t i = 0; i < out.size(); ++i) {
          out[i] = a(0)[Size(integers(1)[i / width()]) * width() + i % width()];
        }
        return out;
      case Op::kSum:
      case Op::kMean:
        return Sum();
      case Op::kSoftmax:
        return Softmax(a(0), width());
      case Op::kCrossEntropy:
        return {CrossEntropy()};
      case Op::kLayerNorm:
        return Norm(true);
      case Op::kRmsNorm:
        return Norm(false);
      default:
        for (std::size_t i = 0; i < out.size(); ++i) {
          out[i] =
              Element(a(0)[i], instruction_->operands.size() > 1 ? a(1)[i] : attributes.scalar);
        }
        return out;
    }
  }

  double Element(double x, double y) const {
    switch (instruction_->op) {
      case Op::kAdd:
      case Op::kAddScalar:
        return x + y;
      case Op::kSub:
        return x - y;
      case Op::kMul:
      case Op::kMulScalar:
        return x * y;
      case Op::kDiv:
      case Op::kDivScalar:
        return x / y;
      case Op::kRsqrt:
        return 1 / std::sqrt(x);
      case Op::kTanh:
        return std::tanh(x);
      case Op::kSigmoid:
        return 1 / (1 + std::exp(-x));
      case Op::kSilu:
        return x / (1 + std::exp(-x));
      case Op::kGelu:
        return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
      case Op::kGeluTanh:
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
      case Op::kRelu:
        return std::max(x, 0.0);
      default:
        return std::numeric_limits<double>::quiet_NaN();
    }
  }

  // Operations of which each result is one of the operand's elements.
  Values Move() const {
    Values out;
    const Index& from = shape(0);
    for (std::size_t i = 0; i < Size(instruction_->type.count()); ++i) {
      const Index to = IndexOf(i, instruction_->type.shape);
      Index index(from.size());
      for (std::size_t axis = 0; axis < from.size(); ++axis) {
        if (instruction_->op == Op::kPermute) {
          index[Size(instruction_->attributes.order[axis])] = to[axis];
        } else if (instruction_->op == Op::kSlice) {
          const bool sliced = axis == Size(instruction_->attributes.axis);
          index[axis] = to[axis] + (sliced ? instruction_->attributes.begin : 0);
        } else {
          index[axis] = from[axis] == 1 ? 0 : to[to.size() - from.size() + axis];
        }
      }
      out.push_back(a(0)[FlatOf(index, from)]);
    }
    return out;
  }

  Values Cat() const {
    Values out(Size(instruction_->type.count()));
    std::int64_t begin = 0;
    for (std::size_t k = 0; k < instruction_->operands.size(); ++k) {
      for (std::size_t i = 0; i < a(k).size(); ++i) {
        Index index = IndexOf(i, shape(k));
        index[Size(instruction_->attributes.axis)] += begin;
        out[FlatOf(index, instruction_->type.shape)] = a(k)[i];
      }
      begin += shape(k)[Size(instruction_->attributes.axis)];
    }
    return out;
  }

  Values Matmul() const {
    Values out(Size(instruction_->type.count()));
    const Index& left = shape(0);
    const std::size_t rank = left.size();
    const std::size_t rows = Size(left[rank - 2]);
    const std::size_t depth = Size(left[rank - 1]);
    const std::size_t columns = Size(shape(1)[rank - 1]);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t row = i / columns;  // of all matrices
      for (std::size_t k = 0; k < depth; ++k) {
        out[i] += a(0)[row * depth + k] * a(1)[(row / rows * depth + k) * columns + i % columns];
      }
    }
    return out;
  }

  Values Linear() const {
    Values out(Size(instruction_->type.count()));
    const std::size_t columns = Size(shape(1)[0]);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = instruction_->operands.size() == 3 ? a(2)[i % columns] : 0;
      for (std::size_t k = 0; k < width(); ++k) {
        out[i] += a(0)[i / columns * width() + k] * a(1)[i % columns * width() + k];
      }
    }
    return out;
  }

  static Values Softmax(const Values& x, std::size_t width) {
    Values out(x.size());
    for (std::size_t begin = 0; begin < x.size(); begin += width) {
      double largest = -std::numeric_limits<double>::infinity();
      double total = 0;
      for (std::size_t i = begin; i < begin + width; ++i) largest = std::max(largest, x[i]);
      for (std::size_t i = begin; i < begin + width; ++i) total += std::exp(x[i] - largest);
      for (std::size_t i = begin; i < begin + width; ++i) out[i] = std::exp(x[i] - largest) / total;
    }
    return out;
  }

  Values Attention() const {
    const Index& q = shape(0);
    const Index& k = shape(1);
    Values out(a(0).size());
    for (std::size_t i = 0; i < out.size(); i += Size(q[3])) {
      const Index at = IndexOf(i, q);
      const std::int64_t group = at[2] / (q[2] / k[2]);
      const std::int64_t visible = instruction_->attributes.causal != 0 ? at[1] + 1 : k[1];
      Values scores;
      for (std::int64_t s = 0; s < visible; ++s) {
        double score = 0;
        for (std::int64_t d = 0; d < q[3]; ++d) {
          score += a(0)[i + Size(d)] * a(1)[FlatOf({at[0], s, group, d}, k)];
        }
        score *= instruction_->attributes.scale;
        if (instruction_->operands.size() == 4) score += a(3)[Size(at[1] * k[1] + s)];
        scores.push_back(score);
      }
      const Values p = Softmax(scores, scores.size());
      for (std::int64_t s = 0; s < visible; ++s) {
        for (std::int64_t d = 0; d < q[3]; ++d) {
          out[i + Size(d)] += p[Size(s)] * a(2)[FlatOf({at[0], s, group, d}, k)];
        }
      }
    }
    return out;
  }

  Values Sum() const {
    Values out(Size(instruction_->type.count()));
    const std::size_t axis = Size(instruction_->attributes.axis);
    for (std::size_t i = 0; i < a(0).size(); ++i) {
      Index index = IndexOf(i, shape(0));
      index.erase(index.begin() + static_cast<std::ptrdiff_t>(axis));
      const double share =
          instruction_->op == Op::kMean ? static_cast<double>(shape(0)[axis]) : 1.0;
      out[FlatOf(index, instruction_->type.shape)] += a(0)[i] / share;
    }
    return out;
  }

  double CrossEntropy() const {
    double total = 0;
    double kept = 0;
    const Values p = Softmax(a(0), width());
    for (std::size_t r = 0; r < integers(1).size(); ++r) {
      const std::int32_t target = integers(1)[r];
      if (target < 0) continue;
      total -= std::log(p[r * width() + Size(target)]);
      kept += 1;
    }
    return kept == 0 ? 0 : total / kept;
  }

  Values Norm(bool centered) const {
    Values out(a(0).size());
    const auto n = static_cast<double>(width());
    for (std::size_t begin = 0; begin < out.size(); begin += width()) {
      double mean = 0;
      double variance = 0;
      for (std::size_t i = 0; i < width(); ++i) mean += centered ? a(0)[begin + i] / n : 0;
      for (std::size_t i = 0; i < width(); ++i) {
        variance += (a(0)[begin + i] - mean) * (a(0)[begin + i] - mean) / n;
      }
      const double deviation =
          std::sqrt(variance + static_cast<double>(instruction_->attributes.epsilon));
      for (std::size_t i = 0; i < width(); ++i) {
        out[begin + i] = (a(0)[begin + i] - mean) / deviation * a(1)[i] + (centered ? a(2)[i] : 0);
      }
    }
    return out;
  }

  const Graph& graph_;
  const ReferenceInputs& inputs_;
  const Instruction* instruction_ = nullptr;
  std::vector<Values> values_;
};

}  // namespace

double ReferenceLoss(const Graph& graph, const std::vector<double>& parameters,
                     const ReferenceInputs& inputs) {
  return Interpreter(graph, inputs).Loss(parameters);
}

}  // namespace ostraka::exact::testing
