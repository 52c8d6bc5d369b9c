#include "exact/graph/graph.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::exact {

std::string TextOf(const TensorType& type) {
  std::string text = type.element == Element::kFloat ? "f32[" : "i32[";
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(type.shape[i]);
  }
  return text + "]";
}

const TensorType& Graph::type_of(ValueId value) const {
  OSTRAKA_CHECK(value < value_count());
  std::size_t index = value;
  if (index < parameters.size()) return parameters[index].type;
  index -= parameters.size();
  if (index < constants.size()) return constants[index].type;
  index -= constants.size();
  if (index < inputs.size()) return inputs[index].type;
  return instructions[index - inputs.size()].type;
}

std::string Graph::NameOf(ValueId value) const {
  OSTRAKA_CHECK(value < value_count());
  std::size_t index = value;
  if (index < parameters.size()) return parameters[index].name;
  index -= parameters.size();
  if (index < constants.size()) return constants[index].name;
  index -= constants.size();
  if (index < inputs.size()) return inputs[index].name;
  return "%" + std::to_string(index - inputs.size() + 1);
}

std::size_t Graph::given_count() const {
  const auto drawn = std::find_if(inputs.begin(), inputs.end(),
                                  [](const Input& input) { return input.is_drawn(); });
  return static_cast<std::size_t>(drawn - inputs.begin());
}

const Input* Graph::InputOf(ValueId value) const {
  const std::size_t first = parameters.size() + constants.size();
  return value >= first && value < first + inputs.size() ? &inputs[value - first] : nullptr;
}

}  // namespace ostraka::exact
