#include "node/store/recording_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::recording_file_test {
namespace {

using ::testing::HasSubstr;

class RecordingFileTest : public os::TempFolderTest {
 protected:
  std::unique_ptr<RecordingFile> Begin(const RecordingLimits& limits = {}) {
    auto file = std::make_unique<RecordingFile>(dir_ + "/deep/folder", limits);
    const base::Status begun = file->Begin(run_, head_);
    EXPECT_TRUE(begun.ok()) << begun;
    return file;
  }
  // One whole call.
  static bool Append(RecordingFile& file, const wire::RecordedInput& turn, bool ends_step) {
    return file.Append(turn) && file.Append(wire::RecordedOutcome{}, ends_step);
  }
  static wire::RecordedInput Turn(std::uint64_t at, std::size_t bytes = 8) {
    wire::RecordedInput turn;
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
  const auto file = Begin();
  EXPECT_TRUE(Append(*file, Turn(5), false));
  EXPECT_TRUE(Append(*file, Turn(6), true));
  EXPECT_TRUE(file->Append(Turn(7)));
  EXPECT_EQ(file->TakeNotice(), std::nullopt);
  const auto read = ReadRecording(file->path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->head.manifest, (base::Bytes{1, 2}));
  EXPECT_FALSE(read->cut);
  ASSERT_EQ(read->calls.size(), 3u);
  EXPECT_EQ(read->calls[1].given.at, 6u);
  EXPECT_TRUE(read->calls[1].outcome);
  EXPECT_FALSE(read->calls[2].outcome);  // the process ended within that call
}

TEST_F(RecordingFileTest, NobodyElseCanReadIt) {
  const auto file = Begin();
  struct stat seen {};
  ASSERT_EQ(::stat(file->path().c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0600u);
}

TEST_F(RecordingFileTest, EndsWithTheStepInWhichItIsFull) {
  const auto file = Begin({.bytes = 4096, .steps = 0});
  EXPECT_TRUE(Append(*file, Turn(1), true));
  EXPECT_TRUE(Append(*file, Turn(2, 5000), false));  // the step is not over
  EXPECT_FALSE(Append(*file, Turn(3), true));
  EXPECT_FALSE(file->Append(Turn(4)));
  const std::string notice = file->TakeNotice().value_or("");
  EXPECT_THAT(notice, HasSubstr("after 2 steps"));
  EXPECT_THAT(notice, HasSubstr("--record-limit"));
  EXPECT_EQ(file->TakeNotice(), std::nullopt);
  EXPECT_EQ(ReadRecording(file->path())->calls.size(), 3u);
}

TEST_F(RecordingFileTest, EndsAfterSoManySteps) {
  const auto file = Begin({.bytes = 1 << 20, .steps = 2});
  EXPECT_TRUE(Append(*file, Turn(1), true));
  EXPECT_TRUE(Append(*file, Turn(2), false));
  EXPECT_FALSE(Append(*file, Turn(3), true));
  EXPECT_THAT(file->TakeNotice().value_or(""), HasSubstr("--record-steps"));
}

TEST_F(RecordingFileTest, AStepThatDoesNotEndDoesNotFillTheDisk) {
  const auto file = Begin({.bytes = 4096, .steps = 0});
  EXPECT_TRUE(Append(*file, Turn(1, 5000), false));
  EXPECT_FALSE(Append(*file, Turn(2, 5000), false));
}

// A large model's first state alone may be larger than the limit.
TEST_F(RecordingFileTest, TheHeadAndTheStoreDoNotCount) {
  head_.state = base::Bytes(10'000);
  const auto file = Begin({.bytes = 4096, .steps = 0});
  wire::RecordedInput started = Turn(1);
  wire::RecordedRow& block = started.store.emplace().blocks.emplace_back();
  block.key = {1};
  block.value = base::Bytes(10'000);
  EXPECT_TRUE(Append(*file, started, false));
  EXPECT_TRUE(Append(*file, Turn(2), true));
}

TEST_F(RecordingFileTest, WhatNoEntryHoldsIsRefusedOrEndsIt) {
  constexpr std::size_t kTooMuch = wire::kMaxRecordedBytes;
  const auto file = Begin();
  EXPECT_FALSE(file->Append(Turn(1, kTooMuch)));
  EXPECT_THAT(file->TakeNotice().value_or(""), HasSubstr("an entry would have more than"));
  head_.state = base::Bytes(kTooMuch);
  RecordingFile large(dir_, {});
  const base::Status begun = large.Begin(run_, head_);
  EXPECT_TRUE(absl::IsInvalidArgument(begun));
  EXPECT_THAT(base::MessageOf(begun), HasSubstr("leave out --record"));
}

TEST_F(RecordingFileTest, TheLastTwoOfARunAndKeyAreKept) {
  std::string last;
  const auto complete_one = [&](const RecordingLimits& limits = {}) {
    const auto file = Begin(limits);
    EXPECT_TRUE(Append(*file, Turn(1), true));
    last = file->path();
  };
  for (int i = 0; i < 4; ++i) complete_one();
  EXPECT_EQ(Files(), 2u);
  EXPECT_THAT(last, HasSubstr("-4.recording"));
  run_.bytes[0] = 1;
  complete_one();
  EXPECT_EQ(Files(), 3u);
  EXPECT_THAT(last, HasSubstr("-1.recording"));
  for (int i = 0; i < 4; ++i) complete_one({.keep = 3});
  EXPECT_EQ(Files(), 5u);
}

// A node that crashes is started again and again, as by systemd.
TEST_F(RecordingFileTest, StartsThatCompleteNoStepPushOutNoRecording) {
  const std::string wanted = [&] {
    const auto file = Begin();
    EXPECT_TRUE(Append(*file, Turn(1), true));
    return file->path();
  }();
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(Append(*Begin(), Turn(1), false));
  EXPECT_EQ(Files(), 3u);
  EXPECT_TRUE(ReadRecording(wanted).ok());
}

TEST_F(RecordingFileTest, AFolderThatCannotBeMadeIsToldBeforeTheNodeStarts) {
  RecordingFile file("/dev/null/folder", {});
  EXPECT_TRUE(absl::IsUnavailable(file.Begin(run_, head_)));
}

TEST_F(RecordingFileTest, RefusesForeignOlderCutAndDamagedFilesInOneLine) {
  const auto file = Begin();
  ASSERT_TRUE(Append(*file, Turn(5), true));
  const std::string content = ContentOf(file->path());
  EXPECT_THAT(RefusalOf(dir_ + "/none"), HasSubstr("cannot read"));
  EXPECT_THAT(RefusalOf(Written("")), HasSubstr("no recording"));
  EXPECT_THAT(RefusalOf(Written("SQLite format 3 and so on")), HasSubstr("no recording"));
  EXPECT_THAT(RefusalOf(Written("ostraka recording 0\n")), HasSubstr("another version"));
  EXPECT_THAT(RefusalOf(Written(content.substr(0, 26))), HasSubstr("cut"));
  EXPECT_THAT(RefusalOf(Written(content.substr(0, 28))), HasSubstr("cut in its first entry"));
  EXPECT_THAT(RefusalOf(Written(content + "abcd")), HasSubstr("damaged in entry 3"));
  std::string spoilt = content;
  spoilt[content.size() - 1] ^= 1;
  EXPECT_THAT(RefusalOf(Written(spoilt)), HasSubstr("damaged in entry 2"));
  spoilt = content;
  spoilt[30] ^= 1;
  EXPECT_THAT(RefusalOf(Written(spoilt)), HasSubstr("damaged"));
}

TEST_F(RecordingFileTest, OfACutFileTheWholeEntriesAreLeft) {
  const auto file = Begin();
  ASSERT_TRUE(Append(*file, Turn(5), true));
  ASSERT_TRUE(Append(*file, Turn(6), true));
  EXPECT_FALSE(ReadRecording(file->path())->cut);
  const std::string content = ContentOf(file->path());
  const auto read = ReadRecording(Written(content.substr(0, content.size() - 1)));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->cut);
  ASSERT_EQ(read->calls.size(), 2u);
  EXPECT_FALSE(read->calls[1].outcome);
}

}  // namespace
}  // namespace ostraka::store::recording_file_test
