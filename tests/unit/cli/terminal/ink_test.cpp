#include "node/cli/terminal/ink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace ostraka::cli::ink_test {
namespace {

TEST(InkTest, PaintsWholeTextsOrNothing) {
  EXPECT_EQ(Ink::Always(true).Bad("BANNED"), "\x1b[1;31mBANNED\x1b[0m");
  EXPECT_EQ(Ink::Always(true).Good("OK"), "\x1b[32mOK\x1b[0m");
  EXPECT_EQ(Ink::Always(false).Bad("BANNED"), "BANNED");
}

TEST(WantsColorTest, OnlyOnATerminalThatIsNotDumbAndIfNobodyObjects) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  EXPECT_TRUE(WantsColor(terminal, nullptr, "xterm"));
  EXPECT_TRUE(WantsColor(terminal, "", nullptr));
  EXPECT_FALSE(WantsColor(terminal, "1", "xterm"));
  EXPECT_FALSE(WantsColor(terminal, nullptr, "dumb"));
  close(terminal);
  const int file = open("/dev/null", O_WRONLY);
  EXPECT_FALSE(WantsColor(file, nullptr, "xterm"));
  close(file);
}

}  // namespace
}  // namespace ostraka::cli::ink_test
