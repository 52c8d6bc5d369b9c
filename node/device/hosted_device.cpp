#include "node/device/hosted_device.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>
#include <variant>

#include "exact/device/kernel_list.h"
#include "node/base/check.h"
#include "node/device/host_wire.h"

namespace ostraka::device {
namespace {

using exact::Argument;
using exact::DeviceBuffer;
using exact::DeviceKernel;

// So that an answer comes soon, however long a gradient takes.
constexpr std::size_t kMostLaunches = 64;

std::uint32_t PlaceOf(const DeviceKernel& kernel) {
  const auto& all = exact::kDeviceKernels;
  const auto* const found = std::find_if(
      std::begin(all), std::end(all),
      [&](const DeviceKernel& each) { return std::string_view(each.name) == kernel.name; });
  OSTRAKA_CHECK(found != std::end(all));
  return static_cast<std::uint32_t>(found - std::begin(all));
}

class HostedDevice final : public exact::Device {
 public:
  HostedDevice(DeviceChild child, exact::DeviceTraits traits, const HostTimes& times)
      : child_(std::move(child)), traits_(std::move(traits)), times_(times) {}

  const exact::DeviceTraits& traits() const override { return traits_; }

  base::StatusOr<DeviceBuffer> Allocate(std::uint64_t bytes) override {
    ASSIGN_OR_RETURN(const Answer answer, Do({.ask = Ask::kAllocate, .bytes = bytes}));
    return DeviceBuffer{answer.buffer};
  }

  void Free(DeviceBuffer buffer) override {
    // A child that has ended has freed everything.
    static_cast<void>(Do({.ask = Ask::kFree, .buffer = buffer.id}));
  }

  base::Status Upload(DeviceBuffer to, std::uint64_t offset,
                      std::span<const std::byte> from) override {
    while (!from.empty()) {
      const std::size_t bytes = std::min(from.size(), kDataBytes);
      std::memcpy(child_.data(), from.data(), bytes);
      RETURN_IF_ERROR(
          Do({.ask = Ask::kUpload, .buffer = to.id, .offset = offset, .bytes = bytes}).status());
      from = from.subspan(bytes);
      offset += bytes;
    }
    return failure_;
  }

  base::Status Download(DeviceBuffer from, std::uint64_t offset, std::span<std::byte> to) override {
    while (!to.empty()) {
      const std::size_t bytes = std::min(to.size(), kDataBytes);
      RETURN_IF_ERROR(
          Do({.ask = Ask::kDownload, .buffer = from.id, .offset = offset, .bytes = bytes})
              .status());
      std::memcpy(to.data(), child_.data(), bytes);
      to = to.subspan(bytes);
      offset += bytes;
    }
    return failure_;
  }

  base::Status Launch(const DeviceKernel& kernel, std::uint32_t groups,
                      std::span<const Argument> arguments) override {
    OSTRAKA_CHECK(arguments.size() <= kMostArguments);
    const std::size_t words = kLaunchHeadWords + 2 * arguments.size();
    if (launches_ == kMostLaunches ||
        (words_.size() + words) * sizeof(std::uint32_t) > kLaunchBytes) {
      RETURN_IF_ERROR(SendLaunches());
    }
    words_.push_back(PlaceOf(kernel));
    words_.push_back(groups);
    words_.push_back(static_cast<std::uint32_t>(arguments.size()));
    for (const Argument& argument : arguments) AddArgument(argument);
    ++launches_;
    return failure_;
  }

  base::Status Finish() override { return Settle(); }

 private:
  void AddArgument(const Argument& argument) {
    const auto add = [this](ArgumentTag tag, std::uint32_t bits) {
      words_.push_back(static_cast<std::uint32_t>(tag));
      words_.push_back(bits);
    };
    if (const auto* buffer = std::get_if<DeviceBuffer>(&argument)) {
      add(ArgumentTag::kBuffer, buffer->id);
    } else if (const auto* number = std::get_if<std::uint32_t>(&argument)) {
      add(ArgumentTag::kInteger, *number);
    } else {
      add(ArgumentTag::kFloat, std::bit_cast<std::uint32_t>(std::get<float>(argument)));
    }
  }

  // Hands over what is gathered, once the child has done what it was handed before.
  base::Status SendLaunches() {
    if (words_.empty()) return failure_;
    RETURN_IF_ERROR(AwaitLaunches());
    const std::size_t bytes = words_.size() * sizeof(std::uint32_t);
    std::memcpy(child_.launches(half_), words_.data(), bytes);
    const Request request{.ask = Ask::kLaunch, .offset = half_ * kLaunchBytes, .bytes = bytes};
    RETURN_IF_ERROR(Keep(child_.Send(request)));
    is_awaited_ = true;
    half_ = 1 - half_;
    words_.clear();
    launches_ = 0;
    return base::OkStatus();
  }

