// Devices of OpenCL 1.2 or later, of any vendor whose driver is installed.
//
// What a driver says of itself decides how the kernels are built; whether the device may compute
// gradients is decided by exact/device/conformance_program.h.
//
// Thread safety: pure functions; of a device, one call at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exact/device/device.h"
#include "node/base/status.h"

namespace ostraka::device {

// A device as its driver describes it.
struct OpenClInfo {
  std::string platform;
  std::string name;
  std::string driver;  // its version
  std::uint64_t memory_bytes = 0;
  std::uint64_t buffer_bytes = 0;  // of one buffer at most
  bool is_processor = false;       // the machine's own, such as by pocl
  bool keeps_subnormals = false;
  bool rounds_division = false;  // else the kernels have a division of their own
};

struct OpenClOptions {
  std::string library = "";        // empty: libOpenCL.so.1
  bool own_division = false;       // even if the device rounds its own to nearest
  std::string build_options = "";  // more of them, for tests
};

// All devices of all platforms, in the drivers' order. Unavailable: no library.
base::StatusOr<std::vector<OpenClInfo>> ListOpenCl(const OpenClOptions& options = {});

// Opens the device of that place in the list and builds the kernels, which may take seconds.
// NotFound: there is none. FailedPrecondition: its work groups or its local memory are too small.
// Internal, with the driver's log: the kernels cannot be built. Unavailable: no library.
base::StatusOr<std::unique_ptr<exact::Device>> OpenOpenCl(std::size_t index,
                                                          const OpenClOptions& options = {});

}  // namespace ostraka::device
