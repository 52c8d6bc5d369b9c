// The functions of OpenCL 1.2 that a device needs, found when the program runs: nothing is linked,
// and a machine without OpenCL has none of it.
//
// The names are those of the specification with its types written out, so that no header of it is
// needed to build. Numbers are those of Khronos' cl.h.
//
// Thread safety: immutable once it is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "node/base/status.h"

namespace ostraka::device::opencl {

using Code = std::int32_t;  // 0: success
using Bits = std::uint64_t;
struct PlatformObject;
struct DeviceObject;
struct ContextObject;
struct QueueObject;
struct ProgramObject;
struct KernelObject;
struct MemoryObject;
struct EventObject;
using Platform = PlatformObject*;
using DeviceId = DeviceObject*;
using Context = ContextObject*;
using Queue = QueueObject*;
using Program = ProgramObject*;
using Kernel = KernelObject*;
using Memory = MemoryObject*;
using Event = EventObject*;

inline constexpr Code kSuccess = 0;
inline constexpr Bits kAnyType = 0xffffffff;      // CL_DEVICE_TYPE_ALL
inline constexpr Bits kTypeProcessor = 1 << 1;    // CL_DEVICE_TYPE_CPU
inline constexpr Bits kReadWrite = 1 << 0;        // CL_MEM_READ_WRITE
inline constexpr Bits kKeepsSubnormals = 1 << 0;  // CL_FP_DENORM
inline constexpr Bits kRoundsDivision = 1 << 7;   // CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
inline constexpr std::uint32_t kPlatformName = 0x0902;
inline constexpr std::uint32_t kDeviceType = 0x1000;
inline constexpr std::uint32_t kMostItems = 0x1004;    // CL_DEVICE_MAX_WORK_GROUP_SIZE
inline constexpr std::uint32_t kMostBuffer = 0x1010;   // CL_DEVICE_MAX_MEM_ALLOC_SIZE
inline constexpr std::uint32_t kFloatConfig = 0x101b;  // CL_DEVICE_SINGLE_FP_CONFIG
inline constexpr std::uint32_t kGlobalMemory = 0x101f;
inline constexpr std::uint32_t kLocalMemory = 0x1023;
inline constexpr std::uint32_t kDeviceName = 0x102b;
inline constexpr std::uint32_t kDriverVersion = 0x102d;
inline constexpr std::uint32_t kBuildLog = 0x1183;  // CL_PROGRAM_BUILD_LOG

struct Api {
  Code (*clGetPlatformIDs)(std::uint32_t, Platform*, std::uint32_t*) = nullptr;
  Code (*clGetPlatformInfo)(Platform, std::uint32_t, std::size_t, void*, std::size_t*) = nullptr;
  Code (*clGetDeviceIDs)(Platform, Bits, std::uint32_t, DeviceId*, std::uint32_t*) = nullptr;
  Code (*clGetDeviceInfo)(DeviceId, std::uint32_t, std::size_t, void*, std::size_t*) = nullptr;
  Context (*clCreateContext)(const std::intptr_t*, std::uint32_t, const DeviceId*,
                             void (*)(const char*, const void*, std::size_t, void*), void*,
                             Code*) = nullptr;
  Code (*clReleaseContext)(Context) = nullptr;
  Queue (*clCreateCommandQueue)(Context, DeviceId, Bits, Code*) = nullptr;
  Code (*clReleaseCommandQueue)(Queue) = nullptr;
  Program (*clCreateProgramWithSource)(Context, std::uint32_t, const char**, const std::size_t*,
                                       Code*) = nullptr;
  Code (*clBuildProgram)(Program, std::uint32_t, const DeviceId*, const char*,
                         void (*)(Program, void*), void*) = nullptr;
  Code (*clGetProgramBuildInfo)(Program, DeviceId, std::uint32_t, std::size_t, void*,
                                std::size_t*) = nullptr;
  Code (*clReleaseProgram)(Program) = nullptr;
  Kernel (*clCreateKernel)(Program, const char*, Code*) = nullptr;
  Code (*clReleaseKernel)(Kernel) = nullptr;
  Code (*clSetKernelArg)(Kernel, std::uint32_t, std::size_t, const void*) = nullptr;
  Memory (*clCreateBuffer)(Context, Bits, std::size_t, void*, Code*) = nullptr;
  Code (*clReleaseMemObject)(Memory) = nullptr;
  Code (*clEnqueueWriteBuffer)(Queue, Memory, std::uint32_t, std::size_t, std::size_t, const void*,
                               std::uint32_t, const Event*, Event*) = nullptr;
  Code (*clEnqueueReadBuffer)(Queue, Memory, std::uint32_t, std::size_t, std::size_t, void*,
                              std::uint32_t, const Event*, Event*) = nullptr;
  Code (*clEnqueueNDRangeKernel)(Queue, Kernel, std::uint32_t, const std::size_t*,
                                 const std::size_t*, const std::size_t*, std::uint32_t,
                                 const Event*, Event*) = nullptr;
  Code (*clFinish)(Queue) = nullptr;
};

inline constexpr const char* kLibrary = "libOpenCL.so.1";

// Loads `library`, with names of its own (RTLD_LOCAL). It stays loaded: drivers have threads and
// handlers that outlive a call. Unavailable, with the loader's reason: there is none, or it lacks a
// function.
base::StatusOr<Api> LoadApi(const std::string& library);

}  // namespace ostraka::device::opencl
