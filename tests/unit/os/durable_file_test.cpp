#include "node/os/durable_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>

#include "node/os/descriptor.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::os::durable_file_test {
namespace {

using ::testing::HasSubstr;

class DurableFile : public TempFolderTest {
 protected:
  base::Status Write(const std::string& text, IfExists if_exists = IfExists::kReplace) {
    const std::array pieces = {base::AsBytes(std::string_view(text)).first(text.size() / 2),
                               base::AsBytes(std::string_view(text)).subspan(text.size() / 2)};
    return WriteDurably(path(), pieces, if_exists);
  }
  std::string path() const { return dir_ + "/file"; }
  std::string Content() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t FileCount() const {
    return std::distance(std::filesystem::directory_iterator(dir_), {});
  }
};

TEST_F(DurableFile, HoldsThePiecesInOrderAndNothingElseIsLeft) {
  ASSERT_TRUE(Write("one and two").ok());
  EXPECT_EQ(Content(), "one and two");
  ASSERT_TRUE(Write("").ok());
  EXPECT_EQ(Content(), "");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(DurableFile, RemainsOfACrashAreOverwritten) {
  std::ofstream(path() + ".tmp") << "half of somethi";
  ASSERT_TRUE(Write("whole").ok());
  EXPECT_EQ(Content(), "whole");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(DurableFile, RefusesToReplaceWhenAskedTo) {
  ASSERT_TRUE(Write("first", IfExists::kRefuse).ok());
  const base::Status status = Write("second", IfExists::kRefuse);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(base::MessageOf(status), path() + " exists");
  EXPECT_EQ(Content(), "first");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(DurableFile, AFailureLeavesTheOldFile) {
  ASSERT_TRUE(Write("old").ok());
  std::filesystem::create_directory(path() + ".tmp");  // cannot be opened as a file
  const base::Status status = Write("new");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(status), HasSubstr("cannot write " + path()));
  EXPECT_EQ(Content(), "old");
}

TEST_F(DurableFile, APipeIsWrittenIntoAndStaysAPipe) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  const Descriptor reader(open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(Write("through it").ok());
  std::array<char, 16> got{};
  ASSERT_EQ(read(reader.get(), got.data(), got.size()), 10);
  EXPECT_STREQ(got.data(), "through it");
  EXPECT_TRUE(std::filesystem::is_fifo(path()));
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(DurableFile, ADeviceBehindALinkIsNotReplaced) {
  std::filesystem::create_symlink("/dev/full", path());
  const base::Status status = Write("lost");
  EXPECT_THAT(base::MessageOf(status), HasSubstr("No space left on device"));
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  EXPECT_TRUE(std::filesystem::is_character_file(path()));
}

TEST_F(DurableFile, MissingFolderIsReported) {
  const base::Bytes byte = {1};
  const std::array pieces = {base::ByteView(byte)};
  const base::Status status = WriteDurably(dir_ + "/none/file", pieces, IfExists::kReplace);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(status), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace ostraka::os::durable_file_test
