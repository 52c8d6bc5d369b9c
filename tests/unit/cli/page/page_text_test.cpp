#include "node/cli/page/page_text.h"

#include <gtest/gtest.h>

namespace ostraka::cli::page_text_test {
namespace {

TEST(HtmlTest, EscapesEverythingThatEndsATextOrAnAttribute) {
  EXPECT_EQ(Html("<script>alert('x') & \"y\"</script>"),
            "&lt;script&gt;alert(&#39;x&#39;) &amp; &quot;y&quot;&lt;/script&gt;");
  EXPECT_EQ(Html("Zoë & Σωκράτης"), "Zoë &amp; Σωκράτης");
}

TEST(HtmlTest, ControlCharactersAndInvalidUtf8BecomeQuestionMarks) {
  EXPECT_EQ(Html(std::string_view("a\0b\x1b[31m\n\x7f", 10)), "a?b?[31m??");
  EXPECT_EQ(Html("\xc0\xbcscript"), "??script") << "an overlong <";
  EXPECT_EQ(Html("\xff\xfe<"), "??&lt;");
  EXPECT_EQ(Html(std::string_view("\xe2\x82", 2)), "??") << "cut within a character";
}

TEST(HtmlTest, ALongTextIsCutBeforeItIsEscaped) {
  const std::string html = Html(std::string(5000, '<'));
  EXPECT_EQ(html.size(), 4 * 1000 + 3);
  EXPECT_TRUE(html.ends_with("&lt;..."));
}

}  // namespace
}  // namespace ostraka::cli::page_text_test
