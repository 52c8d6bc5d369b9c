#include "node/device/cuda_device.h"

#include <map>
#include <utility>
#include <variant>

#include "exact/device/kernel_list.h"
#include "node/base/check.h"
#include "node/device/cuda_api.h"
#include "node/device/kernel_ptx.h"

namespace ostraka::device {
namespace {

using exact::Argument;
using exact::DeviceBuffer;
using exact::DeviceKernel;
using exact::DeviceTraits;

constexpr int kOldest = 5;  // the compute capability that kernels.ptx is for, its major part

// From 700 on a context is lost: its later calls fail, too.
bool IsLost(cuda::Code code) {
  return code == cuda::kOutOfMemory || code == cuda::kNotInitialized || code == cuda::kShutDown ||
         code == cuda::kNoDevice || code >= 700;
}

base::Status StatusOfCuda(cuda::Code code, const std::string& what) {
  if (code == cuda::kSuccess) return base::OkStatus();
  const std::string message = what + ": CUDA error " + std::to_string(code);
  return IsLost(code) ? base::Unavailable(message) : base::Internal(message);
}

base::StatusOr<cuda::Ordinal> OrdinalOf(const cuda::Api& api, int index) {
  cuda::Ordinal ordinal = 0;
  RETURN_IF_ERROR(StatusOfCuda(api.cuDeviceGet(&ordinal, index), "a device"));
  return ordinal;
}

base::StatusOr<int> CountDevices(const cuda::Api& api) {
  int count = 0;
  const cuda::Code code = api.cuDeviceGetCount(&count);
  if (code == cuda::kNoDevice) return 0;
  RETURN_IF_ERROR(StatusOfCuda(code, "the number of devices"));
  return count;
}

base::StatusOr<CudaInfo> DescribeCuda(const cuda::Api& api, cuda::Ordinal ordinal) {
  CudaInfo info;
  char name[256] = {};
  RETURN_IF_ERROR(StatusOfCuda(api.cuDeviceGetName(name, sizeof(name) - 1, ordinal), "a name"));
  info.name = name;
  RETURN_IF_ERROR(StatusOfCuda(api.cuDriverGetVersion(&info.driver), "the driver's version"));
  RETURN_IF_ERROR(StatusOfCuda(api.cuDeviceGetAttribute(&info.major, cuda::kMajor, ordinal),
                               "the compute capability"));
  RETURN_IF_ERROR(StatusOfCuda(api.cuDeviceGetAttribute(&info.minor, cuda::kMinor, ordinal),
                               "the compute capability"));
  std::size_t bytes = 0;
  RETURN_IF_ERROR(StatusOfCuda(api.cuDeviceTotalMem_v2(&bytes, ordinal), "the memory"));
  info.memory_bytes = bytes;
  return info;
}

// Promises:
//   C1  a buffer that was freed, or that this device did not hand out, never reaches the driver.
//   C2  what was made of the driver is released in the end.
//   C3  each call makes the device's context that of the calling thread first.
// Memory: that of the buffers, on the device.
// Thread safety: one call at a time, on any thread.
class CudaDevice final : public exact::Device {
 public:
  CudaDevice(const cuda::Api& api, const CudaInfo& info, cuda::Ordinal ordinal)
      : api_(api),
        ordinal_(ordinal),
        traits_{.name = "cuda " + info.name,
                .memory_bytes = info.memory_bytes,
                .buffer_bytes = info.memory_bytes} {}

  ~CudaDevice() override {
    if (context_ == nullptr) return;
    if (api_.cuCtxSetCurrent(context_) == cuda::kSuccess) {
      for (const cuda::Pointer buffer : buffers_) {
        if (buffer != 0) api_.cuMemFree_v2(buffer);
      }
      if (module_ != nullptr) api_.cuModuleUnload(module_);
    }
    api_.cuDevicePrimaryCtxRelease_v2(ordinal_);
  }

  // REQUIRES: `ptx` ends with a zero byte.
  base::Status Load(const char* ptx) {
    RETURN_IF_ERROR(Told(api_.cuDevicePrimaryCtxRetain(&context_, ordinal_), "a context"));
    RETURN_IF_ERROR(Enter());
    std::string log(kLogBytes, '\0');
    int keys[] = {cuda::kErrorLog, cuda::kErrorLogBytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(std::uintptr_t{kLogBytes})};
    const cuda::Code code = api_.cuModuleLoadDataEx(&module_, ptx, 2, keys, values);
    if (code != cuda::kSuccess) {
      const base::Status status = Told(code, "the kernels");
      return {status.code(), base::MessageOf(status) + " " + log.substr(0, log.find('\0'))};
    }
#define OSTRAKA_FIND_KERNEL(constant, name, items) RETURN_IF_ERROR(FindKernel(exact::constant));
    OSTRAKA_DEVICE_KERNELS(OSTRAKA_FIND_KERNEL)
#undef OSTRAKA_FIND_KERNEL
    return base::OkStatus();
  }

  const DeviceTraits& traits() const override { return traits_; }

  base::StatusOr<DeviceBuffer> Allocate(std::uint64_t bytes) override {
    RETURN_IF_ERROR(Enter());
    cuda::Pointer pointer = 0;
    RETURN_IF_ERROR(Told(api_.cuMemAlloc_v2(&pointer, bytes),
                         "a buffer of " + std::to_string(bytes) + " bytes"));
    buffers_.push_back(pointer);
    return DeviceBuffer{static_cast<std::uint32_t>(buffers_.size() - 1)};
  }

