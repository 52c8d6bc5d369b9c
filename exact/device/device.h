// A device: memory of its own, and kernels over it (kernels.inc).
//
// Launches run in the order in which they were asked for, and a Download after them all. What a
// driver may answer is a Status and no more: Unavailable if the device is lost or its memory is
// full, Internal if it refuses what it should take. After an error the contents of all buffers are
// undefined.
//
// Thread safety: one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "node/base/status.h"

namespace ostraka::exact {

// A name of memory of the device that gave it.
struct DeviceBuffer {
  std::uint32_t id = 0;
};

// What a kernel takes: the beginning of a buffer, or 32 bits.
using Argument = std::variant<DeviceBuffer, std::uint32_t, float>;

struct DeviceKernel {
  const char* name;     // in the kernels' text
  std::uint32_t items;  // of a group
};

struct DeviceTraits {
  std::string name;                // for people
  std::uint64_t memory_bytes = 0;  // of all buffers together
  std::uint64_t buffer_bytes = 0;  // of one buffer
};

inline constexpr std::uint64_t kMostGroups = (std::uint64_t{1} << 31) - 1;  // of one launch

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceTraits& traits() const = 0;

  // Memory with any contents. Unavailable: there is not so much. REQUIRES: bytes > 0.
  virtual base::StatusOr<DeviceBuffer> Allocate(std::uint64_t bytes) = 0;
  // REQUIRES: no launch that has not finished uses `buffer`.
  virtual void Free(DeviceBuffer buffer) = 0;

  // `from` may change when it returns. `offset` in bytes. REQUIRES: all of it lies in the buffer.
  virtual base::Status Upload(DeviceBuffer to, std::uint64_t offset,
                              std::span<const std::byte> from) = 0;
  // Waits for all launches before it. REQUIRES: all of it lies in the buffer.
  virtual base::Status Download(DeviceBuffer from, std::uint64_t offset,
                                std::span<std::byte> to) = 0;

  // Runs a kernel in `groups` groups of kernel.items. May return before it has run; an error of it
  // may then come from a later call.
  // REQUIRES: 0 < groups <= kMostGroups; the arguments are those of the kernel, and what they name
  // lies in their buffers.
  virtual base::Status Launch(const DeviceKernel& kernel, std::uint32_t groups,
                              std::span<const Argument> arguments) = 0;
  // Waits for all launches.
  virtual base::Status Finish() = 0;
};

}  // namespace ostraka::exact
