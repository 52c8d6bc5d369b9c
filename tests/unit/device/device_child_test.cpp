// What a child with a driver has of its parent, and that it ends with it.
#include "node/device/device_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "node/device/hosted_device.h"

namespace ostraka::device::device_child_test {
namespace {

using ::testing::StartsWith;

HostCommand Host(const std::string& kind) {
  return {.program = OSTRAKA_TEST_HOST, .arguments = {kind, "0"}};
}

TEST(DeviceChild, GivesItsChildNothingOfOurs) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);  // without CLOEXEC
  setenv("OSTRAKA_SECRET", "1", 1);
  setenv("KEPT_FOR_DRIVERS", "1", 1);
  const auto looked = OpenHosted("emulated", Host("look"));
  EXPECT_EQ(base::MessageOf(looked.status()), "emulated: no secret, kept");
  unsetenv("OSTRAKA_SECRET");
  close(ends[0]);
  close(ends[1]);
}

TEST(DeviceChild, EndsWithItsParent) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const auto device = OpenHosted("emulated", Host("pid"));
    const std::string name = device.ok() ? (*device)->traits().name : "none";
    static_cast<void>(write(pipe_ends[1], name.data(), name.size()));
    _exit(0);  // without destructors, as a crash would
  }
  char text[64] = {};
  ASSERT_GT(read(pipe_ends[0], text, sizeof(text) - 1), 0);
  const std::string name = text;
  ASSERT_THAT(name, StartsWith("emulated pid "));
  const pid_t child = std::stoi(name.substr(13));
  const int process = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  waitpid(parent, nullptr, 0);
  if (process >= 0) {
    pollfd ended{.fd = process, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&ended, 1, 20'000), 1) << "the child outlives its parent";
    close(process);
  } else {
    EXPECT_EQ(errno, ESRCH);
  }
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace ostraka::device::device_child_test
