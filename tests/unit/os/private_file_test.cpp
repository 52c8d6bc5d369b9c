#include "node/os/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::os::private_file_test {
namespace {

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

class PrivateFileTest : public TempFolderTest {
 protected:
  void SetUp() override {
    TempFolderTest::SetUp();
    path_ = dir_ + "/file";
  }
  void Open(const std::string& path) {
    const auto fd = OpenPrivate(path);
    ASSERT_TRUE(fd.ok()) << fd.status();
    close(*fd);
  }
  std::string path_;
};

TEST_F(PrivateFileTest, IsMadeForItsOwnerWhateverTheUmask) {
  const mode_t before = umask(0);
  Open(path_);
  umask(before);
  EXPECT_EQ(ModeOf(path_), 0600U);
}

TEST_F(PrivateFileTest, ReadableFileIsClosedToOthersAndKeepsItsBytes) {
  std::ofstream(path_) << "here";
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  Open(path_);
  EXPECT_EQ(ModeOf(path_), 0600U);
  std::ifstream file(path_);
  std::string text;
  EXPECT_TRUE(file >> text && text == "here");
}

TEST_F(PrivateFileTest, TextIsReplacedAsAWholeAndReadToABound) {
  const base::StatusOr<int> fd = OpenPrivate(path_);
  ASSERT_TRUE(fd.ok());
  EXPECT_EQ(TextIn(*fd, 10), "");
  EXPECT_TRUE(ReplaceText(*fd, "a long text"));
  EXPECT_TRUE(ReplaceText(*fd, "short"));
  EXPECT_EQ(TextIn(*fd, 10), "short");
  EXPECT_EQ(TextIn(*fd, 2), "sh");
  close(*fd);
  EXPECT_FALSE(ReplaceText(*fd, "closed"));
  EXPECT_EQ(TextIn(*fd, 2), "");
}

TEST_F(PrivateFileTest, FollowsNoLinkAndTakesNoPipeOrFolder) {
  std::ofstream(dir_ + "/other") << "theirs";
  ASSERT_EQ(chmod((dir_ + "/other").c_str(), 0644), 0);
  std::filesystem::create_symlink(dir_ + "/other", path_);
  EXPECT_EQ(OpenPrivate(path_).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ModeOf(dir_ + "/other"), 0644U);
  ASSERT_EQ(mkfifo((dir_ + "/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(OpenPrivate(dir_ + "/pipe").ok());
  EXPECT_FALSE(OpenPrivate(dir_).ok());
}

TEST_F(PrivateFileTest, AnothersFileIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  ASSERT_EQ(chmod(dir_.c_str(), 0777), 0);
  Open(path_);
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65533) != 0) _exit(2);
    _exit(OpenPrivate(path_).ok() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(PrivateFileTest, PrivateFolderAdmitsNoFilesOfOthers) {
  ASSERT_EQ(chmod(dir_.c_str(), 0755), 0);
  EXPECT_TRUE(IsPrivateFolder(dir_));
  for (const mode_t mode : {0777U, 0775U, 0757U, 01777U}) {
    ASSERT_EQ(chmod(dir_.c_str(), mode), 0);
    EXPECT_FALSE(IsPrivateFolder(dir_)) << std::oct << mode;
  }
  EXPECT_FALSE(IsPrivateFolder(dir_ + "/none"));
  Open(path_);
  EXPECT_FALSE(IsPrivateFolder(path_));
}

}  // namespace
}  // namespace ostraka::os::private_file_test
