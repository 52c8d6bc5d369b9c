#include "node/http/host_field.h"

#include <gtest/gtest.h>

#include <string>

namespace ostraka::http::host_field_test {
namespace {

TEST(HostOf, ReadsNamesAndAddressesWithAndWithoutAPort) {
  EXPECT_EQ(HostOf("localhost"), "localhost");
  EXPECT_EQ(HostOf("LocalHost:9464"), "localhost");
  EXPECT_EQ(HostOf("127.0.0.1:"), "127.0.0.1");
  EXPECT_EQ(HostOf("[::1]"), "::1");
  EXPECT_EQ(HostOf("[FE80::1]:80"), "fe80::1");
  EXPECT_EQ(HostOf("a-b_c.example%41"), "a-b_c.example%41");
  EXPECT_EQ(HostOf(""), "");
}

TEST(HostOf, RefusesWhatIsNoHost) {
  for (const std::string text :
       {"a b",      "a\tb", "a@b", "a/b",  "a:b",    "a:1:2",   "::1",
        "[::1",     "::1]", "[]",  "[a]",  "[::1]a", "[::1]:a", "[::1%25lo]",
        "\xc3\xbc", "a%",   "a%4", "a%4g", "a\\b",   "<a>",     "a\"b"}) {
    EXPECT_EQ(HostOf(text), std::nullopt) << text;
  }
}

TEST(ParseTarget, TakesTheOriginFormAndTheAbsoluteForm) {
  for (const auto& [target, authority, path] :
       {std::tuple("/", "-", "/"), std::tuple("/a/b?c=/d", "-", "/a/b"),
        std::tuple("//a/b", "-", "//a/b"), std::tuple("http://a:1/b?c", "a:1", "/b"),
        std::tuple("HTTP://A", "A", "/"), std::tuple("http://a?b", "a", "/"),
        std::tuple("http:///b", "", "/b")}) {
    const auto parsed = ParseTarget(target);
    ASSERT_TRUE(parsed) << target;
    EXPECT_EQ(parsed->authority.value_or("-"), authority) << target;
    EXPECT_EQ(parsed->path, path) << target;
  }
  for (const std::string text : {"", "*", "a", "a:80", "https://a/", "http:/a", "ftp://a/"}) {
    EXPECT_FALSE(ParseTarget(text)) << text;
  }
}

}  // namespace
}  // namespace ostraka::http::host_field_test
