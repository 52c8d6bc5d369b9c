// The conformance program: gradients of small graphs, by the kernels of this machine or by a
// device. A device has no single kernels to call; what it must give is the gradient of a program.
//
// exact/kernels/conformance.h is for processors, and stays as it is. This one also has values that
// show padding of chains and lanes.
//
// Thread safety: pure functions; of a device, one call at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exact/device/conformance_cases.h"
#include "exact/device/device.h"
#include "exact/device/launches.h"
#include "exact/kernels/kernels.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::exact {

// The digest of every machine and device that may compute exact gradients, as hexadecimal digits.
extern const std::string_view kProgramDigest;

// The loss of the last micro-batch, and the mean gradient of all; of local steps how far they went.
struct CaseResult {
  float loss = 0;
  std::vector<float> gradient;
};

// Internal: a case does not run, which is a bug of ours. FailedPrecondition as Runner.
base::StatusOr<CaseResult> ResultOf(const ConformanceCase& each, const Kernels& kernels);
// Any error of the device; InvalidArgument if it is too small.
base::StatusOr<CaseResult> ResultOf(const ConformanceCase& each, Device& device, Tile tile);

// A hash over the bits of all results. It takes some tens of milliseconds, by scalar kernels a
// fifth of a second.
base::StatusOr<base::Digest> ProgramDigest(const Kernels& kernels);
base::StatusOr<base::Digest> ProgramDigest(Device& device);

// Runs all cases on `device`, those of products with each of its kernels for them, beside the
// kernels of this machine.
// FailedPrecondition: the first case and number that differ, or these kernels do not give
// kProgramDigest. Else any error of the device.
base::Status CheckDevice(Device& device);

}  // namespace ostraka::exact
