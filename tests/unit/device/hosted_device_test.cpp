// A device in a child process, and whatever may become of the child.
#include "node/device/hosted_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/device/host_wire.h"
#include "tests/unit/exact/device/device_problem.h"

namespace ostraka::device::hosted_device_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr HostTimes kShort = {.opening = base::Seconds(1), .answer = base::Seconds(1)};

HostCommand Host(const std::string& kind, int at = 0) {
  return {.program = OSTRAKA_TEST_HOST, .arguments = {kind, std::to_string(at)}};
}

TEST(HostedDevice, GivesTheRecordedGradients) {
  const auto device = OpenHosted("emulated", Host("plain")).value();
  EXPECT_THAT(device->traits().name, StartsWith("emulated "));
  for (const exact::testing::NamedProblem& each : exact::testing::DigestProblems()) {
    if (each.name != "gpt" && each.name != "mlp") continue;
    EXPECT_EQ(exact::testing::DigestOf(each.problem, *device).Short(),
              exact::testing::kRecordedDigests.at(each.name))
        << each.name;
  }
}

TEST(HostedDevice, MovesMoreThanItsAreaHolds) {
  const auto device = OpenHosted("emulated", Host("plain")).value();
  std::vector<std::uint32_t> sent((2 * kDataBytes + 12) / sizeof(std::uint32_t));
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint32_t>(i * 77);
  const std::size_t bytes = sent.size() * sizeof(std::uint32_t);
  const exact::DeviceBuffer buffer = device->Allocate(bytes + 8).value();
  ASSERT_TRUE(device->Upload(buffer, 8, std::as_bytes(std::span(sent))).ok());
  std::vector<std::uint32_t> got(sent.size());
  ASSERT_TRUE(device->Download(buffer, 8, std::as_writable_bytes(std::span(got))).ok());
  EXPECT_EQ(got, sent);
}

// The first error of a gradient by a child of that kind, which later calls repeat.
base::Status ErrorOf(const HostCommand& command) {
  auto opened = OpenHosted("emulated", command, kShort);
  if (!opened.ok()) return opened.status();
  const auto problems = exact::testing::DigestProblems();
  const exact::testing::NamedProblem& each = problems.front();
  const auto runner = exact::testing::RunnerFor(each.problem, **opened);
  const auto loss = runner->AddGradient(each.problem.inputs());
  EXPECT_EQ((*opened)->Finish(), loss.status());
  EXPECT_EQ((*opened)->Allocate(8).status(), loss.status());
  return loss.status();
}

TEST(HostedDevice, KillsAChildThatHangs) {
  const base::Status status = ErrorOf(Host("hang", 3));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(status), HasSubstr("no answer for 1 s, so its process was killed"));
  EXPECT_THAT(base::MessageOf(ErrorOf(Host("hang_opening"))),
              HasSubstr("emulated: no answer for 1 s, so its process was killed"));
}

TEST(HostedDevice, SaysHowAChildEnded) {
  EXPECT_THAT(base::MessageOf(ErrorOf(Host("die", 3))), HasSubstr("ended by signal 9"));
  EXPECT_THAT(base::MessageOf(ErrorOf(Host("exit"))), HasSubstr("ended with 7"));
  const base::Status lost = ErrorOf(Host("lost", 3));
  EXPECT_EQ(lost.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(lost), HasSubstr("emulation, run_map: lost"));
}

TEST(HostedDevice, PassesOnWhyADeviceDoesNotOpen) {
  const auto none = OpenHosted("opencl:4", Host("none"));
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(base::MessageOf(none.status()), "opencl:4: no such device, only opencl:4");
  const auto missing = OpenHosted("cuda:0", {.program = "/nowhere/ostraka"});
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(missing.status()), HasSubstr("/nowhere/ostraka"));
}

TEST(HostedDevice, RefusesAnotherBuildsChild) {
  const auto other = OpenHosted("cuda:0", Host("other"), kShort);
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::MessageOf(other.status()), HasSubstr("another build"));
  EXPECT_EQ(OpenHosted("cuda:0", Host("garbage"), kShort).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ostraka::device::hosted_device_test
