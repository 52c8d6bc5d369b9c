#include "exact/graph/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "exact/graph/infer.h"
#include "exact/graph/operations.h"
#include "node/base/safetensors.h"

namespace ostraka::exact {
namespace {

base::Status Refuse(const std::string& name, const std::string& reason) {
  return base::InvalidArgument(name + ": " + reason);
}

bool IsName(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return !name.empty() && name.size() <= kMaxNameBytes && name != base::kSafetensorsMetadata &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

base::Status CheckDeclared(const std::string& name, const TensorType& type,
                           std::set<std::string_view>& names) {
  if (!IsName(name)) {
    return base::InvalidArgument("a name has 1 to " + std::to_string(kMaxNameBytes) +
                                 " letters, digits, '_' and '.', and is not " +
                                 base::kSafetensorsMetadata);
  }
  if (!names.insert(name).second) return Refuse(name, "is declared twice");
  if (const base::Status status = CheckType(type); !status.ok()) {
    return Refuse(name, base::MessageOf(status));
  }
  return base::OkStatus();
}

base::Status CheckInput(const Input& input) {
  if (input.is_drawn() && (input.type.element != Element::kFloat || !(input.keep > 0) ||
                           !(input.keep < 1) || !std::isfinite(1 / input.keep))) {
    return Refuse(input.name, "a drawn input has floats, and keeps more than 0 and less than 1");
  }
  if (input.type.element == Element::kFloat) return base::OkStatus();
  if (input.lowest < -1 || input.lowest > 0 || input.bound < 1 ||
      input.bound > std::numeric_limits<std::int32_t>::max()) {
    return Refuse(input.name, "integers have a lowest value of 0 or -1 and a bound of at least 1");
  }
  return base::OkStatus();
}

base::Status CheckDeclarations(const Graph& graph) {
  std::set<std::string_view> names;
  std::int64_t count = 0;
  for (const Parameter& parameter : graph.parameters) {
    RETURN_IF_ERROR(CheckDeclared(parameter.name, parameter.type, names));
    if (parameter.type.element != Element::kFloat) {
      return Refuse(parameter.name, "a parameter has floats");
    }
    if (!std::isfinite(parameter.scale)) return Refuse(parameter.name, "its scale is not finite");
    count += parameter.type.count();
    if (count > kMaxElements) {
      return base::InvalidArgument("parameters have at most " + std::to_string(kMaxElements) +
                                   " elements together");
    }
  }
  for (const Constant& constant : graph.constants) {
    RETURN_IF_ERROR(CheckDeclared(constant.name, constant.type, names));
    if (constant.type.element != Element::kFloat) {
      return Refuse(constant.name, "a constant has floats");
    }
  }
  for (const Input& input : graph.inputs) {
    RETURN_IF_ERROR(CheckDeclared(input.name, input.type, names));
    RETURN_IF_ERROR(CheckInput(input));
  }
  for (std::size_t i = graph.given_count(); i < graph.inputs.size(); ++i) {
    if (!graph.inputs[i].is_drawn()) {
      return Refuse(graph.inputs[i].name, "inputs that are drawn come after those of the data");
    }
  }
  return base::OkStatus();
}

// An index must be within what it selects from.
base::Status CheckIntegers(const Graph& graph, const Instruction& instruction) {
  if (instruction.op != Op::kEmbedding && instruction.op != Op::kCrossEntropy) {
    return base::OkStatus();
  }
  const Input* input = graph.InputOf(instruction.operands[1]);
  if (input == nullptr) return base::InvalidArgument("its integers are no input");
  const std::vector<std::int64_t>& shape = graph.type_of(instruction.operands[0]).shape;
  const bool is_table = instruction.op == Op::kEmbedding;
  const std::int64_t limit = is_table ? shape.front() : shape.back();
  if (input->bound > limit || (is_table && input->lowest < 0)) {
    return base::InvalidArgument(input->name + " has values outside of 0 to " +
                                 std::to_string(limit - 1));
  }
  return base::OkStatus();
}

base::Status CheckInstruction(const Graph& graph, const Instruction& instruction, ValueId id,
                              const std::vector<bool>& depends) {
  const Operation& operation = OperationOf(instruction.op);
  const std::size_t count = instruction.operands.size();
  if (count < operation.min_operands || count > operation.max_operands) {
    return base::InvalidArgument("wrong number of operands");
  }
  RETURN_IF_ERROR(CheckType(instruction.type));
  const Attributes& attributes = instruction.attributes;
  if (!std::isfinite(attributes.scale) || !std::isfinite(attributes.scalar) ||
      !std::isfinite(attributes.epsilon)) {
    return base::InvalidArgument("a number is not finite");
  }
  if (attributes.causal < 0 || attributes.causal > 1) {
    return base::InvalidArgument("causal is 0 or 1");
  }
  std::vector<const TensorType*> operands;
  for (const ValueId operand : instruction.operands) {
    if (operand >= id) return base::InvalidArgument("an operand is not above it");
    operands.push_back(&graph.type_of(operand));
  }
  ASSIGN_OR_RETURN(const TensorType type, InferType(instruction, operands));
  if (type != instruction.type) {
    return base::InvalidArgument("its type is " + TextOf(type) + ", not " +
                                 TextOf(instruction.type));
  }
  RETURN_IF_ERROR(CheckIntegers(graph, instruction));
  if (instruction.op == Op::kAttention && count == 4 && depends[instruction.operands[3]]) {
    return base::InvalidArgument("its mask depends on a parameter, and masks have no gradient");
  }
  return base::OkStatus();
}

}  // namespace

std::vector<bool> DependsOnParameters(const Graph& graph) {
  std::vector<bool> depends(graph.value_count());
  std::fill_n(depends.begin(), graph.parameters.size(), true);
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    if (graph.instructions[i].op == Op::kStopGradient) continue;
    const std::vector<ValueId>& operands = graph.instructions[i].operands;
    depends[graph.declared_count() + i] = std::any_of(
        operands.begin(), operands.end(), [&depends](ValueId operand) { return depends[operand]; });
  }
  return depends;
}

base::Status CheckGraph(const Graph& graph) {
  RETURN_IF_ERROR(CheckDeclarations(graph));
  // Types of operands are checked before those of their uses, so nothing below reads a value that
  // does not exist.
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    const auto id = static_cast<ValueId>(graph.declared_count() + i);
    for (const ValueId operand : graph.instructions[i].operands) {
      if (operand >= id) return Refuse(graph.NameOf(id), "an operand is not above it");
    }
  }
  const std::vector<bool> depends = DependsOnParameters(graph);
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    const auto id = static_cast<ValueId>(graph.declared_count() + i);
    const base::Status status = CheckInstruction(graph, graph.instructions[i], id, depends);
    if (!status.ok()) return Refuse(graph.NameOf(id), base::MessageOf(status));
  }
  if (graph.loss >= graph.value_count()) return base::InvalidArgument("the loss is no value");
  if (graph.type_of(graph.loss) != TensorType{Element::kFloat, {}}) {
    return Refuse(graph.NameOf(graph.loss),
                  "the loss is f32[], not " + TextOf(graph.type_of(graph.loss)));
  }
  if (!depends[graph.loss]) {
    return Refuse(graph.NameOf(graph.loss), "the loss depends on no parameter");
  }
  return base::OkStatus();
}

}  // namespace ostraka::exact
