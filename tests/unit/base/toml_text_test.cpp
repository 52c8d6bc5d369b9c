#include "node/base/toml_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ostraka::base::toml_text_test {
namespace {

struct Case {
  std::string text;
  std::string ascii;
};

TEST(TomlTextTest, WritesTheSameValuesInAscii) {
  for (const Case& c : std::vector<Case>{
           {"", ""},
           {"a = 1", "a = 1"},
           {"a=\"\"\"x\n\"\"\"\n[[[", "a=\"\"\"x\n\"\"\"\n[[["},
           {"\xef\xbb\xbf"
            "a = 1\n",
            "a = 1\n"},
           {"name=\"\xc3\xbc\"\n", "name=\"\\u00FC\"\n"},
           {"name = \"f\xc3\xbcr alle\"  # f\xc3\xbcr\n", "name = \"f\\u00FCr alle\"  # f?r\n"},
           {"\tname\t= 'f\xc3\xbcr'\r\nx=[1]\n", "\tname\t= \"f\\u00FCr\"\r\nx=[1]\n"},
           {"name = \"\\\"\xc3\xbc\\\\\"\n", "name = \"\\\"\\u00FC\\\\\"\n"},
           {"# \xd0\xa8\n[run]\n", "# ?\n[run]\n"},
           {"name = \"''' \xc3\xbc\"\n", "name = \"''' \\u00FC\"\n"},
           {"x = [  # \xd0\xa8\n1]\n", "x = [  # ?\n1]\n"},
           {"x = ['\\\xc3\xa9\"', \"\"]", "x = [\"\\\\\\u00E9\\\"\", \"\"]"},
           {"\"\xc3\xa9\".b = 1", "\"\\u00E9\".b = 1"},
           {"x = \"\"\"\n\xf0\x9f\x98\x80\"\"\"\"\n", "x = \"\"\"\n\\U0001F600\"\"\"\"\n"},
           {"x = '''\n\xc3\xa9\n''''\n", "x = \"\"\"\n\\u00E9\n'\"\"\"\n"},
           {"x = { a = '\xc3\xa9' }", "x = { a = \"\\u00E9\" }"},
           // What is no TOML stays none.
           {"x = '\xc3\xa9\ny = 1", "x = '?\ny = 1"},
           {"x = '''\xc3\xa9''''''", "x = \"\"\"\\u00E9''\"\"\"'"},
       }) {
    const auto ascii = AsciiToml(c.text);
    ASSERT_TRUE(ascii.ok()) << c.text << ascii.status();
    EXPECT_EQ(*ascii, c.ascii) << c.text;
  }
}

TEST(TomlTextTest, RefusesWhatTomlHasNowhere) {
  for (const std::string text :
       {"\xd0\xa8", "\n\xd0\xa8 = 1", "\n a = \xc3\xa9\n", "\nname = \"a\" \xc3\xa9\n",
        "\nx = \"\"\"a\\\xc3\xa9\"\"\"\n", "\nx = \"a\\\xc3\xa9\"\n", "\nx = \"a\\\\\" \xc3\xa9\n",
        "\n\xc2\xa0x = 1\n", "\n\xff\n", "\nx = \"\xff\"\n", "\n# \xc3\n", "\nx = '\xed\xa0\x80'\n",
        "\nx = \"\xc0\xaf\"\n", "\nx = \"a\"\xef\xbb\xbf\n"}) {
    const auto ascii = AsciiToml(text);
    ASSERT_FALSE(ascii.ok()) << text;
    const std::string message = MessageOf(ascii.status());
    EXPECT_EQ(message.find(text.front() == '\n' ? "line 2: " : "line 1: "), 0u) << message;
  }
  EXPECT_NE(MessageOf(AsciiToml("\xff\xfe[").status()).find("save the file as UTF-8"),
            std::string::npos);
}

}  // namespace
}  // namespace ostraka::base::toml_text_test
