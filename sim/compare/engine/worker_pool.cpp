#include "sim/compare/engine/worker_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "node/base/check.h"

namespace ostraka::compare {
namespace {

base::Status SystemError(const char* what) {
  return base::Unavailable(std::string("cannot ") + what + ": " + std::strerror(errno));
}

bool WriteAll(int file, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = send(file, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

// Appends the available bytes; false at the end of the stream.
bool ReadSome(int file, std::string& text) {
  char buffer[1 << 16];
  ssize_t count = -1;
  do {
    count = read(file, buffer, sizeof(buffer));
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  text.append(buffer, static_cast<std::size_t>(count));
  return true;
}

// Removes the first line from `text` and returns it.
std::optional<std::string> TakeLine(std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = text.substr(0, end);
  text.erase(0, end + 1);
  return line;
}

// --- in the worker ------------------------------------------------------------------------------

// Linux restarts the count of peak memory when 5 is written to this file. If that is not allowed,
// peaks count from the start of the process.
void ResetPeakMemory() {
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w"); file != nullptr) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

std::uint64_t PeakMemoryBytes() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  unsigned long long kibibytes = 0;
  char line[256];
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "VmHWM: %llu kB", &kibibytes) == 1) break;
  }
  std::fclose(file);
  return kibibytes * 1024;
}

[[noreturn]] void Serve(int channel, pid_t parent, const PoolOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before prctl took effect
  std::string input;
  while (true) {
    const auto line = TakeLine(input);
    if (!line) {
      if (!ReadSome(channel, input)) _exit(0);
      continue;
    }
    if (options.prepare) options.prepare(std::stoull(*line));
    ResetPeakMemory();
    const auto begin = std::chrono::steady_clock::now();
    const std::string text = options.work(std::stoull(*line));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const std::string cost =
        std::to_string(seconds.count()) + " " + std::to_string(PeakMemoryBytes()) + " ";
    if (!WriteAll(channel, cost + text + "\n")) _exit(1);
  }
}

// --- here ---------------------------------------------------------------------------------------

class Worker {
 public:
  Worker(pid_t process, int channel) : process_(process), channel_(channel) {}
  Worker(Worker&& other) noexcept
      : process_(std::exchange(other.process_, -1)),
        channel_(std::exchange(other.channel_, -1)),
        task_(other.task_),
        partial_(std::move(other.partial_)) {}
  Worker& operator=(Worker&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(channel_, other.channel_);
    std::swap(task_, other.task_);
    std::swap(partial_, other.partial_);
    return *this;
  }
  ~Worker() {
    if (process_ < 0) return;
    close(channel_);
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }

  int channel() const { return channel_; }
  bool idle() const { return !task_; }
  bool Give(std::size_t task) {
    task_ = task;
    return WriteAll(channel_, std::to_string(task) + "\n");
  }
  // The result of its task; nullopt while it is incomplete.
  std::optional<TaskDone> Read() {
    if (!ReadSome(channel_, partial_)) return Buried();
    const auto line = TakeLine(partial_);
    if (!line) return std::nullopt;
    TaskDone done{*std::exchange(task_, std::nullopt), false, {}, {}};
    const std::size_t first = line->find(' ');
    const std::size_t second = line->find(' ', first + 1);
    done.cost = {std::stod(line->substr(0, first)), std::stoull(line->substr(first + 1))};
    done.text = line->substr(second + 1);
    return done;
  }

 private:
  TaskDone Buried() {
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    close(channel_);
    const bool killed = WIFSIGNALED(status);
    return {task_.value_or(0),
            true,
            killed ? "its process was killed by signal " + std::to_string(WTERMSIG(status)) +
                         (WTERMSIG(status) == SIGKILL ? ": out of memory?" : "")
                   : "its process ended with status " + std::to_string(WEXITSTATUS(status)),
            {}};
  }

  pid_t process_ = -1;
  int channel_ = -1;
  std::optional<std::size_t> task_;
  std::string partial_;
};

class Pool {
 public:
  Pool(std::size_t count, const PoolOptions& options) : count_(count), options_(options) {}

  base::Status Run() {
    const std::size_t wanted = std::min(options_.workers, count_);
    while (workers_.size() < wanted) RETURN_IF_ERROR(Start());
    while (finished_ < count_) {
      std::vector<pollfd> polled;
      for (const Worker& worker : workers_) polled.push_back({worker.channel(), POLLIN, 0});
      if (poll(polled.data(), polled.size(), -1) < 0) {
        if (errno == EINTR) continue;
        return SystemError("wait for workers");
      }
      // Backwards, because the replacement of a dead worker goes to the end of the list.
      for (std::size_t i = polled.size(); i-- > 0;) {
        if (polled[i].revents != 0) RETURN_IF_ERROR(OnReadable(i));
      }
    }
    return base::OkStatus();
  }

 private:
  base::Status Start() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return SystemError("create a channel to a worker");
    }
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) {
      close(ends[0]);
      for (const Worker& other : workers_) close(other.channel());
      Serve(ends[1], parent, options_);
    }
    close(ends[1]);
    if (process < 0) {
      close(ends[0]);
      return SystemError("start a worker");
    }
    workers_.emplace_back(process, ends[0]);
    GiveNext(workers_.back());
    return base::OkStatus();
  }

  void GiveNext(Worker& worker) {
    // Writing to a dead worker fails silently here; its channel reports the death.
    if (begun_ < count_) worker.Give(begun_++);
  }

  base::Status OnReadable(std::size_t index) {
    const bool idle = workers_[index].idle();
    const auto done = workers_[index].Read();
    if (!done) return base::OkStatus();
    if (idle) {  // idle: the event can only be its death
      workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
      return base::OkStatus();
    }
    ++finished_;
    if (done->died) {
      workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
      if (begun_ < count_) RETURN_IF_ERROR(Start());
    } else {
      GiveNext(workers_[index]);
    }
    return options_.done(*done);
  }

  std::size_t count_;
  const PoolOptions& options_;
  std::vector<Worker> workers_;
  std::size_t begun_ = 0;
  std::size_t finished_ = 0;
};

}  // namespace

base::Status RunTasks(std::size_t count, const PoolOptions& options) {
  OSTRAKA_CHECK(options.workers > 0);
  return Pool(count, options).Run();
}

std::size_t CoreCount() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
}

}  // namespace ostraka::compare
