// The parts of Differentiate: values with their buffers, and the steps emitted so far. Only
// differentiate.cpp, forward.cpp and backward.cpp include this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exact/program/program.h"

namespace ostraka::exact {

inline std::size_t Size(std::int64_t extent) { return static_cast<std::size_t>(extent); }

// Builds a program, forward pass first.
//
// Promises:
//   L1  buffer_of(value) is written before any step that was emitted later reads it.
//   L2  a value that does not depend on a parameter gets no gradient.
//
// Memory: a constant number of steps and buffers for each instruction.
// Thread safety: none; one owner.
class Lowering {
 public:
  explicit Lowering(const Graph& graph);

  // Emits the steps of instruction `index`. REQUIRES: in ascending order.
  void Forward(std::size_t index);
  // Emits the steps that give its operands' gradients, if its result has one. REQUIRES: in
  // descending order, after every Forward.
  void Backward(std::size_t index);

  // A gradient of 1 for the loss.
  void BeginBackward();
  // Gives each parameter's gradient its place. REQUIRES: after every Backward.
  void BindGradients();
  Program Finish() { return std::move(program_); }

 private:
  const TensorType& type_of(ValueId value) const { return graph_.type_of(value); }
  std::size_t count_of(ValueId value) const {
    return static_cast<std::size_t>(graph_.type_of(value).count());
  }
  BufferId buffer_of(ValueId value) const { return buffers_[value]; }
  ValueId value_of(std::size_t index) const {
    return static_cast<ValueId>(graph_.declared_count() + index);
  }
  bool needs(ValueId value) const { return depends_[value]; }

  BufferId NewBuffer(std::size_t count);
  void Emit(StepKind kind, std::vector<BufferId> reads, std::vector<BufferId> writes);
  BufferId EmitMap(Map map, std::vector<BufferId> reads, std::size_t count, float scalar = 0);
  // Adds `gradient` to what `value` has. REQUIRES: needs(value).
  void Contribute(ValueId value, BufferId gradient);

  // Parts of Forward.
  void ForwardCat(const Instruction& instruction, BufferId out);
  void ForwardSlice(const Instruction& instruction, BufferId out);
  void ForwardLinear(const Instruction& instruction, BufferId out);
  void ForwardSum(const Instruction& instruction, BufferId out);
  void ForwardNorm(const Instruction& instruction, std::size_t index, BufferId out);
  void ForwardShape(const Instruction& instruction, BufferId out);
  void ForwardMap(const Instruction& instruction, BufferId out);

  // Parts of Backward: `gradient` is that of the result.
  void BackwardShape(const Instruction& instruction, BufferId gradient);
  void BackwardCat(const Instruction& instruction, BufferId gradient);
  void BackwardSlice(const Instruction& instruction, BufferId gradient);
  void BackwardMatmul(const Instruction& instruction, BufferId gradient);
  void BackwardLinear(const Instruction& instruction, BufferId gradient);
  void BackwardAttention(const Instruction& instruction, BufferId gradient);
  void BackwardArithmetic(const Instruction& instruction, BufferId gradient);
  void BackwardUnary(const Instruction& instruction, std::size_t index, BufferId gradient);
  void BackwardSum(const Instruction& instruction, BufferId gradient);
  void BackwardNorm(const Instruction& instruction, std::size_t index, BufferId gradient);
  void BackwardRows(const Instruction& instruction, std::size_t index, BufferId gradient);

  const Graph& graph_;
  Program program_;
  std::vector<bool> depends_;
  std::vector<BufferId> buffers_;                    // of each value
  std::vector<std::optional<BufferId>> gradients_;   // of each value
  std::vector<std::optional<BufferId>> statistics_;  // of each instruction
};

// An axis of a row-major tensor as [outer, extent, inner].
struct AxisView {
  std::size_t outer = 1;
  std::size_t extent = 1;
  std::size_t inner = 1;
};
AxisView ViewOf(const std::vector<std::int64_t>& shape, std::int64_t axis);

// Rows and width of a tensor seen as rows along its last axis.
struct RowView {
  std::size_t rows = 1;
  std::size_t width = 1;
};
RowView RowsOf(const TensorType& type);

// Where an expanded tensor's elements come from: the result's extents and the operand's strides.
GatherStep ExpansionOf(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to);
GatherStep PermutationOf(const std::vector<std::int64_t>& from,
                         const std::vector<std::int64_t>& order);

ProductStep MatmulOf(const TensorType& left, const TensorType& right);
AttentionShape AttentionOf(const Graph& graph, const Instruction& instruction);

}  // namespace ostraka::exact
