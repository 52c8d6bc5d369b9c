#include "node/device/confinement.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ostraka::device {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
#error "name this machine's AUDIT_ARCH"
#endif

constexpr std::uint32_t kDeny = SECCOMP_RET_ERRNO | EPERM;

// io_uring would open sockets past the filter.
constexpr std::uint32_t kDenied[] = {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
                                     SYS_pidfd_getfd, SYS_io_uring_setup};

constexpr sock_filter Load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
constexpr sock_filter Return(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
// Goes on with the next instruction if equal, else skips `count`.
constexpr sock_filter SkipUnless(std::uint32_t value, std::uint8_t count) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count);
}

std::vector<sock_filter> Filter() {
  std::vector<sock_filter> filter = {Load(offsetof(seccomp_data, arch)), SkipUnless(kMachine, 1),
                                     BPF_STMT(BPF_JMP | BPF_JA, 1), Return(kDeny),
                                     Load(offsetof(seccomp_data, nr))};
#if defined(__x86_64__)
  // The calls of x32 have numbers of their own.
  constexpr std::uint32_t kX32 = 0x40000000;
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1));
  filter.push_back(Return(kDeny));
#endif
  for (const std::uint32_t call : kDenied) {
    filter.push_back(SkipUnless(call, 1));
    filter.push_back(Return(kDeny));
  }
  // Sockets within this machine stay: drivers speak to their services by them.
  filter.push_back(SkipUnless(SYS_socket, 3));
  filter.push_back(Load(offsetof(seccomp_data, args)));  // the lower half of the first argument
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0));
  filter.push_back(Return(kDeny));
  filter.push_back(Return(SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace

base::Status Confine() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::vector<sock_filter> filter = Filter();
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  // TSYNC: an interpreter has threads of its libraries by now.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    return base::Unavailable(std::string("the driver's process cannot be confined (seccomp): ") +
                             std::strerror(errno));
  }
  return base::OkStatus();
}

}  // namespace ostraka::device
