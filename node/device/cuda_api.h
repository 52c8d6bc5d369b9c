// The functions of CUDA's driver that a device needs, found when the program runs: no toolkit is
// needed, to build or to run.
//
// The names are those of the driver's interface with its types written out. Numbers are those of
// cuda.h.
//
// Thread safety: immutable once it is loaded.
#pragma once

#include <cstddef>
#include <string>

#include "node/base/status.h"

namespace ostraka::device::cuda {

using Code = int;  // 0: success
using Ordinal = int;
using Pointer = unsigned long long;  // in the device's memory
struct ContextObject;
struct ModuleObject;
struct FunctionObject;
struct StreamObject;
using Context = ContextObject*;
using Module = ModuleObject*;
using Function = FunctionObject*;
using Stream = StreamObject*;

inline constexpr Code kSuccess = 0;
inline constexpr Code kOutOfMemory = 2;
inline constexpr Code kNotInitialized = 3;
inline constexpr Code kShutDown = 4;
inline constexpr Code kNoDevice = 100;
inline constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
inline constexpr int kMinor = 76;
inline constexpr int kErrorLog = 5;       // CU_JIT_ERROR_LOG_BUFFER
inline constexpr int kErrorLogBytes = 6;  // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES

struct Api {
  Code (*cuInit)(unsigned) = nullptr;
  Code (*cuDriverGetVersion)(int*) = nullptr;
  Code (*cuDeviceGetCount)(int*) = nullptr;
  Code (*cuDeviceGet)(Ordinal*, int) = nullptr;
  Code (*cuDeviceGetName)(char*, int, Ordinal) = nullptr;
  Code (*cuDeviceGetAttribute)(int*, int, Ordinal) = nullptr;
  Code (*cuDeviceTotalMem_v2)(std::size_t*, Ordinal) = nullptr;
  Code (*cuDevicePrimaryCtxRetain)(Context*, Ordinal) = nullptr;
  Code (*cuDevicePrimaryCtxRelease_v2)(Ordinal) = nullptr;
  Code (*cuCtxSetCurrent)(Context) = nullptr;
  Code (*cuCtxSynchronize)() = nullptr;
  Code (*cuModuleLoadDataEx)(Module*, const void*, unsigned, int*, void**) = nullptr;
  Code (*cuModuleUnload)(Module) = nullptr;
  Code (*cuModuleGetFunction)(Function*, Module, const char*) = nullptr;
  Code (*cuMemAlloc_v2)(Pointer*, std::size_t) = nullptr;
  Code (*cuMemFree_v2)(Pointer) = nullptr;
  Code (*cuMemcpyHtoD_v2)(Pointer, const void*, std::size_t) = nullptr;
  Code (*cuMemcpyDtoH_v2)(void*, Pointer, std::size_t) = nullptr;
  Code (*cuLaunchKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, Stream, void**, void**) = nullptr;
};

inline constexpr const char* kLibrary = "libcuda.so.1";

// Loads `library`, with names of its own (RTLD_LOCAL), and initializes the driver. It stays loaded:
// the driver has threads and handlers that outlive a call. Unavailable, with the reason: there is
// none, it lacks a function, or it cannot be initialized.
base::StatusOr<Api> LoadApi(const std::string& library);

}  // namespace ostraka::device::cuda
