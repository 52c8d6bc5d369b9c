#include "exact/device/emulated_device.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ostraka::exact {
namespace {

constexpr std::byte kGarbage{0xa5};

// Promises:
//   E1  a buffer that was freed, or that this device did not hand out, is never reached.
// Memory: that of the buffers.
// Thread safety: one call at a time.
class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const EmulationOptions& options)
      : options_(options),
        traits_{.name = "emulated",
                .memory_bytes = options.memory_bytes,
                .buffer_bytes = options.buffer_bytes} {}

  const DeviceTraits& traits() const override { return traits_; }

  base::StatusOr<DeviceBuffer> Allocate(std::uint64_t bytes) override {
    if (bytes == 0) return base::InvalidArgument("a buffer of no bytes");
    if (bytes > options_.buffer_bytes || bytes > options_.memory_bytes - used_) {
      return base::Unavailable("the emulated device has no " + std::to_string(bytes) +
                               " bytes: " + std::to_string(used_) + " of " +
                               std::to_string(options_.memory_bytes) + " are in use");
    }
    used_ += bytes;
    buffers_.emplace_back(bytes, kGarbage);
    return DeviceBuffer{static_cast<std::uint32_t>(buffers_.size() - 1)};
  }

  void Free(DeviceBuffer buffer) override {
    if (buffer.id >= buffers_.size()) return;
    used_ -= buffers_[buffer.id].size();
    std::vector<std::byte>().swap(buffers_[buffer.id]);
  }

  base::Status Upload(DeviceBuffer to, std::uint64_t offset,
                      std::span<const std::byte> from) override {
    RETURN_IF_ERROR(CheckRange(to, offset, from.size()));
    std::copy(from.begin(), from.end(),
              buffers_[to.id].begin() + static_cast<std::ptrdiff_t>(offset));
    return base::OkStatus();
  }

  base::Status Download(DeviceBuffer from, std::uint64_t offset, std::span<std::byte> to) override {
    RETURN_IF_ERROR(CheckRange(from, offset, to.size()));
    std::copy_n(buffers_[from.id].begin() + static_cast<std::ptrdiff_t>(offset), to.size(),
                to.begin());
    return base::OkStatus();
  }

  base::Status Launch(const DeviceKernel& kernel, std::uint32_t groups,
                      std::span<const Argument> arguments) override {
    const auto found = std::find_if(options_.kernels.begin(), options_.kernels.end(),
                                    [&](const EmulatedKernel& each) {
                                      return std::strcmp(each.kernel.name, kernel.name) == 0 &&
                                             each.kernel.items == kernel.items;
                                    });
    if (found == options_.kernels.end()) {
      return base::InvalidArgument("no kernel " + std::string(kernel.name) + " of " +
                                   std::to_string(kernel.items) + " items");
    }
    if (groups == 0 || groups > kMostGroups) {
      return base::InvalidArgument("a launch of " + std::to_string(groups) + " groups");
    }
    std::vector<EmulatedArgument> resolved;
    for (const Argument& argument : arguments) {
      resolved.push_back({.argument = argument});
      if (const auto* buffer = std::get_if<DeviceBuffer>(&argument)) {
        RETURN_IF_ERROR(CheckRange(*buffer, 0, 0));
        resolved.back().memory = buffers_[buffer->id].data();
      }
    }
    for (std::uint32_t group = 0; group < groups; ++group) {
      RETURN_IF_ERROR(found->run(
          {.index = group, .items = kernel.items, .descending = options_.descending}, resolved));
    }
    return base::OkStatus();
  }

  base::Status Finish() override { return base::OkStatus(); }

 private:
  base::Status CheckRange(DeviceBuffer buffer, std::uint64_t offset, std::uint64_t bytes) const {
    if (buffer.id >= buffers_.size() || buffers_[buffer.id].empty()) {
      return base::InvalidArgument("no buffer " + std::to_string(buffer.id));
    }
    const std::uint64_t size = buffers_[buffer.id].size();
    if (offset > size || bytes > size - offset) {
      return base::InvalidArgument("bytes " + std::to_string(offset) + " to " +
                                   std::to_string(offset + bytes) + " of a buffer of " +
                                   std::to_string(size));
    }
    return base::OkStatus();
  }

  EmulationOptions options_;
  DeviceTraits traits_;
  std::uint64_t used_ = 0;                            // bytes
  std::vector<std::vector<std::byte>> buffers_ = {};  // empty: freed
};

}  // namespace

std::unique_ptr<Device> MakeEmulatedDevice(const EmulationOptions& options) {
  return std::make_unique<EmulatedDevice>(options);
}

}  // namespace ostraka::exact
