#include "node/device/device_list.h"

#include <unistd.h>

#include <charconv>
#include <optional>

#include "node/base/check.h"
#include "node/device/cuda_device.h"
#include "node/device/opencl_device.h"

namespace ostraka::device {
namespace {

constexpr std::string_view kOpenCl = "opencl:";
constexpr std::string_view kCuda = "cuda:";

// The N of opencl:N; nullopt: another name.
std::optional<std::size_t> IndexOf(std::string_view name, std::string_view kind) {
  constexpr std::size_t kMostDigits = 3;
  if (name.substr(0, kind.size()) != kind) return std::nullopt;
  name.remove_prefix(kind.size());
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  if (!whole || name.size() > kMostDigits) return std::nullopt;
  return index;
}

// CUDA's numbers: 12020 is 12.2.
std::string CudaVersion(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

ListedDevice DescriptionOf(const OpenClInfo& info) {
  return {.description = info.name + ", " + info.platform + ", driver " + info.driver,
          .memory_bytes = info.memory_bytes,
          .is_processor = info.is_processor};
}

ListedDevice DescriptionOf(const CudaInfo& info) {
  return {.description = info.name + ", sm_" + std::to_string(info.major) +
                         std::to_string(info.minor) + ", driver of CUDA " +
                         CudaVersion(info.driver),
          .memory_bytes = info.memory_bytes};
}

// The devices of one kind, or why they are not known.
template <typename Info>
void Add(std::string_view kind, const std::string& library,
         const base::StatusOr<std::vector<Info>>& infos, std::vector<ListedDevice>& list) {
  if (!infos.ok()) {
    list.push_back({.error = "no " + library + ": " + base::MessageOf(infos.status())});
    return;
  }
  for (std::size_t i = 0; i < infos->size(); ++i) {
    list.push_back(DescriptionOf((*infos)[i]));
    list.back().name = std::string(kind) + std::to_string(i);
  }
}

}  // namespace

std::vector<ListedDevice> ListDevices() {
  std::vector<ListedDevice> list;
  Add(kCuda, "CUDA", ListCuda(), list);
  Add(kOpenCl, "OpenCL", ListOpenCl(), list);
  return list;
}

bool MaySeeGpu() {
  // Of NVIDIA, of AMD's ROCm, of any card that renders, and of a card of the host under WSL.
  for (const char* file : {"/dev/nvidiactl", "/dev/kfd", "/dev/dri", "/dev/dxg"}) {
    if (access(file, F_OK) == 0) return true;
  }
  return false;
}

base::Status CheckDeviceName(std::string_view name) {
  if (name == kProcessor || name == kAnyDevice || IndexOf(name, kOpenCl) || IndexOf(name, kCuda)) {
    return base::OkStatus();
  }
  return base::InvalidArgument("no device '" + std::string(name) +
                               "': give cpu, auto, opencl:N or cuda:N, as `ostraka doctor` "
                               "lists them");
}

base::StatusOr<std::unique_ptr<exact::Device>> OpenNamed(const std::string& name) {
  if (const auto index = IndexOf(name, kOpenCl)) return OpenOpenCl(*index);
  const auto index = IndexOf(name, kCuda);
  OSTRAKA_CHECK(index.has_value());
  return OpenCuda(*index);
}

}  // namespace ostraka::device
