#include "node/device/opencl_device.h"

#include <map>
#include <utility>
#include <variant>

#include "exact/device/kernel_list.h"
#include "exact/device/kernel_text.h"
#include "node/base/check.h"
#include "node/device/opencl_api.h"

namespace ostraka::device {
namespace {

using exact::Argument;
using exact::DeviceBuffer;
using exact::DeviceKernel;
using exact::DeviceTraits;
using namespace std::string_literals;

// What the largest kernel needs (exact/device/product.inc).
constexpr std::uint64_t kNeededItems = 256;
constexpr std::uint64_t kNeededLocalBytes = 20 << 10;
constexpr std::size_t kLongestLog = 4000;

// Codes that say that the device, or its memory, is not there; others are of what we asked for.
bool IsOfTheEnvironment(opencl::Code code) {
  constexpr opencl::Code kNotAvailable = -2;
  constexpr opencl::Code kAllocationFailed = -4;
  constexpr opencl::Code kOutOfResources = -5;
  constexpr opencl::Code kOutOfHostMemory = -6;
  return code == kNotAvailable || code == kAllocationFailed || code == kOutOfResources ||
         code == kOutOfHostMemory;
}

base::Status StatusOf(opencl::Code code, const std::string& what) {
  if (code == opencl::kSuccess) return base::OkStatus();
  const std::string message = what + ": OpenCL error " + std::to_string(code);
  return IsOfTheEnvironment(code) ? base::Unavailable(message) : base::Internal(message);
}

template <typename Object>
base::StatusOr<std::string> TextOf(opencl::Code (*get)(Object, std::uint32_t, std::size_t, void*,
                                                       std::size_t*),
                                   Object object, std::uint32_t key) {
  std::size_t size = 0;
  RETURN_IF_ERROR(StatusOf(get(object, key, 0, nullptr, &size), "a name's length"));
  std::string text(size, '\0');
  RETURN_IF_ERROR(StatusOf(get(object, key, size, text.data(), nullptr), "a name"));
  return text.substr(0, text.find('\0'));
}

template <typename Number>
base::StatusOr<Number> NumberOf(const opencl::Api& api, opencl::DeviceId device,
                                std::uint32_t key) {
  Number number = 0;
  RETURN_IF_ERROR(StatusOf(api.clGetDeviceInfo(device, key, sizeof(number), &number, nullptr),
                           "property " + std::to_string(key)));
  return number;
}

struct FoundDevice {
  opencl::Platform platform;
  opencl::DeviceId device;
};

base::StatusOr<std::vector<FoundDevice>> FindDevices(const opencl::Api& api) {
  constexpr opencl::Code kNoPlatform = -1001;  // the loader found no driver
  constexpr opencl::Code kNoDevice = -1;
  std::vector<FoundDevice> found;
  std::uint32_t count = 0;
  const opencl::Code code = api.clGetPlatformIDs(0, nullptr, &count);
  if (code == kNoPlatform || (code == opencl::kSuccess && count == 0)) return found;
  RETURN_IF_ERROR(StatusOf(code, "platforms"));
  std::vector<opencl::Platform> platforms(count);
  RETURN_IF_ERROR(StatusOf(api.clGetPlatformIDs(count, platforms.data(), nullptr), "platforms"));
  for (const opencl::Platform platform : platforms) {
    count = 0;
    const opencl::Code of_platform =
        api.clGetDeviceIDs(platform, opencl::kAnyType, 0, nullptr, &count);
    if (of_platform == kNoDevice || (of_platform == opencl::kSuccess && count == 0)) continue;
    RETURN_IF_ERROR(StatusOf(of_platform, "devices"));
    std::vector<opencl::DeviceId> devices(count);
    RETURN_IF_ERROR(StatusOf(
        api.clGetDeviceIDs(platform, opencl::kAnyType, count, devices.data(), nullptr), "devices"));
    for (const opencl::DeviceId device : devices) found.push_back({platform, device});
  }
  return found;
}

base::StatusOr<OpenClInfo> Describe(const opencl::Api& api, const FoundDevice& found) {
  OpenClInfo info;
  ASSIGN_OR_RETURN(info.platform,
                   TextOf(api.clGetPlatformInfo, found.platform, opencl::kPlatformName));
  ASSIGN_OR_RETURN(info.name, TextOf(api.clGetDeviceInfo, found.device, opencl::kDeviceName));
  ASSIGN_OR_RETURN(info.driver, TextOf(api.clGetDeviceInfo, found.device, opencl::kDriverVersion));
  ASSIGN_OR_RETURN(info.memory_bytes,
                   NumberOf<std::uint64_t>(api, found.device, opencl::kGlobalMemory));
  ASSIGN_OR_RETURN(info.buffer_bytes,
                   NumberOf<std::uint64_t>(api, found.device, opencl::kMostBuffer));
  ASSIGN_OR_RETURN(const auto type, NumberOf<opencl::Bits>(api, found.device, opencl::kDeviceType));
  ASSIGN_OR_RETURN(const auto floats,
                   NumberOf<opencl::Bits>(api, found.device, opencl::kFloatConfig));
  info.is_processor = (type & opencl::kTypeProcessor) != 0;
  info.keeps_subnormals = (floats & opencl::kKeepsSubnormals) != 0;
  info.rounds_division = (floats & opencl::kRoundsDivision) != 0;
  return info;
}

// Promises:
//   O1  a buffer that was freed, or that this device did not hand out, never reaches the driver.
//   O2  what was made of the driver is released in the end.
// Memory: that of the buffers, on the device.
// Thread safety: one call at a time.
class OpenClDevice final : public exact::Device {
 public:
  OpenClDevice(const opencl::Api& api, const OpenClInfo& info, opencl::DeviceId device)
      : api_(api),
        device_(device),
        traits_{.name = "opencl " + info.name,
                .memory_bytes = info.memory_bytes,
                .buffer_bytes = info.buffer_bytes} {}

