#include "exact/run/inputs.h"

#include <string>

namespace ostraka::exact {
namespace {

base::Status CheckInput(const Input& input, const InputValues& values) {
  const auto count = static_cast<std::size_t>(input.type.count());
  const bool of_integers = input.type.element == Element::kInt;
  if ((of_integers ? values.integers.size() : values.floats.size()) != count) {
    return base::InvalidArgument("input " + input.name + " has " + std::to_string(count) +
                                 " values");
  }
  for (const std::int32_t value : values.integers) {
    if (value < input.lowest || value >= input.bound) {
      return base::InvalidArgument("input " + input.name + " has a value " + std::to_string(value) +
                                   ", which is not in " + std::to_string(input.lowest) + " to " +
                                   std::to_string(input.bound - 1));
    }
  }
  return base::OkStatus();
}

}  // namespace

base::Status CheckInputs(const Program& program, std::span<const InputValues> inputs) {
  if (inputs.size() != program.inputs.size()) {
    return base::InvalidArgument("the graph has " + std::to_string(program.inputs.size()) +
                                 " inputs");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    RETURN_IF_ERROR(CheckInput(program.inputs[i], inputs[i]));
  }
  return base::OkStatus();
}

}  // namespace ostraka::exact
