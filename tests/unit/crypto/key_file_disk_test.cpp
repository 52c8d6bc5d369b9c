// Key files on disk; their format is in key_file_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "crypto/key_file.h"

namespace ostraka::crypto::key_file_disk_test {
namespace {

namespace fs = std::filesystem;

using absl::StatusCode;
using base::MessageOf;
using testing::HasSubstr;
using testing::Not;

class KeyFileDisk : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "ostraka_key_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = (folder_ / "identity.key").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void MakeFile(std::string_view text, mode_t mode = 0600) const {
    std::ofstream(path_, std::ios::binary) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }
  std::size_t FilesInFolder() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  std::string path_;
};

void ExpectRefused(const base::Status& status, StatusCode code, std::string_view words) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(MessageOf(status), HasSubstr(std::string(words)));
  EXPECT_THAT(MessageOf(status), Not(HasSubstr("\n")));
}

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

TEST_F(KeyFileDisk, ReadsWhatItWrote) {
  const SigningKey key = SigningKey::Generate();
  const std::string text = EncodeKeyFile(key, std::nullopt).value();
  ASSERT_TRUE(WriteKeyFile(path_, text).ok());
  const auto read = ReadKeyFile(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, text);
  EXPECT_EQ(DecodeKeyFile(*read, nullptr).value().id(), key.id());
  EXPECT_EQ(FilesInFolder(), 1u) << "a temporary file was left";
}

TEST_F(KeyFileDisk, WritesForTheOwnerOnlyWhateverTheUmask) {
  const mode_t before = umask(0);
  const base::Status status = WriteKeyFile(path_, "text");
  umask(before);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(ModeOf(path_), 0600u);
}

TEST_F(KeyFileDisk, WritesToANameWithoutAFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const base::Status written = WriteKeyFile("bare.key", "text");
  const auto read = ReadKeyFile("bare.key");
  fs::current_path(before);
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_EQ(read.value(), "text");
}

TEST_F(KeyFileDisk, NeverOverwrites) {
  ASSERT_TRUE(WriteKeyFile(path_, "first").ok());
  ExpectRefused(WriteKeyFile(path_, "second"), StatusCode::kFailedPrecondition,
                "never overwritten; choose another path");
  EXPECT_EQ(ReadKeyFile(path_).value(), "first");
  EXPECT_EQ(FilesInFolder(), 1u) << "a temporary file was left";
}

TEST_F(KeyFileDisk, DoesNotWriteThroughASymbolicLink) {
  fs::create_symlink(folder_ / "elsewhere", path_);
  ExpectRefused(WriteKeyFile(path_, "text"), StatusCode::kFailedPrecondition, "never overwritten");
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(KeyFileDisk, ReportsWhyItCannotWrite) {
  ExpectRefused(WriteKeyFile((folder_ / "no" / "key").string(), "text"), StatusCode::kNotFound,
                "does not exist; check the path");
  ExpectRefused(WriteKeyFile("", "text"), StatusCode::kInvalidArgument, "give a path");
}

// RLIMIT_FSIZE stands for a disk that fills up in the middle of the file.
TEST_F(KeyFileDisk, LeavesNothingWhenTheDiskIsFull) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit low{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const base::Status status = WriteKeyFile(path_, "longer than ten bytes");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  ExpectRefused(status, StatusCode::kUnavailable, "check the disk");
  EXPECT_EQ(FilesInFolder(), 0u);
}

TEST_F(KeyFileDisk, RefusesAFileThatOthersCanOpenAndStatesTheRemedy) {
  for (const mode_t bit : {0040u, 0020u, 0010u, 0004u, 0002u, 0001u}) {
    MakeFile("text", 0600 | bit);
    ExpectRefused(ReadKeyFile(path_).status(), StatusCode::kFailedPrecondition,
                  "run `chmod 600 " + path_ + "`");
    ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
    EXPECT_TRUE(ReadKeyFile(path_).ok()) << "after the remedy";
  }
  MakeFile("text", 0400);
  EXPECT_TRUE(ReadKeyFile(path_).ok());
}

TEST_F(KeyFileDisk, RefusesAnotherUsersFile) {
  std::string foreign = "/etc/passwd";  // root's, unless we are root
  if (geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    MakeFile("text");
    ASSERT_EQ(chown(path_.c_str(), kNobody, static_cast<gid_t>(-1)), 0);
    foreign = path_;
  }
  ExpectRefused(ReadKeyFile(foreign).status(), StatusCode::kFailedPrecondition,
                "belongs to another user");
}

TEST_F(KeyFileDisk, RefusesSymbolicLinks) {
  MakeFile("text");
  const std::string link = (folder_ / "link").string();
  fs::create_symlink(path_, link);
  ExpectRefused(ReadKeyFile(link).status(), StatusCode::kFailedPrecondition,
                "symbolic link; give the path of the file itself");
}

TEST_F(KeyFileDisk, RefusesOtherThanRegularFilesWithoutBlocking) {
  ExpectRefused(ReadKeyFile(folder_.string()).status(), StatusCode::kFailedPrecondition,
                "not a regular file");
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ExpectRefused(ReadKeyFile(path_).status(), StatusCode::kFailedPrecondition, "not a regular file");
  ExpectRefused(ReadKeyFile((folder_ / "none").string()).status(), StatusCode::kNotFound,
                "does not exist");
}

TEST_F(KeyFileDisk, ReadsNoMoreThanTheLimit) {
  MakeFile(std::string(kMaxKeyFileBytes, 'x'));
  EXPECT_EQ(ReadKeyFile(path_).value().size(), kMaxKeyFileBytes);
  MakeFile(std::string(kMaxKeyFileBytes + 1, 'x'));
  ExpectRefused(ReadKeyFile(path_).status(), StatusCode::kInvalidArgument, "too long");
  MakeFile("");
  EXPECT_EQ(ReadKeyFile(path_).value(), "");
}

// --- replacing ----------------------------------------------------------------------------------

TEST_F(KeyFileDisk, ReplacesAFileAndLeavesNothingElse) {
  MakeFile("old");
  const mode_t before = umask(0);
  const base::Status status = ReplaceKeyFile(path_, "new");
  umask(before);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(ReadKeyFile(path_).value(), "new");
  EXPECT_EQ(ModeOf(path_), 0600u);
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(KeyFileDisk, ReplacesOnlyReadableKeyFiles) {
  ExpectRefused(ReplaceKeyFile(path_, "new"), StatusCode::kNotFound, "does not exist");
  EXPECT_EQ(FilesInFolder(), 0u);
  MakeFile("old", 0644);
  ExpectRefused(ReplaceKeyFile(path_, "new"), StatusCode::kFailedPrecondition, "chmod 600");
  fs::remove(path_);
  const fs::path real = folder_ / "real";
  std::ofstream(real) << "old";
  fs::create_symlink(real, path_);
  ExpectRefused(ReplaceKeyFile(path_, "new"), StatusCode::kFailedPrecondition, "symbolic link");
  EXPECT_EQ(FilesInFolder(), 2u);
}

TEST_F(KeyFileDisk, AReplacementThatCannotBeWrittenChangesNothing) {
  MakeFile("old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 16, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const base::Status status = ReplaceKeyFile(path_, std::string(100, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status;
  EXPECT_EQ(ReadKeyFile(path_).value(), "old");
  EXPECT_EQ(FilesInFolder(), 1u);
}

}  // namespace
}  // namespace ostraka::crypto::key_file_disk_test
