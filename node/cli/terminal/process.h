// Child processes of `swarm`: started with a pipe on stdout, a file on stderr and, if asked, an
// inherited socket; read without blocking; never left behind. Each has a process group of its own,
// so that Ctrl-C on the terminal reaches the parent alone, and SIGTERM when the parent dies.
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
  std::string stderr_file;             // made or cut
  int inherited_fd = -1;               // stays open in the child under the same number
};

class Process {
 public:
  // Unavailable if the system has no process, pipe or file to give.
  static base::StatusOr<Process> Start(const ProcessOptions& options);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  // Kills what still runs.
  ~Process();

  // For poll(2); -1 once the child closed its stdout.
  int stdout_fd() const { return stdout_fd_; }
  // Whole lines that have come since the last call; never blocks. A line of over 1 MiB is an
  // Internal error: our own node does not write such.
  base::StatusOr<std::vector<std::string>> ReadLines();

  // The exit status if it has ended (128 + signal if by one); never blocks.
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
