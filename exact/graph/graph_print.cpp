#include <charconv>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "exact/graph/graph_text.h"
#include "exact/graph/operations.h"
#include "exact/graph/text_numbers.h"

namespace ostraka::exact {
namespace {

std::string ListText(const std::vector<std::int64_t>& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(list[i]);
  }
  return text + "]";
}

std::string ValueText(const Attributes& attributes, Attribute attribute) {
  switch (attribute) {
    case Attribute::kOrder:
      return ListText(attributes.order);
    case Attribute::kAxis:
      return std::to_string(attributes.axis);
    case Attribute::kBegin:
      return std::to_string(attributes.begin);
    case Attribute::kEnd:
      return std::to_string(attributes.end);
    case Attribute::kCausal:
      return std::to_string(attributes.causal);
    case Attribute::kScale:
      return FloatText(attributes.scale);
    case Attribute::kScalar:
      return FloatText(attributes.scalar);
    case Attribute::kEpsilon:
      return FloatText(attributes.epsilon);
  }
  return "";
}

std::string InitialText(const Parameter& parameter) {
  switch (parameter.initial) {
    case Initial::kZeros:
      return "zeros";
    case Initial::kOnes:
      return "ones";
    case Initial::kNormal:
      return "normal " + FloatText(parameter.scale);
    case Initial::kUniform:
      return "uniform " + FloatText(parameter.scale);
  }
  return "";
}

void PrintDeclarations(const Graph& graph, std::string& text) {
  for (const Parameter& parameter : graph.parameters) {
    text += "parameter " + parameter.name + " " + TextOf(parameter.type) + " " +
            InitialText(parameter) + "\n";
  }
  for (const Constant& constant : graph.constants) {
    text += "constant " + constant.name + " " + TextOf(constant.type) + " " + constant.hash.Hex() +
            "\n";
  }
  for (const Input& input : graph.inputs) {
    text += "input " + input.name + " " + TextOf(input.type);
    if (input.type.element == Element::kInt) {
      text += " " + std::to_string(input.lowest) + " " + std::to_string(input.bound);
    }
    if (input.is_drawn()) text += " keep " + FloatText(input.keep);
    text += "\n";
  }
}

}  // namespace

std::string FloatText(float value) {
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  return {buffer, end.ptr};
}

std::string PrintGraph(const Graph& graph) {
  std::string text = "ostraka-graph 1\n";
  PrintDeclarations(graph, text);
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    const Instruction& instruction = graph.instructions[i];
    const Operation& operation = OperationOf(instruction.op);
    text += "%" + std::to_string(i + 1) + " " + TextOf(instruction.type) + " = ";
    text += operation.name;
    for (const ValueId operand : instruction.operands) text += " " + graph.NameOf(operand);
    for (const Attribute attribute : operation.attributes) {
      text += ' ';
      text += NameOf(attribute);
      text += '=' + ValueText(instruction.attributes, attribute);
    }
    text += "\n";
  }
  return text + "loss " + graph.NameOf(graph.loss) + "\n";
}

base::Digest GraphId(std::string_view text) {
  return crypto::Hash(crypto::kDomainGraph, base::AsBytes(text));
}

}  // namespace ostraka::exact
