#include "node/device/confinement.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace ostraka::device::confinement_test {
namespace {

// What a confined process may do, as bits; -1: it could not be confined.
int AllowedWhenConfined() {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    if (!Confine().ok()) _exit(255);
    int allowed = 0;
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) allowed |= 1;
    if (socket(AF_INET6, SOCK_DGRAM, 0) >= 0) allowed |= 2;
    char byte = 0;
    iovec to{&byte, 1};
    iovec from{&byte, 1};  // the same address in the parent
    if (process_vm_readv(parent, &to, 1, &from, 1, 0) == 1) allowed |= 4;
    if (syscall(SYS_io_uring_setup, 4, nullptr) >= 0 || errno != EPERM) allowed |= 8;
    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) allowed |= 16;
    _exit(allowed);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  return code == 255 ? -1 : code;
}

TEST(Confinement, LeavesSocketsOfThisMachineAlone) { EXPECT_EQ(AllowedWhenConfined(), 16); }

}  // namespace
}  // namespace ostraka::device::confinement_test
