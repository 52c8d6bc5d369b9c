#include "node/os/open_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace ostraka::os::open_files_test {
namespace {

TEST(OpenFiles, TheLimitIsRaisedAndNeverLowered) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlim_t before = limit.rlim_cur;
  EXPECT_TRUE(AllowOpenFiles(1).ok());
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, before);
  limit.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(AllowOpenFiles(100).ok());
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, 100U);
  limit.rlim_max = 200;  // of this process, for good: also where it runs as root
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const base::Status refused = AllowOpenFiles(std::uint64_t{1} << 40);
  EXPECT_THAT(base::MessageOf(refused), testing::HasSubstr("1099511627776 open files"));
}

}  // namespace
}  // namespace ostraka::os::open_files_test
