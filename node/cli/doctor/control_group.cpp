#include "node/cli/doctor/control_group.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ostraka::cli {
namespace {

constexpr const char* kRoot = "/sys/fs/cgroup";
// "No limit" in version 1 is a number near 2^63.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

// `names`: "cpu,cpuacct".
bool Names(std::string_view names, std::string_view controller) {
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    if (names.substr(0, comma) == controller) return true;
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return false;
}

std::string OwnGroups() {
  std::ifstream file("/proc/self/cgroup");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::vector<std::string> LimitFiles(std::string_view groups, const GroupFile& file) {
  std::vector<std::string> files;
  while (!groups.empty()) {
    const std::size_t end = std::min(groups.find('\n'), groups.size());
    const std::string_view line = groups.substr(0, end);
    groups.remove_prefix(std::min(end + 1, groups.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const bool is_second = names.empty();  // "0::/user.slice"
    if (!is_second && !Names(names, file.controller)) continue;
    const std::string root =
        is_second ? std::string(kRoot) : std::string(kRoot) + "/" + file.controller;
    const char* const name = is_second ? file.second : file.first;
    std::string_view group = line.substr(second + 1);
    while (true) {
      while (group.ends_with('/')) group.remove_suffix(1);
      files.push_back(root + std::string(group) + "/" + name);
      const std::size_t slash = group.rfind('/');
      if (slash == group.npos) break;
      group = group.substr(0, slash);
    }
  }
  return files;
}

std::uint64_t MemoryLimit() {
  std::uint64_t least = kNoLimit;
  for (const std::string& path :
       LimitFiles(OwnGroups(), {"memory", "memory.limit_in_bytes", "memory.max"})) {
    std::ifstream file(path);
    std::uint64_t bytes = 0;
    if (file >> bytes) least = std::min(least, bytes);  // "max" is no number
  }
  return least == kNoLimit ? 0 : least;
}

double CoreQuota() {
  double least = 0;
  for (const std::string& path : LimitFiles(OwnGroups(), {"cpu", "cpu.cfs_quota_us", "cpu.max"})) {
    std::ifstream file(path);
    double quota = 0;
    double period = 0;
    if (!(file >> quota) || quota <= 0) continue;  // no such file; "max", or -1 in version 1
    if (!(file >> period)) {
      std::ifstream(path.substr(0, path.rfind('/')) + "/cpu.cfs_period_us") >> period;
    }
    if (period <= 0) continue;
    least = least == 0 ? quota / period : std::min(least, quota / period);
  }
  return least;
}

}  // namespace ostraka::cli
