#include "node/os/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace ostraka::os {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  file >> total >> resident;
  return file ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::uint64_t OpenFiles() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return 0;
  // One of the entries is the descriptor of the folder itself.
  return static_cast<std::uint64_t>(std::distance(begin(files), end(files))) - 1;
}

}  // namespace

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  stats.rss_bytes = ResidentBytes();
  stats.open_files = OpenFiles();
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    stats.peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    stats.written_bytes = static_cast<std::uint64_t>(usage.ru_oublock) * 512;  // Linux's unit
    stats.cpu_seconds = SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_open_files = limit.rlim_cur;
  return stats;
}

}  // namespace ostraka::os
