// A libcuda.so.1 whose device is this process: it runs the kernels as exact/device emulates them.
// It holds its caller to what the driver demands, and fails when it is told to.
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "exact/device/emulated_device.h"
#include "node/device/cuda_api.h"

namespace {

using ostraka::device::cuda::Api;
using ostraka::device::cuda::Context;
using ostraka::device::cuda::Function;
using ostraka::device::cuda::Module;
using ostraka::device::cuda::Stream;
using ostraka::exact::EmulatedArgument;
using ostraka::exact::EmulatedKernel;
using ostraka::exact::kEmulatedKernels;

constexpr int kInvalidValue = 1;
constexpr int kNotFound = 500;
constexpr int kInvalidContext = 201;
constexpr int kInvalidImage = 200;

struct State {
  bool is_initialized = false;
  int retained = 0;           // contexts
  Context current = nullptr;  // the thread's
  int modules = 0;
  std::map<unsigned long long, std::size_t> buffers;  // by address: bytes
  std::string failing;                                // the call that fails
  int failing_at = 0;                                 // after so many more
  int failing_code = 0;
};
State state;
int objects[2];  // their addresses are the context and the module

// What a call answers before it does anything: 0, or why it does not.
int Begin(const char* call, bool needs_context = true) {
  if (state.failing == call && state.failing_at-- <= 0) return state.failing_code;
  if (!state.is_initialized) return 3;
  return needs_context && (state.current == nullptr || state.retained == 0) ? kInvalidContext : 0;
}

bool IsInside(unsigned long long address, std::size_t bytes) {
  auto after = state.buffers.upper_bound(address);
  if (after == state.buffers.begin()) return false;
  --after;
  return address - after->first + bytes <= after->second;
}

EmulatedArgument ArgumentAt(char letter, const void* place) {
  if (letter == 'b') {
    unsigned long long address = 0;
    std::memcpy(&address, place, sizeof(address));
    return {.memory = reinterpret_cast<std::byte*>(address)};
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, place, sizeof(bits));
  EmulatedArgument argument;
  if (letter == 'f') {
    argument.argument = std::bit_cast<float>(bits);
  } else {
    argument.argument = bits;
  }
  return argument;
}

}  // namespace

#define OSTRAKA_BEGIN(...) \
  if (const int code = Begin(__func__ __VA_OPT__(, ) __VA_ARGS__); code != 0) return code

