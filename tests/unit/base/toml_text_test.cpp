#include "node/base/toml_text.h"

#include <gtest/gtest.h>

#include <string>

namespace ostraka::base {
namespace {

TEST(TomlTextTest, TakesWhatTomlTakes) {
  for (const std::string text :
       {"", "a = 1\n", "a = 1",
        "\xef\xbb\xbf"
        "a = 1\n",
        "name = \"f\xc3\xbcr alle\"  # f\xc3\xbcr\n",
        "name = 'f\xc3\xbcr'\r\nb = \"\\\"\xc3\xbc\\\\\"\n", "# \xd0\xa8\n[run]\n",
        "'\xc3\xbc' = \"x\"\n", "x = \"\"\"\nplain\n\"\"\"\n"}) {
    EXPECT_TRUE(CheckTomlText(text).ok()) << text;
  }
}

TEST(TomlTextTest, RefusesLettersWhereATokenMayBegin) {
  for (const std::string text :
       {"\xd0\xa8", "\n\xd0\xa8 = 1", "\n a = \xc3\xa9\n", "\nname = \"a\" \xc3\xa9\n",
        "\nx = \"\"\"a\\ \xc3\xa9\"\"\"\n", "\nx = '''\xc3\xa9'''\n", "\n\"a\\\\\" \xc3\xa9\n",
        "\n\xc2\xa0x = 1\n", "\n\xff\n"}) {
    const Status status = CheckTomlText(text);
    ASSERT_FALSE(status.ok()) << text;
    const std::string line = text.front() == '\n' ? "line 2: " : "line 1: ";
    EXPECT_EQ(MessageOf(status).find(line), 0u) << MessageOf(status);
  }
}

}  // namespace
}  // namespace ostraka::base
