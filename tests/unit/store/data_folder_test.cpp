// The folder of a node, which one process at a time uses.
#include "node/store/data_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::data_folder_test {
namespace {

using DataFolderTest = os::TempFolderTest;

mode_t ModeOf(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

TEST_F(DataFolderTest, IsMadeForItsOwnerOnly) {
  const std::string path = dir_ + "/a/b";
  const auto folder = DataFolder::Claim(path);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  EXPECT_EQ(folder->path(), path);
  EXPECT_EQ(ModeOf(path), 0700U);
  EXPECT_EQ(ModeOf(path + "/" + kLockFileName), 0600U);
  EXPECT_TRUE(folder->Sync().ok());
}

TEST_F(DataFolderTest, ExistingFolderKeepsItsMode) {
  ASSERT_EQ(::chmod(dir_.c_str(), 0750), 0);
  ASSERT_TRUE(DataFolder::Claim(dir_).ok());
  EXPECT_EQ(ModeOf(dir_), 0750U);
}

TEST_F(DataFolderTest, IsInUseUntilItsOwnerIsGone) {
  auto first = DataFolder::Claim(dir_);
  ASSERT_TRUE(first.ok());
  {
    const DataFolder moved = std::move(first).value();
    const auto second = DataFolder::Claim(dir_);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(second.status().message().find("in use by process " + std::to_string(::getpid())),
              std::string::npos)
        << second.status().message();
  }
  EXPECT_TRUE(DataFolder::Claim(dir_).ok());
}

TEST_F(DataFolderTest, ItsUserIsTheProcessThatClaimedIt) {
  EXPECT_TRUE(absl::IsNotFound(UserOf(dir_ + "/none").status()));
  {
    const auto folder = DataFolder::Claim(dir_);
    ASSERT_TRUE(folder.ok());
    EXPECT_EQ(UserOf(dir_).value_or(0), ::getpid());
  }
  EXPECT_TRUE(absl::IsNotFound(UserOf(dir_).status())) << "nobody uses it any more";
  EXPECT_TRUE(AwaitUnused(dir_).ok());
  EXPECT_TRUE(DataFolder::Claim(dir_).ok()) << "to look takes no lock";
}

TEST_F(DataFolderTest, AUserThatIsNoProcessHereIsNone) {
  const auto folder = DataFolder::Claim(dir_);
  ASSERT_TRUE(folder.ok());
  std::ofstream(dir_ + "/" + kLockFileName) << "no number\n";
  EXPECT_TRUE(absl::IsUnavailable(UserOf(dir_).status()));
}

TEST_F(DataFolderTest, AwaitUnusedReturnsWhenTheUserHasEnded) {
  int ready[2];
  int end[2];
  ASSERT_EQ(::pipe(ready) + ::pipe(end), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = DataFolder::Claim(dir_);
    const bool told = ::write(ready[1], folder.ok() ? "y" : "n", 1) == 1;
    char go = 0;
    if (!told || ::read(end[0], &go, 1) != 1) ::_exit(2);
    ::_exit(0);
  }
  char claimed = 0;
  ASSERT_EQ(::read(ready[0], &claimed, 1), 1);
  ASSERT_EQ(claimed, 'y');
  EXPECT_EQ(UserOf(dir_).value_or(0), child);
  ASSERT_EQ(::write(end[1], "e", 1), 1);
  EXPECT_TRUE(AwaitUnused(dir_).ok());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// However the process ends; here without any destructor.
TEST_F(DataFolderTest, IsFreeAfterAProcessThatWasKilled) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto held = DataFolder::Claim(dir_);
    ::_exit(held.ok() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(DataFolder::Claim(dir_).ok());
}

TEST_F(DataFolderTest, ReportsWhyItCannotBeUsed) {
  std::ofstream(dir_ + "/file") << "here";
  const auto under_file = DataFolder::Claim(dir_ + "/file/data");
  ASSERT_FALSE(under_file.ok());
  EXPECT_EQ(under_file.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(under_file.status().message().find("cannot be made"), std::string::npos);

  // A link in place of the lock must not make us write through it.
  std::filesystem::create_symlink(dir_ + "/file", dir_ + "/" + kLockFileName);
  const auto linked = DataFolder::Claim(dir_);
  ASSERT_FALSE(linked.ok());
  EXPECT_NE(linked.status().message().find("lock: cannot be opened"), std::string::npos);
  std::ifstream file(dir_ + "/file");
  std::string text;
  EXPECT_TRUE(file >> text && text == "here");
}

}  // namespace
}  // namespace ostraka::store::data_folder_test
