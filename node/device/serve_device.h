// The child in which a device's driver runs: foreign code of hundreds of megabytes, away from the
// signing key and the network, in a process that can be killed when it hangs.
//
// Promises:
//   S1  RunDeviceHost opens nothing of a driver before it is confined (confinement.h).
//   S2  it ends when its parent does, whatever the driver is doing.
// Memory: the driver's, and kAreaBytes shared with the parent.
// Thread safety: to be called from main.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "exact/device/device.h"
#include "node/base/status.h"

namespace ostraka::device {

using OpenDevice = std::function<base::StatusOr<std::unique_ptr<exact::Device>>()>;

// Serves the device over kControl and kMemory until the parent closes its end; returns the exit
// code.
int ServeDevice(const OpenDevice& open);

// The child's whole program (host_wire.h).
int RunDeviceHost(const std::string& what);

}  // namespace ostraka::device
