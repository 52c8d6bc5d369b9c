// Builds graphs value by value: types follow from the operations, and declarations may come at any
// point between instructions.
//
// Promises:
//   G1  every operand of an instruction was added before it.
//   G2  every type is the one that infer.h gives; the builder stops the program at a wrong one, so
//       callers check sizes first (models.cpp).
// May not know: which model it builds.
// Memory: proportional to what was added.
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exact/graph/graph.h"

namespace ostraka::exact {

using Shape = std::vector<std::int64_t>;

// A value of a graph in the making.
struct Node {
  enum class Kind : std::uint8_t { kParameter, kConstant, kInput, kInstruction };
  Kind kind = Kind::kInstruction;
  std::uint32_t index = 0;
};

class GraphBuilder {
 public:
  Node AddParameter(Parameter parameter);
  Node AddConstant(Constant constant);
  Node AddFloats(const std::string& name, Shape shape);
  Node AddIntegers(const std::string& name, Shape shape, std::int64_t lowest, std::int64_t bound);

  // REQUIRES: the operands fit the operation.
  Node Apply(Op op, const std::vector<Node>& operands, Attributes attributes = {});
  Node Reshape(Node operand, Shape shape);
  Node Expand(Node operand, Shape shape);

  const Shape& shape_of(Node node) const { return type_of(node).shape; }

  // REQUIRES: loss is a scalar; called once.
  Graph Finish(Node loss);

 private:
  struct Pending {
    Instruction instruction;
    std::vector<Node> operands;
  };

  const TensorType& type_of(Node node) const;
  Node Append(Op op, const std::vector<Node>& operands, Attributes attributes, TensorType stated);

  Graph graph_;
  std::vector<Pending> pending_;
};

}  // namespace ostraka::exact
