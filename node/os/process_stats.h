// Resource use of this process, from the operating system.
//
// Thread safety: free functions, any thread.
#pragma once

#include <cstdint>

namespace ostraka::os {

// Zero where the system gives no value.
struct ProcessStats {
  std::uint64_t rss_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  double cpu_seconds = 0;           // user and system
  std::uint64_t written_bytes = 0;  // to disks
  std::uint64_t open_files = 0;
  std::uint64_t max_open_files = 0;  // the soft limit
};

ProcessStats ReadProcessStats();

}  // namespace ostraka::os
