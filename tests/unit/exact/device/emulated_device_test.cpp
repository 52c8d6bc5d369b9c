#include "exact/device/emulated_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "exact/device/kernel_list.h"

namespace ostraka::exact::emulated_device_test {
namespace {

using ::testing::HasSubstr;

std::array<std::byte, 4> Bytes(std::uint32_t value) {
  return std::bit_cast<std::array<std::byte, 4>>(value);
}

TEST(EmulatedDevice, KeepsWhatIsUploadedAndHandsOutGarbage) {
  const auto device = MakeEmulatedDevice();
  const DeviceBuffer buffer = device->Allocate(12).value();
  const auto one = Bytes(1);
  ASSERT_TRUE(device->Upload(buffer, 4, one).ok());
  std::array<std::uint32_t, 3> got{};
  ASSERT_TRUE(device->Download(buffer, 0, std::as_writable_bytes(std::span(got))).ok());
  EXPECT_THAT(got, ::testing::ElementsAre(0xa5a5a5a5U, 1U, 0xa5a5a5a5U));
  EXPECT_TRUE(device->Finish().ok());
}

TEST(EmulatedDevice, HasNoMoreMemoryThanItSays) {
  const auto device = MakeEmulatedDevice({.memory_bytes = 100, .buffer_bytes = 60});
  EXPECT_EQ(device->traits().memory_bytes, 100U);
  EXPECT_EQ(device->traits().buffer_bytes, 60U);
  EXPECT_EQ(device->Allocate(61).status().code(), absl::StatusCode::kUnavailable);
  const DeviceBuffer first = device->Allocate(60).value();
  EXPECT_EQ(device->Allocate(41).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(device->Allocate(40).ok());
  EXPECT_FALSE(device->Allocate(1).ok());
  device->Free(first);
  EXPECT_TRUE(device->Allocate(60).ok());
  EXPECT_FALSE(device->Allocate(0).ok());
}

TEST(EmulatedDevice, RefusesPlacesBeyondABuffer) {
  const auto device = MakeEmulatedDevice();
  const DeviceBuffer buffer = device->Allocate(8).value();
  const auto one = Bytes(1);
  auto into = Bytes(0);
  EXPECT_THAT(base::MessageOf(device->Upload(buffer, 5, one)), HasSubstr("bytes 5 to 9"));
  EXPECT_FALSE(device->Download(buffer, ~std::uint64_t{0}, into).ok());
  EXPECT_FALSE(device->Upload({.id = 7}, 0, one).ok());
  device->Free(buffer);
  EXPECT_THAT(base::MessageOf(device->Download(buffer, 0, into)), HasSubstr("no buffer 0"));
}

TEST(EmulatedDevice, RefusesLaunchesThatAreNoKernels) {
  const auto device = MakeEmulatedDevice();
  const DeviceBuffer buffer = device->Allocate(40).value();
  const std::vector<Argument> right = {buffer, std::uint32_t{0}, std::uint32_t{10}, 1.5F};
  EXPECT_TRUE(device->Launch(kRunFill, 1, right).ok());
  EXPECT_THAT(base::MessageOf(device->Launch({"run_nothing", 256}, 1, right)),
              HasSubstr("no kernel run_nothing"));
  EXPECT_FALSE(device->Launch({"run_fill", 128}, 1, right).ok());
  EXPECT_THAT(base::MessageOf(device->Launch(kRunFill, 0, right)), HasSubstr("0 groups"));
  EXPECT_FALSE(device->Launch(kRunFill, 1U << 31, right).ok());
  EXPECT_THAT(base::MessageOf(device->Launch(kRunFill, 1, std::span(right).first(3))),
              HasSubstr("takes 4 arguments, not 3"));
  std::vector<Argument> wrong = right;
  wrong[3] = std::uint32_t{1};
  EXPECT_THAT(base::MessageOf(device->Launch(kRunFill, 1, wrong)), HasSubstr("another type"));
  wrong = right;
  wrong[0] = std::uint32_t{0};
  EXPECT_FALSE(device->Launch(kRunFill, 1, wrong).ok());
  wrong[0] = DeviceBuffer{.id = 9};
  EXPECT_THAT(base::MessageOf(device->Launch(kRunFill, 1, wrong)), HasSubstr("no buffer 9"));
}

}  // namespace
}  // namespace ostraka::exact::emulated_device_test
