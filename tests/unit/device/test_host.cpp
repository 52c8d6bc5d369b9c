// The child of hosted_device_test: it serves an emulated device, and misbehaves as it is told.
//   test_host KIND AT WHAT: from its AT-th call on, a KIND of device
#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "exact/device/emulated_device.h"
#include "node/device/host_wire.h"
#include "node/device/serve_device.h"

namespace ostraka::device {
namespace {

[[noreturn]] void Hang() {
  while (true) pause();
}

class Misbehaving final : public exact::Device {
 public:
  Misbehaving(std::string kind, int at)
      : kind_(std::move(kind)), at_(at), device_(exact::MakeEmulatedDevice()) {
    traits_ = device_->traits();
    if (kind_ == "pid") traits_.name = "pid " + std::to_string(getpid());
  }

  const exact::DeviceTraits& traits() const override { return traits_; }
  base::StatusOr<exact::DeviceBuffer> Allocate(std::uint64_t bytes) override {
    return device_->Allocate(bytes);
  }
  void Free(exact::DeviceBuffer buffer) override { device_->Free(buffer); }
  base::Status Upload(exact::DeviceBuffer to, std::uint64_t offset,
                      std::span<const std::byte> from) override {
    return device_->Upload(to, offset, from);
  }
  base::Status Download(exact::DeviceBuffer from, std::uint64_t offset,
                        std::span<std::byte> to) override {
    return device_->Download(from, offset, to);
  }
  base::Status Launch(const exact::DeviceKernel& kernel, std::uint32_t groups,
                      std::span<const exact::Argument> arguments) override {
    if (at_-- > 0) return device_->Launch(kernel, groups, arguments);
    if (kind_ == "hang") Hang();
    if (kind_ == "die") kill(getpid(), SIGKILL);
    if (kind_ == "lost") return base::Unavailable("emulation, run_map: lost");
    return device_->Launch(kernel, groups, arguments);
  }
  base::Status Finish() override { return device_->Finish(); }

 private:
  const std::string kind_;
  int at_;
  std::unique_ptr<exact::Device> device_;
  exact::DeviceTraits traits_;
};

// What the child was given of its parent, in words.
std::string Inherited() {
  std::string text = std::getenv("OSTRAKA_SECRET") == nullptr ? "no secret" : "a secret";
  text += std::getenv("KEPT_FOR_DRIVERS") == nullptr ? ", nothing kept" : ", kept";
  DIR* const folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > kMemory && fd != dirfd(folder)) text += ", descriptor " + std::to_string(fd);
  }
  closedir(folder);
  return text;
}

int Serve(const std::string& kind, int at, const std::string& what) {
  if (kind == "exit") return 7;
  if (kind == "garbage") {
    send(kControl, "xyz", 3, MSG_NOSIGNAL);
    Hang();
  }
  if (kind == "other") {
    const Answer answer{.buffer = kHostVersion + 1};
    send(kControl, &answer, sizeof(answer), MSG_NOSIGNAL);
    return 0;
  }
  return ServeDevice([&]() -> base::StatusOr<std::unique_ptr<exact::Device>> {
    if (kind == "none") return base::NotFound("no such device, only " + what);
    if (kind == "hang_opening") Hang();
    if (kind == "look") return base::NotFound(Inherited());
    return std::make_unique<Misbehaving>(kind, at);
  });
}

}  // namespace
}  // namespace ostraka::device

int main(int argc, char** argv) {
  return argc == 4 ? ostraka::device::Serve(argv[1], std::atoi(argv[2]), argv[3]) : 2;
}
