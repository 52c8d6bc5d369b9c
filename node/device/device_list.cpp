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

std::string NameOf(std::string_view kind, std::size_t index) {
  return std::string(kind) + std::to_string(index);
}

// CUDA's numbers: 12020 is 12.2.
std::string CudaVersion(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

void AddOpenCl(std::vector<ListedDevice>& list) {
  const auto infos = ListOpenCl();
  if (!infos.ok()) {
    list.push_back({.error = "no OpenCL: " + base::MessageOf(infos.status())});
    return;
  }
  for (std::size_t i = 0; i < infos->size(); ++i) {
    const OpenClInfo& info = (*infos)[i];
    list.push_back({.name = NameOf(kOpenCl, i),
                    .description = info.name + ", " + info.platform + ", driver " + info.driver,
                    .memory_bytes = info.memory_bytes,
                    .is_processor = info.is_processor});
  }
}

void AddCuda(std::vector<ListedDevice>& list) {
  const auto infos = ListCuda();
  if (!infos.ok()) {
    list.push_back({.error = "no CUDA: " + base::MessageOf(infos.status())});
    return;
  }
  for (std::size_t i = 0; i < infos->size(); ++i) {
    const CudaInfo& info = (*infos)[i];
    list.push_back({.name = NameOf(kCuda, i),
                    .description = info.name + ", sm_" + std::to_string(info.major) +
                                   std::to_string(info.minor) + ", driver of CUDA " +
                                   CudaVersion(info.driver),
                    .memory_bytes = info.memory_bytes,
                    .is_processor = false});
  }
}

}  // namespace

std::vector<ListedDevice> ListDevices() {
  std::vector<ListedDevice> list;
  AddCuda(list);
  AddOpenCl(list);
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
