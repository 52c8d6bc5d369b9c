// A device that runs the kernels' text as C++: for tests, for sanitizers, and for whoever has no
// GPU at hand. It is slow: no member of a run computes with it.
//
// The items of a group take turns, each from one barrier to the next. If two of them meet in
// between, ascending and descending turns give different bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "exact/device/device.h"

namespace ostraka::exact {

// A group that runs.
struct EmulatedGroup {
  std::uint32_t index = 0;
  std::uint32_t items = 0;
  bool descending = false;

  std::uint32_t ItemOf(std::uint32_t turn) const { return descending ? items - 1 - turn : turn; }
};

// An argument whose buffer is memory of this process.
struct EmulatedArgument {
  std::byte* memory = nullptr;  // null: a value
  Argument argument = {};
};

// A kernel of a compiled text (emulation_table.inc).
struct EmulatedKernel {
  DeviceKernel kernel;
  // Of each parameter one letter: b a buffer, u an integer, f a float.
  std::string_view parameters;
  // Runs one group. InvalidArgument: the arguments are not the kernel's.
  base::Status (*run)(const EmulatedGroup& group, std::span<const EmulatedArgument> arguments);
};
using EmulatedKernels = std::span<const EmulatedKernel>;

// The text as it is, with the division of this processor.
extern const EmulatedKernels kEmulatedKernels;

struct EmulationOptions {
  EmulatedKernels kernels = kEmulatedKernels;
  bool descending = false;  // turns of a group's items
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;
  std::uint64_t buffer_bytes = std::uint64_t{4} << 30;
};

// Memory that it hands out is filled with 0xa5. Beside what Device says it answers InvalidArgument
// to what breaks a REQUIRES of Device's, except for places in a buffer that a kernel reaches.
std::unique_ptr<Device> MakeEmulatedDevice(const EmulationOptions& options = {});

}  // namespace ostraka::exact