  ~OpenClDevice() override {
    for (const opencl::Memory buffer : buffers_) {
      if (buffer != nullptr) api_.clReleaseMemObject(buffer);
    }
    for (const auto& [name, kernel] : kernels_) api_.clReleaseKernel(kernel);
    if (program_ != nullptr) api_.clReleaseProgram(program_);
    if (queue_ != nullptr) api_.clReleaseCommandQueue(queue_);
    if (context_ != nullptr) api_.clReleaseContext(context_);
  }

  base::Status Build(const std::string& build_options) {
    opencl::Code code = opencl::kSuccess;
    context_ = api_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    RETURN_IF_ERROR(Told(code, "a context"));
    queue_ = api_.clCreateCommandQueue(context_, device_, 0, &code);
    RETURN_IF_ERROR(Told(code, "a queue"));
    const char* text = exact::kKernelText.data();
    const std::size_t length = exact::kKernelText.size();
    program_ = api_.clCreateProgramWithSource(context_, 1, &text, &length, &code);
    RETURN_IF_ERROR(Told(code, "a program"));
    code = api_.clBuildProgram(program_, 1, &device_, build_options.c_str(), nullptr, nullptr);
    if (code != opencl::kSuccess) {
      return base::Internal(traits_.name + " cannot build the kernels (OpenCL error " +
                            std::to_string(code) + "): " + BuildLog());
    }
#define OSTRAKA_MAKE_KERNEL(constant, name, items) RETURN_IF_ERROR(MakeKernel(exact::constant));
    OSTRAKA_DEVICE_KERNELS(OSTRAKA_MAKE_KERNEL)
#undef OSTRAKA_MAKE_KERNEL
    return base::OkStatus();
  }

  const DeviceTraits& traits() const override { return traits_; }

  base::StatusOr<DeviceBuffer> Allocate(std::uint64_t bytes) override {
    opencl::Code code = opencl::kSuccess;
    const opencl::Memory memory =
        api_.clCreateBuffer(context_, opencl::kReadWrite, bytes, nullptr, &code);
    RETURN_IF_ERROR(Told(code, "a buffer of " + std::to_string(bytes) + " bytes"));
    buffers_.push_back(memory);
    return DeviceBuffer{static_cast<std::uint32_t>(buffers_.size() - 1)};
  }

  void Free(DeviceBuffer buffer) override {
    api_.clReleaseMemObject(MemoryOf(buffer));
    buffers_[buffer.id] = nullptr;
  }

  base::Status Upload(DeviceBuffer to, std::uint64_t offset,
                      std::span<const std::byte> from) override {
    return Told(api_.clEnqueueWriteBuffer(queue_, MemoryOf(to), kWaits, offset, from.size(),
                                          from.data(), 0, nullptr, nullptr),
                "an upload");
  }

  base::Status Download(DeviceBuffer from, std::uint64_t offset, std::span<std::byte> to) override {
    return Told(api_.clEnqueueReadBuffer(queue_, MemoryOf(from), kWaits, offset, to.size(),
                                         to.data(), 0, nullptr, nullptr),
                "a download");
  }

  base::Status Launch(const DeviceKernel& kernel, std::uint32_t groups,
                      std::span<const Argument> arguments) override {
    const auto found = kernels_.find(kernel.name);
    OSTRAKA_CHECK(found != kernels_.end());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      RETURN_IF_ERROR(Told(SetArgument(found->second, static_cast<std::uint32_t>(i), arguments[i]),
                           "argument "s + std::to_string(i) + " of " + kernel.name));
    }
    const std::size_t local = kernel.items;
    const std::size_t global = std::size_t{groups} * local;
    return Told(api_.clEnqueueNDRangeKernel(queue_, found->second, 1, nullptr, &global, &local, 0,
                                            nullptr, nullptr),
                kernel.name);
  }

