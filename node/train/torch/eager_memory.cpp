#include "node/train/torch/eager_memory.h"

#include <algorithm>

namespace ostraka::train {
namespace {

// Counts are doubles, as products of extents may not fit 64 bits; a rounded one changes no bound.
constexpr double kFloatBytes = 4;
constexpr double kIntegerBytes = 8;  // libtorch's indices

double Count(const exact::TensorType& type) { return static_cast<double>(type.count()); }

double OperandCounts(const exact::Graph& graph, const exact::Instruction& instruction) {
  double count = 0;
  for (const exact::ValueId operand : instruction.operands) count += Count(graph.type_of(operand));
  return count;
}

// Floats of the scores of an attention: for each batch and head, positions times positions.
double ScoreCount(const exact::Graph& graph, const exact::Instruction& instruction) {
  const exact::TensorType& query = graph.type_of(instruction.operands[0]);
  const exact::TensorType& key = graph.type_of(instruction.operands[1]);
  const auto width = static_cast<double>(query.shape.back());
  return Count(query) / std::max(width, 1.0) * static_cast<double>(key.shape[1]);
}

// Floats of one instruction that stay until its gradient is known, and of its result's gradient:
// the result, an intermediate one as large, and what a product or an attention copies of its
// operands.
double HeldCount(const exact::Graph& graph, const exact::Instruction& instruction) {
  double count = 3 * Count(instruction.type);
  switch (instruction.op) {
    case exact::Op::kMatmul:
      return count + OperandCounts(graph, instruction);
    case exact::Op::kAttention: {
      const double query = Count(graph.type_of(instruction.operands[0]));
      // Keys and values, repeated for each head of the queries, are as large as one for each.
      const exact::TensorType& key = graph.type_of(instruction.operands[1]);
      const double repeated = Count(key) /
                              static_cast<double>(std::max<std::int64_t>(key.shape[2], 1)) *
                              static_cast<double>(graph.type_of(instruction.operands[0]).shape[2]);
      return count + query + 2 * repeated + ScoreCount(graph, instruction);
    }
    case exact::Op::kCrossEntropy:
      return count + 2 * OperandCounts(graph, instruction);
    default:
      return count;
  }
}

// Floats that live only while one instruction is computed, in either direction.
double PassingCount(const exact::Graph& graph, const exact::Instruction& instruction) {
  const double count = 3 * (Count(instruction.type) + OperandCounts(graph, instruction));
  return instruction.op == exact::Op::kAttention ? count + 6 * ScoreCount(graph, instruction)
                                                 : count;
}

}  // namespace

std::uint64_t EagerBytes(const exact::Graph& graph) {
  double bytes = 0;
  // A parameter, its gradient, and two contributions to it that are being added.
  for (const auto& parameter : graph.parameters) bytes += 4 * kFloatBytes * Count(parameter.type);
  for (const auto& constant : graph.constants) bytes += kFloatBytes * Count(constant.type);
  for (const auto& input : graph.inputs) bytes += kIntegerBytes * Count(input.type);
  double passing = 0;
  for (const exact::Instruction& instruction : graph.instructions) {
    bytes += kFloatBytes * HeldCount(graph, instruction);
    passing = std::max(passing, kFloatBytes * PassingCount(graph, instruction));
  }
  return static_cast<std::uint64_t>(std::min(bytes + passing, 0x1p62));
}

}  // namespace ostraka::train
