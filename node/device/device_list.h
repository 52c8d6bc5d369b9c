// The devices of this machine by name: opencl:0, cuda:1. To be called where a driver may run
// (serve_device.h).
//
// Thread safety: pure functions but for the drivers' and the system's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exact/device/device.h"
#include "node/base/status.h"

namespace ostraka::device {

// Names of no device in particular.
inline constexpr const char* kProcessor = "cpu";
inline constexpr const char* kAnyDevice = "auto";

struct ListedDevice {
  std::string name = {};         // opencl:0
  std::string description = {};  // as its driver has it
  std::uint64_t memory_bytes = 0;
  bool is_processor = false;  // the machine's own, which our kernels use better
  std::string error = {};     // not empty: no device, but why those of a kind are not known
};

std::vector<ListedDevice> ListDevices();

// Whether this process sees a GPU's device file: else no driver need be asked.
bool MaySeeGpu();

// What a person may ask for: cpu, auto, opencl:N or cuda:N. InvalidArgument, with that list.
base::Status CheckDeviceName(std::string_view name);

// REQUIRES: CheckDeviceName(name) is ok; the name is of a device.
base::StatusOr<std::unique_ptr<exact::Device>> OpenNamed(const std::string& name);

}  // namespace ostraka::device
