#include "node/cli/terminal/exit_code.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace ostraka::cli::exit_code_test {
namespace {

TEST(ExitCodeTest, FollowsTheKindOfFailure) {
  EXPECT_EQ(ExitCodeOf(base::OkStatus()), kDone);
  EXPECT_EQ(ExitCodeOf(base::InvalidArgument("x")), kBadInput);
  EXPECT_EQ(ExitCodeOf(base::FailedPrecondition("x")), kBadInput);
  EXPECT_EQ(ExitCodeOf(base::NotFound("x")), kEnvironment);
  EXPECT_EQ(ExitCodeOf(base::Unavailable("x")), kEnvironment);
  EXPECT_EQ(ExitCodeOf(base::Internal("x")), kEnvironment);
}

TEST(PrintableLineTest, KeepsText) {
  EXPECT_EQ(PrintableLine(""), "");
  EXPECT_EQ(PrintableLine("port 7000 is taken: ~ü€𝄞"), "port 7000 is taken: ~ü€𝄞");
}

TEST(PrintableLineTest, RemovesControlCharacters) {
  EXPECT_EQ(PrintableLine("a\nb\tc\r\x1b[2J\x7f"), "a?b?c??[2J?");
  EXPECT_EQ(PrintableLine(std::string_view("\0", 1)), "?");
  EXPECT_EQ(PrintableLine("\xc2\x9b"), "??");                           // C1 control: CSI
  EXPECT_EQ(PrintableLine("\x9b"), "?");                                // CSI in one byte
  EXPECT_EQ(PrintableLine("\xed\xa0\x80\xf4\x90\x80\x80"), "???????");  // no characters
  EXPECT_EQ(PrintableLine("\xed\x9f\xbf\xf4\x8f\xbf\xbf"), "\xed\x9f\xbf\xf4\x8f\xbf\xbf");
  EXPECT_EQ(PrintableLine("\xc0\x9b\xe0\x80\x9b"), "?????");  // overlong ESC
  EXPECT_EQ(PrintableLine("\xff\xe2\x82"), "???");            // no UTF-8, and UTF-8 cut short
}

TEST(PrintableLineTest, IsBounded) {
  const std::string line = PrintableLine(std::string(1 << 20, 'x'));
  EXPECT_EQ(line, std::string(1000, 'x') + "...");
  EXPECT_EQ(PrintableLine(std::string(1000, 'x')), std::string(1000, 'x'));
}

TEST(FailTest, PrintsOneLineAndReturnsTheCode) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Fail(base::NotFound("no\nfile")), kEnvironment);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ostraka: no?file\n");
}

template <typename Error>
void ThrowInAThread(const Error& error) {
  EndInOneLineWithoutResources();
  std::thread([&error] { throw error; }).join();
}

TEST(LastLineDeathTest, MissingMemoryEndsWithOneLine) {
  EXPECT_EXIT(ThrowInAThread(std::bad_alloc()), ::testing::ExitedWithCode(3),
              "^ostraka: not enough memory: [^\n]*ulimit -v[^\n]*\n$");
}

TEST(LastLineDeathTest, MissingFilesAndThreadsEndWithOneLine) {
  EXPECT_EXIT(ThrowInAThread(std::system_error(EMFILE, std::system_category())),
              ::testing::ExitedWithCode(3), "^ostraka: its limit of [0-9]+ open files[^\n]*\n$");
  EXPECT_EXIT(ThrowInAThread(std::system_error(EAGAIN, std::system_category())),
              ::testing::ExitedWithCode(3), "^ostraka: the system gave no more threads[^\n]*\n$");
}

TEST(LastLineDeathTest, OurOwnBugAborts) {
  EXPECT_EXIT(ThrowInAThread(std::out_of_range("at")), ::testing::KilledBySignal(SIGABRT), "at");
}

TEST(PrintableText, KeepsLinesAndWaitsForTheRestOfACharacter) {
  const std::string stream = "a\n\tb\x1b[31m\xc3";
  std::string_view text = stream;
  EXPECT_EQ(PrintableText(text, /*whole=*/false), "a\n\tb?[31m");
  EXPECT_EQ(text, "\xc3");
  EXPECT_EQ(PrintableText(text, /*whole=*/true), "?");
  EXPECT_TRUE(text.empty());
  std::string_view whole = "\xe2\x82\xac";
  EXPECT_EQ(PrintableText(whole, /*whole=*/false), "\xe2\x82\xac");
  std::string_view begun = "\xe2\x82";
  EXPECT_EQ(PrintableText(begun, /*whole=*/false), "");
  std::string_view broken = "\xe2x\xff";
  EXPECT_EQ(PrintableText(broken, /*whole=*/false), "?x?");
}

}  // namespace
}  // namespace ostraka::cli::exit_code_test
