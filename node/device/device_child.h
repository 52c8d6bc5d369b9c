// The parent's end of a child with a device's driver (serve_device.h): starts it, asks it, ends it.
//
// Promises:
//   C1  a call ends within its time: a child that does not answer is killed.
//   C2  the child holds no descriptor of this process but the two of host_wire.h, and no variable
//       of the environment that is ours.
//   C3  it cannot make the shared memory smaller than this process believes.
// Memory: kAreaBytes.
// Thread safety: one call at a time, on any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/device/host_wire.h"
#include "node/os/descriptor.h"

namespace ostraka::device {

// The program that runs RunDeviceHost, and its first arguments.
struct HostCommand {
  std::string program = "";  // empty: this one
  std::vector<std::string> arguments = {kDeviceHost};
};

class DeviceChild {
 public:
  // Unavailable: no process, memory or socket is to be had.
  static base::StatusOr<DeviceChild> Start(const HostCommand& command, const std::string& what);

  DeviceChild(DeviceChild&& other) noexcept;
  DeviceChild& operator=(DeviceChild&&) = delete;
  // Kills it.
  ~DeviceChild();

  // REQUIRES: of at most kDataBytes, and of kLaunchBytes in either half.
  std::byte* data() const { return area_ + kDataAt; }
  std::byte* launches(std::size_t half) const { return area_ + half * kLaunchBytes; }

  // Unavailable: the child has ended.
  base::Status Send(const Request& request);
  // What the child says next. Unavailable, with how it ended: there is no more, or not in time;
  // then it is killed.
  base::StatusOr<Answer> Receive(base::Duration patience);

 private:
  DeviceChild(pid_t pid, os::Descriptor control, std::byte* area)
      : pid_(pid), control_(std::move(control)), area_(area) {}

  // Kills it, unless it ends by itself soon where it `is_ending`; how it ended, in words.
  std::string End(bool is_ending);

  pid_t pid_ = -1;  // -1: ended, or moved from
  os::Descriptor control_;
  std::byte* area_ = nullptr;
};

}  // namespace ostraka::device
