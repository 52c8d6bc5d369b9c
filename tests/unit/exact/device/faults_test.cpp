// A device that fails at some call: the runner says so, gives back what it took, and computes
// nothing from what is left.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "exact/device/device_runner.h"
#include "exact/device/emulated_device.h"
#include "tests/unit/exact/model_digests.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::exact::faults_test {
namespace {

using testing::Problem;

enum class Call { kAllocate, kUpload, kDownload, kLaunch, kFinish };

// Fails at one call, and from then on at each.
class FaultyDevice final : public Device {
 public:
  FaultyDevice(Call call, int at) : call_(call), at_(at), device_(MakeEmulatedDevice()) {}

  const DeviceTraits& traits() const override { return device_->traits(); }
  base::StatusOr<DeviceBuffer> Allocate(std::uint64_t bytes) override {
    RETURN_IF_ERROR(Count(Call::kAllocate));
    auto buffer = device_->Allocate(bytes);
    if (buffer.ok()) held_.insert(buffer->id);
    return buffer;
  }
  void Free(DeviceBuffer buffer) override {
    EXPECT_EQ(held_.erase(buffer.id), 1U) << "freed twice, or never allocated";
    device_->Free(buffer);
  }
  base::Status Upload(DeviceBuffer to, std::uint64_t offset,
                      std::span<const std::byte> from) override {
    RETURN_IF_ERROR(Count(Call::kUpload));
    return device_->Upload(to, offset, from);
  }
  base::Status Download(DeviceBuffer from, std::uint64_t offset, std::span<std::byte> to) override {
    RETURN_IF_ERROR(Count(Call::kDownload));
    return device_->Download(from, offset, to);
  }
  base::Status Launch(const DeviceKernel& kernel, std::uint32_t groups,
                      std::span<const Argument> arguments) override {
    RETURN_IF_ERROR(Count(Call::kLaunch));
    return device_->Launch(kernel, groups, arguments);
  }
  base::Status Finish() override {
    RETURN_IF_ERROR(Count(Call::kFinish));
    return device_->Finish();
  }

  bool has_failed() const { return failed_; }
  std::size_t held() const { return held_.size(); }

 private:
  base::Status Count(Call call) {
    failed_ = failed_ || (call == call_ && at_-- == 0);
    return failed_ ? base::Unavailable("the device is lost") : base::OkStatus();
  }

  Call call_;
  int at_;
  bool failed_ = false;
  std::unique_ptr<Device> device_;
  std::set<std::uint32_t> held_;  // buffers
};

Problem TinyGpt() {
  const Model model = MakeModel({.model = "gpt",
                                 .batch = 1,
                                 .layers = 1,
                                 .width = 4,
                                 .heads = 1,
                                 .context = 5,
                                 .vocabulary = 7})
                          .value();
  return testing::DrawProblem(model.graph, 1, 0.3F, model.constants);
}

constexpr DeviceLimits kRoomy = {.memory_bytes = 1 << 26, .buffer_bytes = 1 << 26};

// Two micro-batches and their mean.
base::Status Compute(const Problem& problem, Device& device, std::vector<float>& mean) {
  ASSIGN_OR_RETURN(DevicePlan plan, PlanDevice(Differentiate(problem.graph), kRoomy));
  ASSIGN_OR_RETURN(const std::unique_ptr<DeviceRunner> runner,
                   DeviceRunner::Make(std::move(plan), problem.constants, device));
  RETURN_IF_ERROR(runner->SetParameters(problem.parameters));
  for (int i = 0; i < 2; ++i) {
    const auto loss = runner->AddGradient(problem.inputs());
    if (!loss.ok()) {
      EXPECT_FALSE(runner->TakeMean(mean).ok()) << "a sum after an error";
      EXPECT_FALSE(runner->AddGradient(problem.inputs()).ok()) << "parameters after an error";
      return loss.status();
    }
  }
  return runner->TakeMean(mean);
}

// Two local steps of two batches.
base::Status Descend(const Problem& problem, DeviceRunner& runner, std::vector<float>& end) {
  RETURN_IF_ERROR(runner.BeginDescent(2));
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (int batch = 0; batch < 2; ++batch) {
      RETURN_IF_ERROR(runner.AddGradient(problem.inputs()).status());
      RETURN_IF_ERROR(runner.EndBatch());
    }
    RETURN_IF_ERROR(
        runner.StepDescent({.count = 2, .rate = 0.1, .clip_norm = 1, .epsilon = 1}, step));
  }
  ASSIGN_OR_RETURN(end, runner.ReadParameters());
  return base::OkStatus();
}

TEST(Faults, EachCallThatFailsEndsLocalSteps) {
  const Problem problem = TinyGpt();
  for (const Call call : {Call::kAllocate, Call::kDownload, Call::kLaunch}) {
    int failures = 0;
    for (int at = 0;; ++at) {
      FaultyDevice device(call, at);
      {
        auto runner = DeviceRunner::Make(PlanDevice(Differentiate(problem.graph), kRoomy).value(),
                                         problem.constants, device);
        if (!runner.ok()) continue;
        ASSERT_TRUE((*runner)->SetParameters(problem.parameters).ok());
        std::vector<float> end;
        const base::Status status = Descend(problem, **runner, end);
        EXPECT_EQ(status.ok(), !device.has_failed());
        if (status.ok()) break;
        ++failures;
        EXPECT_FALSE((*runner)->EndBatch().ok()) << "a batch after an error";
        // Memory that is full leaves the parameters.
        const bool is_full = status.code() == absl::StatusCode::kInvalidArgument;
        EXPECT_EQ(is_full, call == Call::kAllocate);
        EXPECT_FALSE((*runner)->ReadDescent().ok());
      }
      EXPECT_EQ(device.held(), 0U) << "buffers left";
    }
    EXPECT_GT(failures, 3) << static_cast<int>(call);
  }
}

TEST(Faults, EachCallThatFailsEndsInAStatus) {
  const Problem problem = TinyGpt();
  std::vector<float> wanted(problem.parameters.size());
  const auto whole = MakeEmulatedDevice();
  ASSERT_TRUE(Compute(problem, *whole, wanted).ok());
  for (const Call call :
       {Call::kAllocate, Call::kUpload, Call::kDownload, Call::kLaunch, Call::kFinish}) {
    int at = 0;
    for (;; ++at) {
      FaultyDevice device(call, at);
      std::vector<float> mean(problem.parameters.size());
      const base::Status status = Compute(problem, device, mean);
      EXPECT_EQ(device.held(), 0U) << "buffers left";
      if (!device.has_failed()) {
        EXPECT_TRUE(status.ok());
        EXPECT_EQ(testing::BitsOf(mean), testing::BitsOf(wanted));
        break;
      }
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable)
          << "call " << static_cast<int>(call) << " at " << at;
    }
    EXPECT_GT(at, 0) << "no such call";
  }
}

}  // namespace
}  // namespace ostraka::exact::faults_test
