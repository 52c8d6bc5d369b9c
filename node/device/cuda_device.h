// Devices of CUDA, sm_50 and later, by NVIDIA's driver 520 or later alone.
//
// The kernels are in the program as PTX (kernels.ptx), which the driver translates for its device.
//
// Thread safety: pure functions; of a device, one call at a time, on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exact/device/device.h"
#include "node/base/status.h"

namespace ostraka::device {

// A device as its driver describes it.
struct CudaInfo {
  std::string name;
  int driver = 0;  // version of CUDA: 1000 times the major one, and 10 times the minor one
  int major = 0;   // of the compute capability
  int minor = 0;
  std::uint64_t memory_bytes = 0;
};

struct CudaOptions {
  std::string library = "";  // empty: libcuda.so.1
  std::string ptx = "";      // empty: the program's own
};

// All devices. Unavailable: no library, or its driver does not start.
base::StatusOr<std::vector<CudaInfo>> ListCuda(const CudaOptions& options = {});

// Opens the device of that place in the list and loads the kernels, which may take seconds.
// NotFound: there is none. FailedPrecondition: it is older than sm_50. Internal, with the driver's
// log: it does not take the kernels. Unavailable: no library, or the device is lost.
base::StatusOr<std::unique_ptr<exact::Device>> OpenCuda(std::size_t index,
                                                        const CudaOptions& options = {});

}  // namespace ostraka::device
