// OpenCL on this machine: by pocl (Debian's pocl-opencl-icd) where there is no GPU.
#include "node/device/opencl_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "exact/device/conformance_program.h"
#include "node/device/opencl_api.h"
#include "tests/unit/exact/device/device_problem.h"

namespace ostraka::device::opencl_device_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(OpenClList, SaysThatThereIsNoLibrary) {
  const OpenClOptions none = {.library = "libnothing_of_this_name.so.1"};
  const auto list = ListOpenCl(none);
  EXPECT_EQ(list.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(list.status()), HasSubstr("libnothing_of_this_name.so.1"));
  EXPECT_EQ(OpenOpenCl(0, none).status().code(), absl::StatusCode::kUnavailable);
}

TEST(OpenClList, SaysThatALibraryIsAnother) {
  const auto list = ListOpenCl({.library = "libc.so.6"});
  EXPECT_THAT(base::MessageOf(list.status()), HasSubstr("clGetPlatformIDs"));
}

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto list = ListOpenCl();
    if (list.ok() && !list->empty()) return;
    std::fprintf(stderr, "NOT TESTED: no OpenCL device here; apt-get install pocl-opencl-icd\n");
    GTEST_SKIP() << "no OpenCL device";
  }
};

TEST_F(OnDevice, IsDescribed) {
  const std::vector<OpenClInfo> list = ListOpenCl().value();
  for (const OpenClInfo& info : list) {
    EXPECT_NE(info.name, "");
    EXPECT_NE(info.platform, "");
    EXPECT_NE(info.driver, "");
    EXPECT_GE(info.memory_bytes, info.buffer_bytes);
    EXPECT_GT(info.buffer_bytes, 0U);
  }
  const auto beyond = OpenOpenCl(list.size());
  EXPECT_EQ(beyond.status().code(), absl::StatusCode::kNotFound);
}

TEST_F(OnDevice, GivesTheRecordedGradients) {
  const auto device = OpenOpenCl(0).value();
  for (const exact::testing::NamedProblem& each : exact::testing::DigestProblems()) {
    EXPECT_EQ(exact::testing::DigestOf(each.problem, *device).Short(),
              exact::testing::kRecordedDigests.at(each.name))
        << each.name;
  }
}

TEST_F(OnDevice, Conforms) {
  const auto device = OpenOpenCl(0).value();
  EXPECT_EQ(base::MessageOf(exact::CheckDevice(*device)), "");
}

TEST_F(OnDevice, ConformsWithOurOwnDivision) {
  const auto device = OpenOpenCl(0, {.own_division = true}).value();
  EXPECT_EQ(exact::ProgramDigest(*device).value().Hex(), exact::kProgramDigest);
}

TEST_F(OnDevice, IsRefusedIfItFlushesSubnormals) {
  const auto device = OpenOpenCl(0, {.build_options = "-cl-denorms-are-zero"}).value();
  EXPECT_THAT(base::MessageOf(exact::CheckDevice(*device)),
              AllOf(HasSubstr(device->traits().name), HasSubstr("computes other bits")));
}

TEST_F(OnDevice, TellsWhatTheCompilerSays) {
  const auto device = OpenOpenCl(0, {.build_options = "-DBitsOf=int"});
  EXPECT_EQ(device.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(base::MessageOf(device.status()), HasSubstr("cannot build the kernels"));
}

TEST_F(OnDevice, RefusesMoreMemoryThanThereIs) {
  const auto device = OpenOpenCl(0).value();
  const auto buffer = device->Allocate(std::uint64_t{1} << 50);
  EXPECT_FALSE(buffer.ok());
}

}  // namespace
}  // namespace ostraka::device::opencl_device_test
