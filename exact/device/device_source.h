// Where a trainer gets devices from, without knowing their drivers.
//
// Thread safety: one call at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exact/device/device.h"
#include "node/base/status.h"

namespace ostraka::exact {

class DeviceSource {
 public:
  virtual ~DeviceSource() = default;

  // Whether a person named the device. Else it is used only where it is the fastest, and an error
  // of it is no error of the trainer.
  virtual bool is_named() const = 0;
  // Bytes that a program may take on a device; 0: nine tenths of its memory.
  virtual std::uint64_t memory_limit() const = 0;

  // Names for Open. Empty: no device is worth trying here. Unavailable, in one line: it is not
  // known which there are.
  virtual base::StatusOr<std::vector<std::string>> Candidates() = 0;
  // May take minutes where a driver compiles the kernels. Any error of the driver, in one line that
  // names the device.
  virtual base::StatusOr<std::unique_ptr<Device>> Open(const std::string& name) = 0;
};

}  // namespace ostraka::exact
