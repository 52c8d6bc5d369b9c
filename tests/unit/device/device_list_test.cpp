#include "node/device/device_list.h"

#include <gtest/gtest.h>

namespace ostraka::device::device_list_test {
namespace {

TEST(DeviceNames, AreChecked) {
  for (const char* name : {"cpu", "auto", "opencl:0", "cuda:12"}) {
    EXPECT_TRUE(CheckDeviceName(name).ok()) << name;
  }
  for (const char* name : {"", "gpu", "opencl:", "opencl:-1", "cuda:0x", "cuda:1234", "CUDA:0"}) {
    EXPECT_EQ(CheckDeviceName(name).code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

// Here a driver may be missing, which is said, and pocl may be there.
TEST(DeviceList, NamesADeviceOrSaysWhyNot) {
  const std::vector<ListedDevice> list = ListDevices();
  EXPECT_FALSE(list.empty());
  for (const ListedDevice& each : list) {
    EXPECT_NE(each.name.empty(), each.error.empty());
    if (!each.error.empty()) continue;
    EXPECT_TRUE(CheckDeviceName(each.name).ok()) << each.name;
    EXPECT_GT(each.memory_bytes, 0U);
    EXPECT_NE(each.description, "");
  }
}

}  // namespace
}  // namespace ostraka::device::device_list_test
