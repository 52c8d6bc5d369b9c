#include "node/device/device_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "node/os/own_program.h"
#include "node/os/steady_clock.h"

namespace ostraka::device {
namespace {

// Above what a child is given, so that none overwrites another on its way there.
constexpr int kHigh = 10;
// A killed process may hang in the kernel for its driver; it is then left to itself.
constexpr int kReapMilliseconds = 2000;

base::Status NoMore(const std::string& what) {
  return base::Unavailable("no " + what + " for the driver's process: " + std::strerror(errno));
}

base::StatusOr<os::Descriptor> MakeArea() {
  os::Descriptor low(memfd_create("ostraka-device", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!low.ok() || ftruncate(low.get(), static_cast<off_t>(kAreaBytes)) != 0) {
    return NoMore("shared memory");
  }
  // Attack on the parent by a wild driver: it shortens the file, and the next access is a SIGBUS.
  if (fcntl(low.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return NoMore("sealed memory");
  }
  os::Descriptor high(fcntl(low.get(), F_DUPFD_CLOEXEC, kHigh));
  if (!high.ok()) return NoMore("descriptor");
  return high;
}

std::vector<char*> EnvironmentWithoutOurs() {
  std::vector<char*> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).substr(0, 8) != "OSTRAKA_") kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

// Puts the actions and attributes of posix_spawn together; they are destroyed with it.
class Spawning {
 public:
  Spawning() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null", O_RDWR, 0);
    }
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    // A session of its own: Ctrl-C is the parent's.
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  }
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;

  base::StatusOr<pid_t> Start(const std::string& program, char* const* argv, int control,
                              int memory) {
    posix_spawn_file_actions_adddup2(&actions_, control, kControl);
    posix_spawn_file_actions_adddup2(&actions_, memory, kMemory);
    posix_spawn_file_actions_addclosefrom_np(&actions_, kMemory + 1);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv,
                                  EnvironmentWithoutOurs().data());
    if (error != 0) {
      return base::Unavailable("cannot start '" + program +
                               "' for the driver: " + std::strerror(error));
    }
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

base::StatusOr<DeviceChild> DeviceChild::Start(const HostCommand& command,
                                               const std::string& what) {
  ASSIGN_OR_RETURN(const os::Descriptor memory, MakeArea());
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return NoMore("socket");
  os::Descriptor ours(ends[0]);
  const os::Descriptor low(ends[1]);
  const os::Descriptor theirs(fcntl(low.get(), F_DUPFD_CLOEXEC, kHigh));
  if (!theirs.ok()) return NoMore("descriptor");
  void* const area = mmap(nullptr, kAreaBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (area == MAP_FAILED) return NoMore("shared memory");
  DeviceChild child(-1, std::move(ours), static_cast<std::byte*>(area));

  const std::string program = command.program.empty() ? os::OwnProgram() : command.program;
  std::vector<std::string> words = {program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  words.push_back(what);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Spawning spawning;
  ASSIGN_OR_RETURN(child.pid_, spawning.Start(program, argv.data(), theirs.get(), memory.get()));
  return child;
}

DeviceChild::DeviceChild(DeviceChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      control_(std::move(other.control_)),
      area_(std::exchange(other.area_, nullptr)) {}

DeviceChild::~DeviceChild() {
  End(false);
  if (area_ != nullptr) munmap(area_, kAreaBytes);
}

std::string DeviceChild::End(bool is_ending) {
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return "its process has ended";
  const os::Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  if (is_ending && process.ok()) poll(&ended, 1, kReapMilliseconds);
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) == pid) {
    if (WIFSIGNALED(status)) {
      return "its process ended by signal " + std::to_string(WTERMSIG(status));
    }
    return "its process ended with " + std::to_string(WEXITSTATUS(status));
  }
  kill(pid, SIGKILL);
  if (process.ok()) poll(&ended, 1, kReapMilliseconds);
  waitpid(pid, nullptr, process.ok() ? WNOHANG : 0);
  return "its process was killed";
}

base::Status DeviceChild::Send(const Request& request) {
  ssize_t sent = 0;
  do {
    sent = send(control_.get(), &request, sizeof(request), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(sizeof(request))) return base::OkStatus();
  return base::Unavailable(End(true));
}

base::StatusOr<Answer> DeviceChild::Receive(base::Duration patience) {
  const base::Time end = os::SteadyNow() + patience;
  while (true) {
    const std::int64_t left = (end - os::SteadyNow()).ns / 1'000'000;
    pollfd said{.fd = control_.get(), .events = POLLIN, .revents = 0};
    const int ready = poll(&said, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      End(false);
      return base::Unavailable("no answer for " + std::to_string(patience.ns / 1'000'000'000) +
                               " s, so its process was killed");
    }
    Answer answer;
    const ssize_t got = recv(control_.get(), &answer, sizeof(answer), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == static_cast<ssize_t>(sizeof(answer))) return answer;
    return base::Unavailable(End(true));
  }
}

}  // namespace ostraka::device
