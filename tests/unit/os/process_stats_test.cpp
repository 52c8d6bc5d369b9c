#include "node/os/process_stats.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace ostraka::os::process_stats_test {
namespace {

TEST(ProcessStatsTest, CountsOpenFiles) {
  const std::uint64_t before = ReadProcessStats().open_files;
  std::vector<int> files;
  for (int i = 0; i < 5; ++i) files.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const ProcessStats stats = ReadProcessStats();
  EXPECT_EQ(stats.open_files, before + 5);
  EXPECT_GE(stats.max_open_files, stats.open_files);
  for (const int fd : files) close(fd);
}

TEST(ProcessStatsTest, CountsTouchedMemory) {
  const ProcessStats before = ReadProcessStats();
  EXPECT_GT(before.rss_bytes, 0u);
  EXPECT_GE(before.peak_rss_bytes, before.rss_bytes / 2);
  constexpr std::size_t kBytes = 64 << 20;
  std::vector<char> touched(kBytes, 'x');
  EXPECT_GT(ReadProcessStats().rss_bytes, before.rss_bytes + kBytes / 2);
  EXPECT_GT(ReadProcessStats().peak_rss_bytes, before.rss_bytes + kBytes / 2);
  EXPECT_EQ(touched.back(), 'x');
}

// Another count of the kernel's.
std::uint64_t WrittenByIo() {
  std::ifstream io("/proc/self/io");
  std::string key;
  std::uint64_t value = 0;
  while (io >> key >> value) {
    if (key == "write_bytes:") return value;
  }
  return 0;
}

TEST(ProcessStatsTest, CountsWhatIsWritten) {
  const std::string path = testing::TempDir() + "ostraka-process-stats-" + std::to_string(getpid());
  const std::uint64_t before = ReadProcessStats().written_bytes;
  const std::uint64_t io_before = WrittenByIo();
  const std::string text(8 << 20, 'x');
  std::ofstream(path) << text << std::flush;
  const std::uint64_t written = ReadProcessStats().written_bytes - before;
  const std::uint64_t by_io = WrittenByIo() - io_before;
  unlink(path.c_str());
  EXPECT_EQ(written, by_io);
  if (by_io == 0) GTEST_SKIP() << "this system, or the one of " << path << ", counts no writes";
  EXPECT_GE(written, text.size());
}

}  // namespace
}  // namespace ostraka::os::process_stats_test
