// The inputs of a micro-batch, and whether a program may read them.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "exact/program/program.h"
#include "node/base/status.h"

namespace ostraka::exact {

// The values of one input: floats or integers, as its type says.
struct InputValues {
  std::span<const float> floats = {};
  std::span<const std::int32_t> integers = {};
};

// InvalidArgument unless there are as many inputs as `program` has, each of its size, with no
// integer out of its range: then no step reads outside of a table.
base::Status CheckInputs(const Program& program, std::span<const InputValues> inputs);

}  // namespace ostraka::exact
