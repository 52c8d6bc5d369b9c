#include "node/base/foreign_text.h"

#include <gtest/gtest.h>

#include <string>

namespace ostraka::base::foreign_text_test {
namespace {

TEST(ForeignText, LosesItsMarkAndItsCarriageReturnsAtLineEnds) {
  const std::string mark(kByteOrderMark);
  EXPECT_EQ(WithoutForeignMarks(mark + "a\r\nb\r\n"), "a\nb\n");
  EXPECT_EQ(WithoutForeignMarks("\r\n\r\n"), "\n\n");
  EXPECT_EQ(WithoutForeignMarks("a\r\r\nb"), "a\r\nb");
  EXPECT_EQ(WithoutForeignMarks(mark + mark + "a"), mark + "a");
  EXPECT_TRUE(HasForeignMarks(mark + "a"));
  EXPECT_TRUE(HasForeignMarks("a\r\n"));
}

TEST(ForeignText, OtherwiseStaysAsItIs) {
  for (const std::string text : {"", "a", "a\nb\n", "a\rb\r", "a\xef\xbb\xbf", "\xef\xbb", "\r"}) {
    EXPECT_EQ(WithoutForeignMarks(text), text);
    EXPECT_FALSE(HasForeignMarks(text)) << text;
  }
}

TEST(ForeignText, IsUtf16IfItsMarkSaysSo) {
  EXPECT_TRUE(
      IsUtf16("\xff\xfe"
              "a"));
  EXPECT_TRUE(IsUtf16("\xfe\xff"));
  EXPECT_FALSE(IsUtf16("\xff"));
  EXPECT_FALSE(
      IsUtf16("\xef\xbb\xbf"
              "a"));
}

}  // namespace
}  // namespace ostraka::base::foreign_text_test