extern "C" {

// Lets the `at`-th next call of that name, counted from 0, and all after it answer `code`.
void FakeCudaFail(const char* call, int at, int code) {
  state.failing = call;
  state.failing_at = at;
  state.failing_code = code;
}
// Contexts, modules and buffers that were not given back.
int FakeCudaHeld() {
  return state.retained + state.modules + static_cast<int>(state.buffers.size());
}

int cuInit(unsigned) {
  state.is_initialized = true;
  return Begin(__func__, false);
}
int cuDriverGetVersion(int* version) {
  *version = 12020;
  return 0;
}
int cuDeviceGetCount(int* count) {
  OSTRAKA_BEGIN(false);
  *count = 1;
  return 0;
}
int cuDeviceGet(int* ordinal, int index) {
  OSTRAKA_BEGIN(false);
  *ordinal = 40;
  return index == 0 ? 0 : 101;
}
int cuDeviceGetName(char* name, int length, int ordinal) {
  OSTRAKA_BEGIN(false);
  std::strncpy(name, "fake", static_cast<std::size_t>(length));
  return ordinal == 40 ? 0 : 101;
}
int cuDeviceGetAttribute(int* value, int key, int) {
  OSTRAKA_BEGIN(false);
  *value = key == 75 ? 8 : 6;
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  OSTRAKA_BEGIN(false);
  *bytes = std::size_t{1} << 30;
  return 0;
}
int cuDevicePrimaryCtxRetain(Context* made, int ordinal) {
  OSTRAKA_BEGIN(false);
  if (ordinal != 40) return kInvalidValue;
  ++state.retained;
  *made = reinterpret_cast<Context>(&objects[0]);
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --state.retained;
  state.current = nullptr;
  return 0;
}
int cuCtxSetCurrent(Context wanted) {
  OSTRAKA_BEGIN(false);
  state.current = wanted;
  return 0;
}
int cuCtxSynchronize() {
  OSTRAKA_BEGIN();
  return 0;
}
int cuModuleLoadDataEx(Module* module, const void* image, unsigned count, int* keys,
                       void** values) {
  OSTRAKA_BEGIN();
  if (std::strstr(static_cast<const char*>(image), ".version 7.8") == nullptr) {
    for (unsigned i = 0; i < count; ++i) {
      if (keys[i] == 5) std::strcpy(static_cast<char*>(values[i]), "no PTX");
    }
    return kInvalidImage;
  }
  ++state.modules;
  *module = reinterpret_cast<Module>(&objects[1]);
  return 0;
}
int cuModuleUnload(Module) {
  --state.modules;
  return 0;
}
int cuModuleGetFunction(Function* function, Module, const char* name) {
  OSTRAKA_BEGIN();
  for (const EmulatedKernel& each : kEmulatedKernels) {
    if (std::strcmp(each.kernel.name, name) != 0) continue;
    *function = reinterpret_cast<Function>(const_cast<EmulatedKernel*>(&each));
    return 0;
  }
  return kNotFound;
}
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  OSTRAKA_BEGIN();
  if (bytes == 0) return kInvalidValue;
  void* const memory = std::malloc(bytes);
  std::memset(memory, 0xa5, bytes);
  *address = reinterpret_cast<unsigned long long>(memory);
  state.buffers[*address] = bytes;
  return 0;
}
int cuMemFree_v2(unsigned long long address) {
  if (state.current == nullptr || state.buffers.erase(address) != 1) std::abort();
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  OSTRAKA_BEGIN();
  if (!IsInside(to, bytes)) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  OSTRAKA_BEGIN();
  if (!IsInside(from, bytes)) return kInvalidValue;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuLaunchKernel(Function function, unsigned groups, unsigned groups_y, unsigned groups_z,
                   unsigned items, unsigned items_y, unsigned items_z, unsigned shared, Stream,
                   void** places, void** extra) {
  OSTRAKA_BEGIN();
  const auto& kernel = *reinterpret_cast<const EmulatedKernel*>(function);
  if (groups_y * groups_z * items_y * items_z != 1 || shared != 0 || extra != nullptr ||
      groups == 0 || items != kernel.kernel.items) {
    return kInvalidValue;
  }
  std::vector<EmulatedArgument> arguments;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    arguments.push_back(ArgumentAt(kernel.parameters[i], places[i]));
  }
  for (unsigned group = 0; group < groups; ++group) {
    if (!kernel.run({.index = group, .items = items}, arguments).ok()) return kInvalidValue;
  }
  return 0;
}

}  // extern "C"

// The types are those by which the caller calls.
#define OSTRAKA_SAME(name) static_assert(std::is_same_v<decltype(&name), decltype(Api::name)>)
OSTRAKA_SAME(cuInit);
OSTRAKA_SAME(cuDriverGetVersion);
OSTRAKA_SAME(cuDeviceGetCount);
OSTRAKA_SAME(cuDeviceGet);
OSTRAKA_SAME(cuDeviceGetName);
OSTRAKA_SAME(cuDeviceGetAttribute);
OSTRAKA_SAME(cuDeviceTotalMem_v2);
OSTRAKA_SAME(cuDevicePrimaryCtxRetain);
OSTRAKA_SAME(cuDevicePrimaryCtxRelease_v2);
OSTRAKA_SAME(cuCtxSetCurrent);
OSTRAKA_SAME(cuCtxSynchronize);
OSTRAKA_SAME(cuModuleLoadDataEx);
OSTRAKA_SAME(cuModuleUnload);
OSTRAKA_SAME(cuModuleGetFunction);
OSTRAKA_SAME(cuMemAlloc_v2);
OSTRAKA_SAME(cuMemFree_v2);
OSTRAKA_SAME(cuMemcpyHtoD_v2);
OSTRAKA_SAME(cuMemcpyDtoH_v2);
OSTRAKA_SAME(cuLaunchKernel);
