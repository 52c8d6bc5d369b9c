#include "node/net/portmap/mapper_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "node/base/check.h"

namespace ostraka::net {
namespace {

constexpr unsigned kFirstOther = STDERR_FILENO + 1;

// Runs between fork and exec: only async-signal-safe calls. Does not return.
[[noreturn]] void Become(char* const* argv, int input, int output) {
  const int null = open("/dev/null", O_RDWR);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  close_range(kFirstOther, ~0U, 0);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_FSIZE, &none);  // pipes and sockets are no files
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  setsid();  // Ctrl-C is the parent's
  char* const environment[] = {nullptr};
  execve(argv[0], argv, environment);
  _exit(127);
}

struct Pipe {
  os::Descriptor read{-1};
  os::Descriptor write{-1};
};

base::StatusOr<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return base::Unavailable(std::string("no pipe: ") + std::strerror(errno));
  }
  return Pipe{os::Descriptor(ends[0]), os::Descriptor(ends[1])};
}

}  // namespace

base::StatusOr<MapperChild> StartMapper(const std::vector<std::string>& command) {
  OSTRAKA_CHECK(!command.empty());
  ASSIGN_OR_RETURN(Pipe input, MakePipe());
  ASSIGN_OR_RETURN(Pipe output, MakePipe());
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t middle = fork();
  if (middle == 0) {
    const pid_t child = fork();
    if (child == 0) Become(argv.data(), input.read.get(), output.write.get());
    _exit(child < 0 ? 1 : 0);
  }
  int status = 1;
  pid_t ended = middle;
  while (middle > 0 && (ended = waitpid(middle, &status, 0)) < 0 && errno == EINTR) {
  }
  if (middle < 0 || ended != middle || status != 0) {
    return base::Unavailable("no process for the port mapper, raise the limit (ulimit -u)");
  }
  fcntl(output.read.get(), F_SETFL, O_NONBLOCK);
  return MapperChild{std::move(input.write), std::move(output.read)};
}

}  // namespace ostraka::net