  base::Status AwaitLaunches() {
    RETURN_IF_ERROR(failure_);
    if (!std::exchange(is_awaited_, false)) return base::OkStatus();
    return Hear().status();
  }

  base::Status Settle() {
    RETURN_IF_ERROR(SendLaunches());
    return AwaitLaunches();
  }

  base::StatusOr<Answer> Do(const Request& request) {
    RETURN_IF_ERROR(Settle());
    RETURN_IF_ERROR(Keep(child_.Send(request)));
    return Hear();
  }

  base::StatusOr<Answer> Hear() {
    auto answer = child_.Receive(times_.answer);
    RETURN_IF_ERROR(Keep(answer.status()));
    RETURN_IF_ERROR(Keep(StatusIn(*answer)));
    return answer;
  }

  // Of the first error, `failure_` becomes it, with the device's name.
  const base::Status& Keep(const base::Status& status) {
    if (!status.ok() && failure_.ok()) {
      const std::string text = base::MessageOf(status);
      const bool named = text.substr(0, traits_.name.size()) == traits_.name;
      failure_ = base::MakeStatus(status.code(), named ? text : traits_.name + ": " + text);
    }
    return failure_;
  }

  DeviceChild child_;
  const exact::DeviceTraits traits_;
  const HostTimes times_;
  base::Status failure_;
  std::vector<std::uint32_t> words_;  // launches that were not handed over
  std::size_t launches_ = 0;          // in words_
  std::size_t half_ = 0;              // of the launch area, for the next
  bool is_awaited_ = false;           // launches were handed over, and not answered
};

class Source final : public exact::DeviceSource {
 public:
  Source(std::string name, std::uint64_t memory_limit, HostCommand command)
      : name_(std::move(name)), memory_limit_(memory_limit), command_(std::move(command)) {}

  bool is_named() const override { return name_ != kAnyDevice; }
  std::uint64_t memory_limit() const override { return memory_limit_; }

  base::StatusOr<std::vector<std::string>> Candidates() override {
    if (is_named()) return std::vector<std::string>{name_};
    if (!MaySeeGpu()) return std::vector<std::string>{};
    ASSIGN_OR_RETURN(const std::vector<ListedDevice> listed, ListHosted(command_));
    std::vector<std::string> names;
    for (const ListedDevice& device : listed) {
      if (device.error.empty() && !device.is_processor) names.push_back(device.name);
    }
    return names;
  }

  base::StatusOr<std::unique_ptr<exact::Device>> Open(const std::string& name) override {
    return OpenHosted(name, command_);
  }

 private:
  const std::string name_;
  const std::uint64_t memory_limit_;
  const HostCommand command_;
};

}  // namespace

base::StatusOr<std::unique_ptr<exact::Device>> OpenHosted(const std::string& name,
                                                          const HostCommand& command,
                                                          const HostTimes& times) {
  ASSIGN_OR_RETURN(DeviceChild child, DeviceChild::Start(command, name));
  const auto opened = child.Receive(times.opening);
  const base::Status status = opened.ok() ? StatusIn(*opened) : opened.status();
  if (!status.ok()) {
    return base::MakeStatus(status.code(), name + ": " + base::MessageOf(status));
  }
  if (opened->buffer != kHostVersion) {
    return base::FailedPrecondition(name + ": '" + command.program +
                                    "' is of another build than this program");
  }
  exact::DeviceTraits traits{.name = name + " " + TextIn(*opened),
                             .memory_bytes = opened->first,
                             .buffer_bytes = opened->second};
  return std::make_unique<HostedDevice>(std::move(child), std::move(traits), times);
}

base::StatusOr<std::vector<ListedDevice>> ListHosted(const HostCommand& command,
                                                     const HostTimes& times) {
  constexpr std::size_t kMost = 64;
  ASSIGN_OR_RETURN(DeviceChild child, DeviceChild::Start(command, kListDevices));
  std::vector<ListedDevice> list;
  // The child says that it has said all by an answer without text.
  while (list.size() < kMost) {
    ASSIGN_OR_RETURN(const Answer answer, child.Receive(times.answer));
    ListedDevice device{.memory_bytes = answer.first, .is_processor = answer.buffer != 0};
    if (const base::Status status = StatusIn(answer); !status.ok()) {
      device.error = base::MessageOf(status);
    } else {
      const std::string text = TextIn(answer);
      if (text.empty()) break;
      device.name = text.substr(0, text.find('\n'));
      device.description = text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    list.push_back(std::move(device));
  }
  return list;
}

std::shared_ptr<exact::DeviceSource> HostedSource(const std::string& name,
                                                  std::uint64_t memory_limit,
                                                  const HostCommand& command) {
  return std::make_shared<Source>(name, memory_limit, command);
}

}  // namespace ostraka::device
