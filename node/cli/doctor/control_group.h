// Limits that the kernel puts on this process by its control groups. They stand in the process's
// own group and in all groups above it: of a service, a user, a container.
//
// Thread safety: LimitFiles is pure; the others read files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ostraka::cli {

// The files of one limit.
struct GroupFile {
  const char* controller;  // of version 1: "memory"
  const char* first;       // its file in version 1
  const char* second;      // in version 2
};

// Where the limit may stand, given what /proc/self/cgroup says: the own group first. A group may
// have no such file.
std::vector<std::string> LimitFiles(std::string_view groups, const GroupFile& file);

// Bytes of memory; 0: no limit.
std::uint64_t MemoryLimit();
// Cores; 0: no quota.
double CoreQuota();

}  // namespace ostraka::cli
