// The log of received frames, after kills and on full disks.
#include "node/store/frame_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::frame_log_test {
namespace {

class FrameLogTest : public os::TempFolderTest {
 protected:
  std::string path() const { return dir_ + "/frames"; }
  std::string Content() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Append(const std::string& frame) {
    auto log = FrameLog::Open(path());
    ASSERT_TRUE(log.ok()) << log.status().message();
    ASSERT_TRUE(log->Append({frame.begin(), frame.end()}).ok());
  }
};

using namespace std::string_literals;

TEST_F(FrameLogTest, HoldsEachFrameBehindItsLength) {
  auto log = FrameLog::Open(path());
  ASSERT_TRUE(log.ok());
  ASSERT_TRUE(log->Append({'a', 'b'}).ok());
  EXPECT_EQ(Content(), "\2\0\0\0ab"s) << "a kill takes back nothing";
  ASSERT_TRUE(log->Append({}).ok());
  ASSERT_TRUE(log->Append(base::Bytes(258, 'c')).ok());
  EXPECT_EQ(Content(), "\2\0\0\0ab\0\0\0\0\2\1\0\0"s + std::string(258, 'c'));
}

TEST_F(FrameLogTest, ContinuesAfterTheLastWholeFrame) {
  Append("ab");
  Append("cd");
  const std::string two = Content();
  EXPECT_EQ(two, "\2\0\0\0ab\2\0\0\0cd"s);
  for (std::size_t kept = 0; kept <= two.size(); ++kept) {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << two.substr(0, kept);
    Append("e");
    const std::size_t whole = kept / 6 * 6;
    EXPECT_EQ(Content(), two.substr(0, whole) + "\1\0\0\0e"s) << "cut off after " << kept;
  }
}

TEST_F(FrameLogTest, ReportsWhereItCannotWrite) {
  const auto log = FrameLog::Open(dir_ + "/none/frames");
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(log.status().message().find("cannot write"), std::string::npos);
}

TEST_F(FrameLogTest, FullDiskEndsItAndIsReportedOnce) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto log = FrameLog::Open("/dev/full");
  ASSERT_TRUE(log.ok()) << log.status().message();
  const base::Status first = log->Append({'a'});
  EXPECT_EQ(first.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(first.message().find("not recorded"), std::string::npos) << first.message();
  EXPECT_TRUE(log->Append({'b'}).ok());
}

}  // namespace
}  // namespace ostraka::store::frame_log_test
