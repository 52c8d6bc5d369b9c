#include "sim/page/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::page::html_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(HtmlTest, TagsMayHaveAClass) {
  EXPECT_EQ(Tag("td", "1"), "<td>1</td>");
  EXPECT_EQ(Tag("td", "1", "best"), "<td class=\"best\">1</td>");
}

TEST(HtmlTest, CaptionsAreEscaped) {
  EXPECT_EQ(Figure("<svg></svg>", "a < b"),
            "<figure><svg></svg><figcaption>a &lt; b</figcaption></figure>\n");
}

TEST(HtmlTest, ADocumentNeedsNoNetwork) {
  const std::string html = Document("a & b", Tag("p", "text"));
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>\n"));
  EXPECT_THAT(html, EndsWith("</html>\n"));
  EXPECT_THAT(html, HasSubstr("<title>a &amp; b</title>"));
  EXPECT_THAT(html, HasSubstr("<p>text</p>"));
  for (const char* loads : {"src=", "http:", "https:", "url("}) {
    EXPECT_THAT(html, Not(HasSubstr(loads)));
  }
}

}  // namespace
}  // namespace ostraka::page::html_test
