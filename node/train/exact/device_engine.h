// Gradients by a device, with the processor beside it: whatever becomes of the device, the same
// bits come.
//
// Promises:
//   V1  a gradient has the bits of the processor's: the device has passed the conformance program
//       (exact/device/conformance_program.h) and, where the processor is fast enough, given its
//       bits for this very graph; both are repeated, and a gradient is given only after them.
//   V2  an error of the device ends no call: the processor computes, and the device is opened again
//       later. A device that computed other bits is not used again by this engine.
//   V3  parameters go to the device once a call, and one vector comes back; local steps are one
//       call, if the device has room for their moments.
// May not know: drivers, and what a gradient is used for.
// Memory: the processor's engine; on the device DevicePlan::bytes. A call that audits has one more
// vector of parameters.
// Thread safety: as graph_engine.h.
#pragma once

#include <functional>
#include <memory>

#include "exact/device/device_source.h"
#include "node/base/status.h"
#include "node/train/exact/graph_engine.h"

namespace ostraka::train {

// What tests replace.
struct DeviceHooks {
  // Whether a device computes as it must; null: by the conformance program.
  std::function<base::Status(exact::Device&)> check = nullptr;
  // A clock in seconds; null: the steady clock.
  std::function<double()> now = nullptr;
};

// An audit recomputes a micro-batch by the processor before a gradient is given. It is left out
// where it would take longer than this, in seconds: the gradient would come late.
inline constexpr double kLongestAudit = 2;
// The share of the time that goes into audits, and into the conformance program.
inline constexpr double kAuditShare = 0.05;
inline constexpr double kCheckShare = 0.01;

// Prepare chooses the device: FailedPrecondition, or any error of it, if a person named it and it
// cannot be used. Program and constants are those of `cpu`. REQUIRES: neither is null.
std::unique_ptr<GraphEngine> MakeDeviceEngine(std::unique_ptr<RunnerEngine> cpu,
                                              std::shared_ptr<exact::DeviceSource> devices,
                                              DeviceHooks hooks = {});

}  // namespace ostraka::train
