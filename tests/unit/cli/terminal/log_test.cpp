#include "node/cli/terminal/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ostraka::cli::log_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-log-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.file = (folder_ / "node.log").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<Log> MustOpen(LogLevel level = LogLevel::kInfo) const {
    auto log = Log::Open(options_, level);
    EXPECT_TRUE(log.ok()) << log.status();
    return log.ok() ? *std::move(log) : nullptr;
  }
  std::string Refusal() const { return base::MessageOf(Log::Open(options_, {}).status()); }
  std::string TextOf(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  fs::path folder_;
  LogOptions options_;
};

TEST_F(LogTest, LinesInAFileHaveTimeAndLevelAndAreThereAtOnce) {
  const auto log = MustOpen();
  log->Say(LogLevel::kInfo, "one");
  log->Say(LogLevel::kWarning, "two");
  EXPECT_THAT(TextOf("node.log"),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z info one\n"
                           "[-0-9T:.]+Z warning two\n"));
}

TEST_F(LogTest, LowerLevelsAreLeftOut) {
  options_.level = "warning";
  const auto log = MustOpen(LogLevel::kDebug);
  log->Say(LogLevel::kDebug, "d");
  log->Say(LogLevel::kInfo, "i");
  log->Say(LogLevel::kWarning, "w");
  EXPECT_THAT(TextOf("node.log"), HasSubstr("warning w"));
  EXPECT_THAT(TextOf("node.log"), Not(HasSubstr("info")));
}

TEST_F(LogTest, VerboseIsDebugUnlessALevelIsGiven) {
  options_.verbose = true;
  MustOpen(LogLevel::kWarning)->Say(LogLevel::kDebug, "seen");
  options_.level = "info";
  MustOpen(LogLevel::kWarning)->Say(LogLevel::kDebug, "left out");
  EXPECT_THAT(TextOf("node.log"), HasSubstr("seen"));
  EXPECT_THAT(TextOf("node.log"), Not(HasSubstr("left out")));
}

TEST_F(LogTest, WithAFileStderrGetsOnlyErrors) {
  const auto log = MustOpen();
  ::testing::internal::CaptureStderr();
  log->Say(LogLevel::kWarning, "careful");
  log->Say(LogLevel::kError, "broken");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "broken\n");
  options_.file.clear();
  const auto to_stderr = MustOpen();
  ::testing::internal::CaptureStderr();
  to_stderr->Say(LogLevel::kDebug, "detail");
  to_stderr->Say(LogLevel::kInfo, "news");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "news\n");
}

TEST_F(LogTest, TextFromAPeerCannotForgeALine) {
  MustOpen()->Say(LogLevel::kInfo,
                  "reason: x\n2026-01-01T00:00:00.000Z error forged \x1b[2J {} %s");
  const std::string text = TextOf("node.log");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("{} %s"));
}

TEST_F(LogTest, RotationBoundsTheDisk) {
  options_.max_bytes = "4K";
  options_.files = 2;
  const auto log = MustOpen();
  for (int i = 0; i < 1000; ++i) {
    log->Say(LogLevel::kInfo, "line " + std::to_string(i) + " " + std::string(100, 'x'));
  }
  std::size_t bytes = 0;
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_LE(entry.file_size(), 4096u) << entry.path();
    bytes += entry.file_size();
    ++files;
  }
  EXPECT_EQ(files, 3u);
  EXPECT_GT(bytes, 2u * 3900u) << "rotated ones are kept";
  EXPECT_THAT(TextOf("node.log"), HasSubstr("line 999 "));
  EXPECT_TRUE(fs::exists(folder_ / "node.2.log"));
}

TEST_F(LogTest, ExistingLogIsAppendedTo) {
  MustOpen()->Say(LogLevel::kInfo, "first");
  MustOpen()->Say(LogLevel::kInfo, "second");
  EXPECT_THAT(TextOf("node.log"), HasSubstr("first"));
  EXPECT_THAT(TextOf("node.log"), HasSubstr("second"));
}

TEST_F(LogTest, InvalidOptionsAreNamed) {
  options_.level = "wraning";
  EXPECT_THAT(Refusal(), HasSubstr("did you mean 'warning'?"));
  options_.level.clear();
  options_.max_bytes = "1K";
  EXPECT_THAT(Refusal(), HasSubstr("--log-max-bytes"));
  options_.max_bytes = "much";
  EXPECT_THAT(Refusal(), HasSubstr("--log-max-bytes 'much'"));
  options_.max_bytes = "1M";
  options_.files = 0;
  EXPECT_THAT(Refusal(), HasSubstr("--log-files"));
  options_.files = 1;
  options_.file = "/proc/none/log";
  EXPECT_THAT(Refusal(), HasSubstr("/proc/none/log"));
}

}  // namespace
}  // namespace ostraka::cli::log_test
