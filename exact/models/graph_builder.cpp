#include "exact/models/graph_builder.h"

#include <utility>

#include "exact/graph/infer.h"
#include "node/base/check.h"

namespace ostraka::exact {

Node GraphBuilder::AddParameter(Parameter parameter) {
  graph_.parameters.push_back(std::move(parameter));
  return {Node::Kind::kParameter, static_cast<std::uint32_t>(graph_.parameters.size() - 1)};
}

Node GraphBuilder::AddConstant(Constant constant) {
  graph_.constants.push_back(std::move(constant));
  return {Node::Kind::kConstant, static_cast<std::uint32_t>(graph_.constants.size() - 1)};
}

Node GraphBuilder::AddFloats(const std::string& name, Shape shape) {
  graph_.inputs.push_back({.name = name, .type = {Element::kFloat, std::move(shape)}});
  return {Node::Kind::kInput, static_cast<std::uint32_t>(graph_.inputs.size() - 1)};
}

Node GraphBuilder::AddIntegers(const std::string& name, Shape shape, std::int64_t lowest,
                               std::int64_t bound) {
  graph_.inputs.push_back(
      {.name = name, .type = {Element::kInt, std::move(shape)}, .lowest = lowest, .bound = bound});
  return {Node::Kind::kInput, static_cast<std::uint32_t>(graph_.inputs.size() - 1)};
}

const TensorType& GraphBuilder::type_of(Node node) const {
  switch (node.kind) {
    case Node::Kind::kParameter:
      return graph_.parameters[node.index].type;
    case Node::Kind::kConstant:
      return graph_.constants[node.index].type;
    case Node::Kind::kInput:
      return graph_.inputs[node.index].type;
    case Node::Kind::kInstruction:
      break;
  }
  return pending_[node.index].instruction.type;
}

Node GraphBuilder::Append(Op op, const std::vector<Node>& operands, Attributes attributes,
                          TensorType stated) {
  Instruction instruction{.op = op, .attributes = std::move(attributes), .type = std::move(stated)};
  std::vector<const TensorType*> types;
  for (const Node operand : operands) types.push_back(&type_of(operand));
  auto type = InferType(instruction, types);
  OSTRAKA_CHECK(type.ok());
  instruction.type = *std::move(type);
  pending_.push_back({std::move(instruction), operands});
  return {Node::Kind::kInstruction, static_cast<std::uint32_t>(pending_.size() - 1)};
}

Node GraphBuilder::Apply(Op op, const std::vector<Node>& operands, Attributes attributes) {
  return Append(op, operands, std::move(attributes), {});
}

Node GraphBuilder::Reshape(Node operand, Shape shape) {
  return Append(Op::kReshape, {operand}, {}, {Element::kFloat, std::move(shape)});
}

Node GraphBuilder::Expand(Node operand, Shape shape) {
  return Append(Op::kExpand, {operand}, {}, {Element::kFloat, std::move(shape)});
}

Graph GraphBuilder::Finish(Node loss) {
  const auto id_of = [this](Node node) {
    std::size_t id = node.index;
    if (node.kind != Node::Kind::kParameter) id += graph_.parameters.size();
    if (node.kind == Node::Kind::kInput || node.kind == Node::Kind::kInstruction) {
      id += graph_.constants.size();
    }
    if (node.kind == Node::Kind::kInstruction) id += graph_.inputs.size();
    return static_cast<ValueId>(id);
  };
  for (Pending& pending : pending_) {
    for (const Node operand : pending.operands) {
      pending.instruction.operands.push_back(id_of(operand));
    }
    graph_.instructions.push_back(std::move(pending.instruction));
  }
  graph_.loss = id_of(loss);
  return std::move(graph_);
}

}  // namespace ostraka::exact
