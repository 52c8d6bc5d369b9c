#include "node/cli/terminal/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ostraka::cli {
namespace {

constexpr std::size_t kMaxNodeLineBytes = 1 << 20;

// Runs in the child between fork and exec: only async-signal-safe calls. Does not return.
[[noreturn]] void Become(const ProcessOptions& options, char* const* argv, int stdout_fd,
                         int stderr_fd, pid_t parent) {
  // A child must not outlive a killed parent, even one killed just before this call.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  // Leaves the terminal's foreground group: Ctrl-C reaches only the parent, which passes it on
  // once. A node ends at once on a second SIGINT.
  setpgid(0, 0);
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, STDIN_FILENO);
  dup2(stdout_fd, STDOUT_FILENO);
  dup2(stderr_fd, STDERR_FILENO);
  if (options.inherited_fd >= 0) fcntl(options.inherited_fd, F_SETFD, 0);
  execv(options.program.c_str(), argv);
  _exit(127);
}

}  // namespace

base::StatusOr<Process> Process::Start(const ProcessOptions& options) {
  const int stderr_fd =
      open(options.stderr_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (stderr_fd < 0) {
    return base::Unavailable("cannot write '" + options.stderr_file + "': " + std::strerror(errno));
  }
  std::array<int, 2> pipe_fds{};
  if (pipe2(pipe_fds.data(), O_CLOEXEC) != 0) {
    close(stderr_fd);
    return base::Unavailable(std::string("no pipe for a child process: ") + std::strerror(errno));
  }
  std::vector<char*> argv = {const_cast<char*>(options.program.c_str())};
  for (const std::string& argument : options.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Become(options, argv.data(), pipe_fds[1], stderr_fd, parent);
  const int fork_error = errno;
  close(stderr_fd);
  close(pipe_fds[1]);
  if (pid < 0) {
    close(pipe_fds[0]);
    return base::Unavailable(std::string("cannot start a process: ") + std::strerror(fork_error));
  }
  fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
  return Process(pid, pipe_fds[0]);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      stdout_fd_(std::exchange(other.stdout_fd_, -1)),
      partial_(std::move(other.partial_)),
      status_(other.status_) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    Close();
    pid_ = std::exchange(other.pid_, -1);
    stdout_fd_ = std::exchange(other.stdout_fd_, -1);
    partial_ = std::move(other.partial_);
    status_ = other.status_;
  }
  return *this;
}

Process::~Process() { Close(); }

void Process::Close() {
  if (stdout_fd_ >= 0) close(std::exchange(stdout_fd_, -1));
  if (pid_ > 0 && !status_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

base::StatusOr<std::vector<std::string>> Process::ReadLines() {
  std::vector<std::string> lines;
  std::array<char, 65536> buffer;
  while (stdout_fd_ >= 0) {
    const ssize_t got = read(stdout_fd_, buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      close(std::exchange(stdout_fd_, -1));
      break;
    }
    partial_.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = partial_.find('\n'); end != std::string::npos;
         end = partial_.find('\n', begin)) {
      lines.push_back(partial_.substr(begin, end - begin));
      begin = end + 1;
    }
    partial_.erase(0, begin);
    if (partial_.size() > kMaxNodeLineBytes)
      return base::Internal("a node wrote a line of over 1 MiB");
  }
  return lines;
}

std::optional<int> Process::Poll() {
  if (status_ || pid_ <= 0) return status_;
  int raw = 0;
  if (waitpid(pid_, &raw, WNOHANG) == pid_) {
    status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  }
  return status_;
}

void Process::Signal(int signal) const {
  if (pid_ > 0 && !status_) kill(pid_, signal);
}

}  // namespace ostraka::cli
