// Memory of a program, planned before it runs: one arena in which buffers that do not live at once
// share places.
//
// What an attacker can do here: a graph may name tensors of any size. The plan counts them before
// anybody allocates, and a program beyond the limits is refused.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "exact/program/program.h"

namespace ostraka::exact {

struct PlanLimits {
  std::uint64_t max_bytes = std::uint64_t{8} << 30;
  std::uint64_t max_operations = std::uint64_t{1} << 50;
  // The arena consists of slabs of so many elements, and no buffer lies in two of them: a multiple
  // of 16, or 0 for one slab. A buffer that is larger than a slab is beyond the limits.
  std::size_t slab_elements = 0;
};

struct PlannedProgram {
  Program program;  // every buffer of the arena has its offset
  std::size_t threads = 1;
  std::size_t arena_elements = 0;
  std::vector<std::size_t> scratch = {};  // of each step: its scratch's offset in the arena
  std::uint64_t operations = 0;           // of one gradient
  // Bytes that a gradient needs at its peak: parameters, constants, inputs, gradient, arena, and
  // what products are packed into.
  std::uint64_t peak_bytes = 0;
};

// Gives every arena buffer a place that no other live buffer has. An elementwise step may
// write over an operand that nobody reads again.
// InvalidArgument: beyond the limits. REQUIRES: threads > 0; slab_elements is a multiple of 16.
base::StatusOr<PlannedProgram> PlanMemory(Program program, const PlanLimits& limits,
                                          std::size_t threads);

// Parses, checks, differentiates and plans a graph file: all that stands between a stranger's file
// and running it. InvalidArgument with the reason otherwise.
base::StatusOr<PlannedProgram> PrepareGraph(std::string_view text, const PlanLimits& limits,
                                            std::size_t threads);

}  // namespace ostraka::exact
