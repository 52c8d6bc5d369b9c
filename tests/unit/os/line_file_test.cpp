// Lists that commands add lines to: nothing is lost, whoever writes.
#include "node/os/line_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::os::line_file_test {
namespace {

class LineFileTest : public TempFolderTest {
 protected:
  std::string Path() const { return dir_ + "/list"; }
  void Put(const std::string& content) const {
    std::ofstream(Path(), std::ios::binary | std::ios::trunc) << content;
  }
  std::vector<std::string> Lines() const { return ReadLines(Path(), 1000).value(); }
};

TEST_F(LineFileTest, LinesAreAddedOnceAndReadInOrder) {
  EXPECT_TRUE(Lines().empty()) << "no file";
  ASSERT_TRUE(AddLine(Path(), "one", 1000).ok());
  ASSERT_TRUE(AddLine(Path(), "two", 1000).ok());
  ASSERT_TRUE(AddLine(Path(), "one", 1000).ok());
  EXPECT_EQ(Lines(), (std::vector<std::string>{"one", "two"}));
}

TEST_F(LineFileTest, ALineThatIsNotEndedStaysALine) {
  Put("one\n\ntwo");
  ASSERT_TRUE(AddLine(Path(), "three", 1000).ok());
  EXPECT_EQ(Lines(), (std::vector<std::string>{"one", "", "two", "three"}));
}

TEST_F(LineFileTest, AFileOfAnotherSystemHasTheSameLines) {
  Put("\xef\xbb\xbfone\r\ntwo\r\n");
  EXPECT_EQ(Lines(), (std::vector<std::string>{"one", "two"}));
  ASSERT_TRUE(AddLine(Path(), "one", 1000).ok());
  ASSERT_TRUE(AddLine(Path(), "three", 1000).ok());
  EXPECT_EQ(Lines(), (std::vector<std::string>{"one", "two", "three"}));
}

TEST_F(LineFileTest, NoMoreThanTheLimitIsReadOrWritten) {
  Put(std::string(10, 'a'));
  EXPECT_TRUE(ReadLines(Path(), 10).ok());
  EXPECT_FALSE(ReadLines(Path(), 9).ok());
  EXPECT_FALSE(AddLine(Path(), "b", 12).ok());
  EXPECT_TRUE(AddLine(Path(), "b", 13).ok());
}

TEST_F(LineFileTest, WhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(::mkfifo(Path().c_str(), 0600), 0);
  EXPECT_FALSE(ReadLines(Path(), 1000).ok()) << "a pipe that nobody writes would block";
  EXPECT_FALSE(ReadLines("/dev/zero", 1000).ok());
  EXPECT_FALSE(ReadLines(dir_, 1000).ok());
}

TEST_F(LineFileTest, WritersAtOnceLoseNothing) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([this, i] {
      for (int k = 0; k < 4; ++k) {
        EXPECT_TRUE(AddLine(Path(), std::to_string(10 * i + k), 1000).ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Lines().size(), 32u);
}

}  // namespace
}  // namespace ostraka::os::line_file_test
