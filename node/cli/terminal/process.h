// Child processes of `swarm`: started with a pipe on stdout, a file on stderr and, if requested, an
// inherited socket; read without blocking; never orphaned. Each has its own process group, so that
// Ctrl-C on the terminal reaches only the parent, and gets SIGTERM when the parent dies.
//
// Thread safety: one owner.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"

namespace ostraka::cli {

struct ProcessOptions {
  std::string program;                 // path
  std::vector<std::string> arguments;  // without the program's name
  std::string stderr_file;             // created or truncated
  int inherited_fd = -1;               // keeps its number in the child
};

class Process {
 public:
  // Unavailable if the system cannot provide a process, pipe or file.
  static base::StatusOr<Process> Start(const ProcessOptions& options);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  // Kills the process if it still runs.
  ~Process();

  // For poll(2); -1 after the child closed its stdout.
  int stdout_fd() const { return stdout_fd_; }
  // Whole lines received since the last call; never blocks. A line of over 1 MiB is an Internal
  // error, since our node writes none.
  base::StatusOr<std::vector<std::string>> ReadLines();

  // The exit status if the process has ended (128 + signal number if a signal ended it); never
  // blocks.
  std::optional<int> Poll();
  void Signal(int signal) const;
  pid_t pid() const { return pid_; }

 private:
  Process(pid_t pid, int stdout_fd) : pid_(pid), stdout_fd_(stdout_fd) {}
  void Close();

  pid_t pid_ = -1;
  int stdout_fd_ = -1;
  std::string partial_;
  std::optional<int> status_;
};

}  // namespace ostraka::cli
