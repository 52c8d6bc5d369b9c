#include "node/device/serve_device.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "exact/device/kernel_list.h"
#include "node/device/confinement.h"
#include "node/device/device_list.h"
#include "node/device/host_wire.h"

namespace ostraka::device {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 3;

bool Say(const Answer& answer) {
  return send(kControl, &answer, sizeof(answer), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof(answer));
}

// nullopt: the parent has closed its end, or says what it never does.
std::optional<Request> Hear() {
  Request request;
  ssize_t got = 0;
  do {
    got = recv(kControl, &request, sizeof(request), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(request))) return std::nullopt;
  return request;
}

// A driver that hangs hears nothing; this thread does.
void EndWithParent() {
  std::thread([] {
    pollfd end{.fd = kControl, .events = POLLRDHUP, .revents = 0};
    while (poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
    _exit(kDone);
  }).detach();
}

class Server {
 public:
  Server(exact::Device& device, std::byte* area) : device_(device), area_(area) {}

  Answer Do(const Request& request) {
    switch (request.ask) {
      case Ask::kAllocate: {
        const auto buffer = device_.Allocate(request.bytes);
        if (!buffer.ok()) return AnswerOf(buffer.status());
        return Answer{.buffer = buffer->id};
      }
      case Ask::kFree:
        device_.Free({request.buffer});
        return {};
      case Ask::kUpload:
        return AnswerOf(device_.Upload({request.buffer}, request.offset,
                                       {area_ + kDataAt, std::size_t{request.bytes}}));
      case Ask::kDownload:
        return AnswerOf(device_.Download({request.buffer}, request.offset,
                                         {area_ + kDataAt, std::size_t{request.bytes}}));
      case Ask::kLaunch:
        return AnswerOf(Launch(request));
      case Ask::kFinish:
        return AnswerOf(device_.Finish());
    }
    return AnswerOf(base::Internal("an unknown request"));
  }

 private:
  base::Status Launch(const Request& request) {
    std::vector<std::uint32_t> words(request.bytes / sizeof(std::uint32_t));
    std::memcpy(words.data(), area_ + request.offset, words.size() * sizeof(std::uint32_t));
    std::vector<exact::Argument> arguments;
    for (std::size_t at = 0; at < words.size();) {
      const exact::DeviceKernel& kernel = exact::kDeviceKernels[words[at]];
      const std::uint32_t groups = words[at + 1];
      const std::uint32_t count = words[at + 2];
      at += kLaunchHeadWords;
      arguments.clear();
      for (std::uint32_t i = 0; i < count; ++i, at += 2) {
        switch (static_cast<ArgumentTag>(words[at])) {
          case ArgumentTag::kBuffer:
            arguments.emplace_back(exact::DeviceBuffer{words[at + 1]});
            break;
          case ArgumentTag::kInteger:
            arguments.emplace_back(words[at + 1]);
            break;
          case ArgumentTag::kFloat:
            arguments.emplace_back(std::bit_cast<float>(words[at + 1]));
            break;
        }
      }
      RETURN_IF_ERROR(device_.Launch(kernel, groups, arguments));
    }
    return device_.Finish();
  }

  exact::Device& device_;
  std::byte* area_;
};

int List() {
  EndWithParent();
  for (const ListedDevice& listed : ListDevices()) {
    Answer answer{.buffer = listed.is_processor ? 1U : 0U, .first = listed.memory_bytes};
    if (!listed.error.empty()) answer = AnswerOf(base::Unavailable(listed.error));
    if (listed.error.empty()) SetText(answer, listed.name + "\n" + listed.description);
    if (!Say(answer)) return kFailed;
  }
  return Say({}) ? kDone : kFailed;  // an answer without text is the last
}

}  // namespace

int ServeDevice(const OpenDevice& open) {
  void* const area = mmap(nullptr, kAreaBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMemory, 0);
  if (area == MAP_FAILED) return kFailed;
  EndWithParent();
  const auto device = open();
  if (!device.ok()) {
    Say(AnswerOf(device.status()));
    return kFailed;
  }
  const exact::DeviceTraits& traits = (*device)->traits();
  Answer opened{
      .buffer = kHostVersion, .first = traits.memory_bytes, .second = traits.buffer_bytes};
  SetText(opened, traits.name);
  if (!Say(opened)) return kFailed;
  Server server(**device, static_cast<std::byte*>(area));
  while (const auto request = Hear()) {
    if (!Say(server.Do(*request))) return kFailed;
  }
  return kDone;
}

int RunDeviceHost(const std::string& what) {
  Answer nothing;
  if (recv(kControl, &nothing, sizeof(nothing), MSG_DONTWAIT | MSG_PEEK) >= 0 || errno != EAGAIN) {
    std::fprintf(stderr, "ostraka: device-host is what `ostraka node --device` starts by itself\n");
    return kFailed;
  }
  if (const base::Status confined = Confine(); !confined.ok()) {
    Say(AnswerOf(confined));
    return kFailed;
  }
  if (what == kListDevices) return List();
  return ServeDevice([&] { return OpenNamed(what); });
}

}  // namespace ostraka::device