  void Free(DeviceBuffer buffer) override {
    const cuda::Pointer pointer = PointerOf(buffer);
    buffers_[buffer.id] = 0;
    if (api_.cuCtxSetCurrent(context_) == cuda::kSuccess) api_.cuMemFree_v2(pointer);
  }

  base::Status Upload(DeviceBuffer to, std::uint64_t offset,
                      std::span<const std::byte> from) override {
    RETURN_IF_ERROR(Enter());
    return Told(api_.cuMemcpyHtoD_v2(PointerOf(to) + offset, from.data(), from.size()),
                "an upload");
  }

  base::Status Download(DeviceBuffer from, std::uint64_t offset, std::span<std::byte> to) override {
    RETURN_IF_ERROR(Enter());
    return Told(api_.cuMemcpyDtoH_v2(to.data(), PointerOf(from) + offset, to.size()), "a download");
  }

  base::Status Launch(const DeviceKernel& kernel, std::uint32_t groups,
                      std::span<const Argument> arguments) override {
    const auto found = functions_.find(kernel.name);
    OSTRAKA_CHECK(found != functions_.end());
    RETURN_IF_ERROR(Enter());
    std::vector<cuda::Pointer> values(arguments.size());
    std::vector<void*> places(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      SetArgument(values[i], arguments[i]);
      places[i] = &values[i];
    }
    return Told(api_.cuLaunchKernel(found->second, groups, 1, 1, kernel.items, 1, 1, 0, nullptr,
                                    places.data(), nullptr),
                kernel.name);
  }

  base::Status Finish() override {
    RETURN_IF_ERROR(Enter());
    return Told(api_.cuCtxSynchronize(), "to finish");
  }

 private:
  static constexpr std::size_t kLogBytes = 4000;

  base::Status Told(cuda::Code code, const std::string& what) const {
    return StatusOfCuda(code, traits_.name + ", " + what);
  }
  base::Status Enter() const { return Told(api_.cuCtxSetCurrent(context_), "its context"); }

  cuda::Pointer PointerOf(DeviceBuffer buffer) const {
    OSTRAKA_CHECK(buffer.id < buffers_.size() && buffers_[buffer.id] != 0);
    return buffers_[buffer.id];
  }

  // The driver reads as many bytes as the kernel's parameter has.
  void SetArgument(cuda::Pointer& value, const Argument& argument) const {
    if (const auto* buffer = std::get_if<DeviceBuffer>(&argument)) {
      value = PointerOf(*buffer);
    } else if (const auto* number = std::get_if<std::uint32_t>(&argument)) {
      value = *number;
    } else {
      value = std::bit_cast<std::uint32_t>(std::get<float>(argument));
    }
  }

  base::Status FindKernel(const DeviceKernel& kernel) {
    cuda::Function function = nullptr;
    RETURN_IF_ERROR(Told(api_.cuModuleGetFunction(&function, module_, kernel.name), kernel.name));
    functions_[kernel.name] = function;
    return base::OkStatus();
  }

  const cuda::Api api_;
  cuda::Ordinal ordinal_;
  DeviceTraits traits_;
  cuda::Context context_ = nullptr;
  cuda::Module module_ = nullptr;
  std::map<std::string, cuda::Function> functions_;
  std::vector<cuda::Pointer> buffers_;  // 0: freed
};

base::StatusOr<cuda::Api> CudaApiOf(const CudaOptions& options) {
  return cuda::LoadApi(options.library.empty() ? cuda::kLibrary : options.library);
}

}  // namespace

base::StatusOr<std::vector<CudaInfo>> ListCuda(const CudaOptions& options) {
  ASSIGN_OR_RETURN(const cuda::Api api, CudaApiOf(options));
  ASSIGN_OR_RETURN(const int count, CountDevices(api));
  std::vector<CudaInfo> infos;
  for (int i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const cuda::Ordinal ordinal, OrdinalOf(api, i));
    ASSIGN_OR_RETURN(CudaInfo info, DescribeCuda(api, ordinal));
    infos.push_back(std::move(info));
  }
  return infos;
}

base::StatusOr<std::unique_ptr<exact::Device>> OpenCuda(std::size_t index,
                                                        const CudaOptions& options) {
  ASSIGN_OR_RETURN(const cuda::Api api, CudaApiOf(options));
  ASSIGN_OR_RETURN(const int count, CountDevices(api));
  if (index >= static_cast<std::size_t>(count)) {
    return base::NotFound("no CUDA device " + std::to_string(index) + "; there are " +
                          std::to_string(count));
  }
  ASSIGN_OR_RETURN(const cuda::Ordinal ordinal, OrdinalOf(api, static_cast<int>(index)));
  ASSIGN_OR_RETURN(const CudaInfo info, DescribeCuda(api, ordinal));
  if (info.major < kOldest) {
    return base::FailedPrecondition(info.name + " is sm_" + std::to_string(info.major) +
                                    std::to_string(info.minor) + "; the kernels need sm_50");
  }
  auto device = std::make_unique<CudaDevice>(api, info, ordinal);
  const std::string ptx(options.ptx.empty() ? kKernelPtx : options.ptx);
  RETURN_IF_ERROR(device->Load(ptx.c_str()));
  return device;
}

}  // namespace ostraka::device
