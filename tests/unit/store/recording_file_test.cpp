#include "node/store/recording_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::recording_file_test {
namespace {

using ::testing::HasSubstr;

class RecordingFileTest : public os::TempFolderTest {
 protected:
  RecordingFile Begin(const RecordingLimits& limits = {}) {
    RecordingFile file(dir_ + "/deep/folder", limits);
    const base::Status begun = file.Begin(run_, head_);
    EXPECT_TRUE(begun.ok()) << begun;
    return file;
  }
  static wire::RecordedTurn Turn(std::uint64_t at, std::size_t bytes = 8) {
    wire::RecordedTurn turn;
    turn.at = at;
    turn.frame = base::Bytes(bytes, 1);
    return turn;
  }
  std::size_t Files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_ + "/deep/folder")) {
      count += entry.path().extension() == ".recording" ? 1 : 0;
    }
    return count;
  }
  static std::string RefusalOf(const std::string& path) {
    const auto read = ReadRecording(path);
    EXPECT_FALSE(read.ok());
    return read.ok() ? "" : base::MessageOf(read.status());
  }
  std::string Written(const std::string& content) {
    const std::string path = dir_ + "/written";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string ContentOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  base::Digest run_;
  wire::RecordingHead head_;
};

TEST_F(RecordingFileTest, GivesBackWhatWasAppended) {
  head_.manifest = {1, 2};
  RecordingFile file = Begin();
  EXPECT_TRUE(file.Append(Turn(5), false));
  EXPECT_TRUE(file.Append(Turn(6), true));
  EXPECT_EQ(file.TakeNotice(), std::nullopt);
  const auto read = ReadRecording(file.path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->head.manifest, (base::Bytes{1, 2}));
  ASSERT_EQ(read->turns.size(), 2u);
  EXPECT_EQ(read->turns[1].at, 6u);
}

TEST_F(RecordingFileTest, NobodyElseCanReadIt) {
  const RecordingFile file = Begin();
  struct stat seen {};
  ASSERT_EQ(::stat(file.path().c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0600u);
}

TEST_F(RecordingFileTest, EndsWithTheStepInWhichItIsFull) {
  RecordingFile file = Begin({.bytes = 4096, .steps = 0});
  EXPECT_TRUE(file.Append(Turn(1), true));
  EXPECT_TRUE(file.Append(Turn(2, 5000), false));  // the step is not over
  EXPECT_FALSE(file.Append(Turn(3), true));
  EXPECT_FALSE(file.Append(Turn(4), true));
  EXPECT_THAT(file.TakeNotice().value_or(""), HasSubstr("after 2 steps"));
  EXPECT_EQ(file.TakeNotice(), std::nullopt);
  EXPECT_EQ(ReadRecording(file.path())->turns.size(), 3u);
}

TEST_F(RecordingFileTest, EndsAfterSoManySteps) {
  RecordingFile file = Begin({.bytes = 1 << 20, .steps = 2});
  EXPECT_TRUE(file.Append(Turn(1), true));
  EXPECT_TRUE(file.Append(Turn(2), false));
  EXPECT_FALSE(file.Append(Turn(3), true));
}

TEST_F(RecordingFileTest, AStepThatDoesNotEndDoesNotFillTheDisk) {
  RecordingFile file = Begin({.bytes = 4096, .steps = 0});
  EXPECT_TRUE(file.Append(Turn(1, 5000), false));
  EXPECT_FALSE(file.Append(Turn(2, 5000), false));
}

TEST_F(RecordingFileTest, TheLastTwoOfARunAndKeyAreKept) {
  std::string last;
  for (int i = 0; i < 4; ++i) last = Begin().path();
  EXPECT_EQ(Files(), 2u);
  EXPECT_THAT(last, HasSubstr("-4.recording"));
  run_.bytes[0] = 1;
  const RecordingFile other = Begin();
  EXPECT_EQ(Files(), 3u);
  EXPECT_THAT(other.path(), HasSubstr("-1.recording"));
  for (int i = 0; i < 4; ++i) Begin({.keep = 3});
  EXPECT_EQ(Files(), 5u);
}

TEST_F(RecordingFileTest, AFolderThatCannotBeMadeIsToldBeforeTheNodeStarts) {
  RecordingFile file("/dev/null/folder", {});
  EXPECT_TRUE(absl::IsUnavailable(file.Begin(run_, head_)));
}

TEST_F(RecordingFileTest, RefusesForeignOlderCutAndDamagedFilesInOneLine) {
  RecordingFile file = Begin();
  ASSERT_TRUE(file.Append(Turn(5), true));
  const std::string content = ContentOf(file.path());
  EXPECT_THAT(RefusalOf(dir_ + "/none"), HasSubstr("cannot read"));
  EXPECT_THAT(RefusalOf(Written("")), HasSubstr("no recording"));
  EXPECT_THAT(RefusalOf(Written("SQLite format 3 and so on")), HasSubstr("no recording"));
  EXPECT_THAT(RefusalOf(Written("ostraka recording 0\n")), HasSubstr("another version"));
  EXPECT_THAT(RefusalOf(Written(content.substr(0, 20))), HasSubstr("cut"));
  EXPECT_THAT(RefusalOf(Written(content.substr(0, 22))), HasSubstr("cut in its first entry"));
  EXPECT_THAT(RefusalOf(Written(content + "abcd")), HasSubstr("damaged in entry 2"));
  std::string spoilt = content;
  spoilt[content.size() - 1] ^= 1;
  EXPECT_THAT(RefusalOf(Written(spoilt)), HasSubstr("damaged in entry 1"));
  spoilt = content;
  spoilt[24] ^= 1;
  EXPECT_THAT(RefusalOf(Written(spoilt)), HasSubstr("damaged"));
}

TEST_F(RecordingFileTest, OfACutFileTheWholeEntriesAreLeft) {
  RecordingFile file = Begin();
  ASSERT_TRUE(file.Append(Turn(5), true));
  ASSERT_TRUE(file.Append(Turn(6), true));
  EXPECT_FALSE(ReadRecording(file.path())->cut);
  const std::string content = ContentOf(file.path());
  const auto read = ReadRecording(Written(content.substr(0, content.size() - 1)));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->cut);
  EXPECT_EQ(read->turns.size(), 1u);
}

}  // namespace
}  // namespace ostraka::store::recording_file_test
