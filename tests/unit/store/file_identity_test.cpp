// Whether a name still leads to the file that was opened.
#include "node/store/file_identity.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::file_identity_test {
namespace {

namespace fs = std::filesystem;

class FileIdentityTest : public os::TempFolderTest {
 protected:
  void SetUp() override {
    TempFolderTest::SetUp();
    fs::create_directory(folder());
    std::ofstream(path()) << "first";
  }
  std::string folder() const { return dir_ + "/folder"; }
  std::string path() const { return folder() + "/file"; }
  FileIdentity Opened() const {
    auto file = FileIdentity::Of(path());
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
};

TEST_F(FileIdentityTest, AFileThatIsWrittenStaysTheSame) {
  const FileIdentity file = Opened();
  std::ofstream(path(), std::ios::app) << "more";
  std::ofstream(path(), std::ios::trunc) << "other";
  EXPECT_TRUE(file.IsInPlace());
  EXPECT_EQ(file.path(), path());
}

TEST_F(FileIdentityTest, ADeletedFileIsGoneAndOneOfItsNameIsAnother) {
  const FileIdentity file = Opened();
  const std::ifstream open(path());  // keeps the inode in use
  fs::remove(path());
  EXPECT_FALSE(file.IsInPlace());
  std::ofstream(path()) << "first";
  EXPECT_FALSE(file.IsInPlace());
}

TEST_F(FileIdentityTest, AFolderThatIsMovedTakesItAwayUnlessALinkLeadsThere) {
  const FileIdentity file = Opened();
  fs::rename(folder(), dir_ + "/elsewhere");
  EXPECT_FALSE(file.IsInPlace());
  fs::create_directory_symlink(dir_ + "/elsewhere", folder());
  EXPECT_TRUE(file.IsInPlace());
  fs::remove(folder());
  fs::copy(dir_ + "/elsewhere", folder());
  EXPECT_FALSE(file.IsInPlace()) << "a copy is another file";
  fs::remove_all(folder());
  fs::rename(dir_ + "/elsewhere", folder());
  EXPECT_TRUE(file.IsInPlace()) << "it was put back";
}

TEST_F(FileIdentityTest, WhatIsNotThereHasNone) {
  EXPECT_TRUE(absl::IsNotFound(FileIdentity::Of(path() + "x").status()));
  EXPECT_TRUE(absl::IsUnavailable(FileIdentity::Of(path() + "/under a file").status()));
}

}  // namespace
}  // namespace ostraka::store::file_identity_test