  base::Status Finish() override { return Told(api_.clFinish(queue_), "to finish"); }

 private:
  static constexpr std::uint32_t kWaits = 1;

  base::Status Told(opencl::Code code, const std::string& what) const {
    return StatusOf(code, traits_.name + ", " + what);
  }

  opencl::Memory MemoryOf(DeviceBuffer buffer) const {
    OSTRAKA_CHECK(buffer.id < buffers_.size() && buffers_[buffer.id] != nullptr);
    return buffers_[buffer.id];
  }

  opencl::Code SetArgument(opencl::Kernel kernel, std::uint32_t i, const Argument& argument) const {
    if (const auto* buffer = std::get_if<DeviceBuffer>(&argument)) {
      const opencl::Memory memory = MemoryOf(*buffer);
      return api_.clSetKernelArg(kernel, i, sizeof(memory), &memory);
    }
    if (const auto* number = std::get_if<std::uint32_t>(&argument)) {
      return api_.clSetKernelArg(kernel, i, sizeof(*number), number);
    }
    return api_.clSetKernelArg(kernel, i, sizeof(float), &std::get<float>(argument));
  }

  base::Status MakeKernel(const DeviceKernel& kernel) {
    opencl::Code code = opencl::kSuccess;
    const opencl::Kernel made = api_.clCreateKernel(program_, kernel.name, &code);
    RETURN_IF_ERROR(Told(code, kernel.name));
    kernels_[kernel.name] = made;
    return base::OkStatus();
  }

  // The beginning of it: a driver may say any amount.
  std::string BuildLog() const {
    std::size_t size = 0;
    if (api_.clGetProgramBuildInfo(program_, device_, opencl::kBuildLog, 0, nullptr, &size) !=
        opencl::kSuccess) {
      return "it gives no log";
    }
    std::string log(size, '\0');
    if (api_.clGetProgramBuildInfo(program_, device_, opencl::kBuildLog, size, log.data(),
                                   nullptr) != opencl::kSuccess) {
      return "it gives no log";
    }
    return log.substr(0, std::min(log.find('\0'), kLongestLog));
  }

  const opencl::Api api_;
  opencl::DeviceId device_;
  DeviceTraits traits_;
  opencl::Context context_ = nullptr;
  opencl::Queue queue_ = nullptr;
  opencl::Program program_ = nullptr;
  std::map<std::string, opencl::Kernel> kernels_;
  std::vector<opencl::Memory> buffers_;  // null: freed
};

base::StatusOr<opencl::Api> ApiOf(const OpenClOptions& options) {
  return opencl::LoadApi(options.library.empty() ? opencl::kLibrary : options.library);
}

}  // namespace

base::StatusOr<std::vector<OpenClInfo>> ListOpenCl(const OpenClOptions& options) {
  ASSIGN_OR_RETURN(const opencl::Api api, ApiOf(options));
  ASSIGN_OR_RETURN(const std::vector<FoundDevice> devices, FindDevices(api));
  std::vector<OpenClInfo> infos;
  for (const FoundDevice& device : devices) {
    ASSIGN_OR_RETURN(OpenClInfo info, Describe(api, device));
    infos.push_back(std::move(info));
  }
  return infos;
}

base::StatusOr<std::unique_ptr<exact::Device>> OpenOpenCl(std::size_t index,
                                                          const OpenClOptions& options) {
  ASSIGN_OR_RETURN(const opencl::Api api, ApiOf(options));
  ASSIGN_OR_RETURN(const std::vector<FoundDevice> devices, FindDevices(api));
  if (index >= devices.size()) {
    return base::NotFound("no OpenCL device " + std::to_string(index) + "; there are " +
                          std::to_string(devices.size()));
  }
  const FoundDevice& found = devices[index];
  ASSIGN_OR_RETURN(const OpenClInfo info, Describe(api, found));
  ASSIGN_OR_RETURN(const auto items, NumberOf<std::size_t>(api, found.device, opencl::kMostItems));
  ASSIGN_OR_RETURN(const auto local,
                   NumberOf<std::uint64_t>(api, found.device, opencl::kLocalMemory));
  if (items < kNeededItems || local < kNeededLocalBytes) {
    return base::FailedPrecondition(info.name + " has work groups of " + std::to_string(items) +
                                    " items with " + std::to_string(local) +
                                    " bytes; the kernels need " + std::to_string(kNeededItems) +
                                    " and " + std::to_string(kNeededLocalBytes));
  }
  std::string build_options = "-cl-std=CL1.2";
  build_options += info.rounds_division && !options.own_division
                       ? " -cl-fp32-correctly-rounded-divide-sqrt"
                       : " -DOWN_DIVISION";
  if (!options.build_options.empty()) build_options += " " + options.build_options;
  auto device = std::make_unique<OpenClDevice>(api, info, found.device);
  RETURN_IF_ERROR(device->Build(build_options));
  return device;
}

}  // namespace ostraka::device
