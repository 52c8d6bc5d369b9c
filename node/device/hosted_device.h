// A device whose driver runs in a child process (device_child.h), and the source of such devices
// for trainers.
//
// Promises:
//   H1  whatever the driver does, a call ends within HostTimes with a Status; after one that is not
//       ok each later call fails with the same reason.
//   H2  launches reach the device in their order, before what is asked for after them.
// Memory: kAreaBytes, and the launches of half an area.
// Thread safety: one call at a time, on any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exact/device/device.h"
#include "exact/device/device_source.h"
#include "node/base/status.h"
#include "node/base/time.h"
#include "node/device/device_child.h"
#include "node/device/device_list.h"

namespace ostraka::device {

struct HostTimes {
  // Drivers compile the kernels when they are first loaded.
  base::Duration opening = base::Seconds(300);
  // Of one upload, one download or kMostLaunches launches.
  base::Duration answer = base::Seconds(60);
};

// Unavailable: there is no process for it, or it ends. Else the error of opening the device.
base::StatusOr<std::unique_ptr<exact::Device>> OpenHosted(const std::string& name,
                                                          const HostCommand& command = {},
                                                          const HostTimes& times = {});

// ListDevices in a child.
base::StatusOr<std::vector<ListedDevice>> ListHosted(const HostCommand& command = {},
                                                     const HostTimes& times = {});

// The devices for a trainer: `name` is auto, or of one device. Of auto, the machine's own
// processors are none. REQUIRES: CheckDeviceName(name) is ok, and it is not cpu.
std::shared_ptr<exact::DeviceSource> HostedSource(const std::string& name,
                                                  std::uint64_t memory_limit,
                                                  const HostCommand& command = {});

}  // namespace ostraka::device
