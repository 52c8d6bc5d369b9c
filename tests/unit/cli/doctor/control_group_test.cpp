#include "node/cli/doctor/control_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::cli::control_group_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr GroupFile kMemory = {"memory", "memory.limit_in_bytes", "memory.max"};

// A service of systemd has no limit at the root of the tree, but in its own group.
TEST(ControlGroup, OfVersionTwoIsReadFromTheOwnGroupUpwards) {
  EXPECT_THAT(LimitFiles("0::/system.slice/node.service\n", kMemory),
              ElementsAre("/sys/fs/cgroup/system.slice/node.service/memory.max",
                          "/sys/fs/cgroup/system.slice/memory.max", "/sys/fs/cgroup/memory.max"));
}

TEST(ControlGroup, OfAContainerIsTheRoot) {
  EXPECT_THAT(LimitFiles("0::/\n", kMemory), ElementsAre("/sys/fs/cgroup/memory.max"));
}

TEST(ControlGroup, OfVersionOneIsReadFromItsController) {
  const char* const groups =
      "9:devices:/\n"
      "5:cpu,memory:/docker/77\n"
      "1:name=systemd:/docker/77\n";
  EXPECT_THAT(LimitFiles(groups, kMemory),
              ElementsAre("/sys/fs/cgroup/memory/docker/77/memory.limit_in_bytes",
                          "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                          "/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}

TEST(ControlGroup, WhatIsNoLineOfTheKernelNamesNothing) {
  EXPECT_THAT(LimitFiles("", kMemory), IsEmpty());
  EXPECT_THAT(LimitFiles("garbage\n\n12:\n:\n3:memoryx:/a", kMemory), IsEmpty());
}

}  // namespace
}  // namespace ostraka::cli::control_group_test
