#include "node/base/toml_text.h"

#include <gtest/gtest.h>

#include <string>

namespace ostraka::base {
namespace {

TEST(TomlTextTest, TakesAsciiAndLettersInCommentsAndStrings) {
  for (const std::string text :
       {"", "a = 1", "a=\"\"\"x\n\"\"\"\n[[[",
        "\xef\xbb\xbf"
        "a = 1\n",
        "name = \"f\xc3\xbcr alle\"  # f\xc3\xbcr\n", "\tname\t= 'f\xc3\xbcr'\r\nx=[1]\n",
        "name = \"\\\"\xc3\xbc\\\\\"\n", "# \xd0\xa8\n[run]\n", "name = \"''' \xc3\xbc\"\n",
        "x = [  # \xd0\xa8\n1]\n"}) {
    EXPECT_TRUE(CheckTomlText(text).ok()) << text;
  }
}

TEST(TomlTextTest, RefusesNonAsciiElsewhere) {
  for (const std::string text :
       {"\xd0\xa8", "\n\xd0\xa8 = 1", "\n a = \xc3\xa9\n", "\nname = \"a\" \xc3\xa9\n",
        "\nx = \"\"\"a\\ \xc3\xa9\"\"\"\n", "\nx = '''\xc3\xa9'''\n", "\nx = \"a\\\\\" \xc3\xa9\n",
        "\nx = \"\"\"\n# \\ \xc3\xa9", "\n\xc2\xa0x = 1\n", "\n\xff\n", "\nx = 0\"\xc3\xa9\"\n",
        "\nx=\"\xc3\xa9\"\n", "\nx = [\"\xc3\xa9\"]\n", "\nx = \"a\" \" # \xc3\xa9\n"}) {
    const Status status = CheckTomlText(text);
    ASSERT_FALSE(status.ok()) << text;
    const std::string line = text.front() == '\n' ? "line 2: " : "line 1: ";
    EXPECT_EQ(MessageOf(status).find(line), 0u) << MessageOf(status);
  }
}

}  // namespace
}  // namespace ostraka::base
