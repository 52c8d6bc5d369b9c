#include "node/net/fetch/url.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace ostraka::net::url_test {
namespace {

using namespace std::string_literals;

bool IsOneLine(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

TEST(UrlTest, AddressesOfSourcesEndWithASlash) {
  for (const auto& [url, text, host] : {
           std::tuple{"https://example.org", "https://example.org/", "example.org"},
           {"https://example.org/", "https://example.org/", "example.org"},
           {"https://Example.org:8443/a/b", "https://Example.org:8443/a/b/", "Example.org"},
           {"https://h/a%20b/~c/d;e=f,g/", "https://h/a%20b/~c/d;e=f,g/", "h"},
           {"https://h/@me/", "https://h/@me/", "h"},
           {"https://1.2.3.4:65535/", "https://1.2.3.4:65535/", "1.2.3.4"},
           {"https://[2001:db8::1]:1/x", "https://[2001:db8::1]:1/x/", "2001:db8::1"},
           {"https://a_b-c.example/", "https://a_b-c.example/", "a_b-c.example"},
       }) {
    const auto parsed = ParseSourceUrl(url, false);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->text, text);
    EXPECT_EQ(parsed->host, host);
    EXPECT_TRUE(parsed->https);
    EXPECT_TRUE(CheckSourceUrl(url, false).ok());
  }
}

TEST(UrlTest, WhatIsNoAddressOfASourceIsRefusedInOneLine) {
  for (const std::string& url : {""s,
                                 "example.org"s,
                                 "HTTPS://example.org/"s,
                                 "https:/example.org/"s,
                                 "https:example.org"s,
                                 "https://"s,
                                 "https:///x"s,
                                 "ftp://example.org/"s,
                                 "file:///etc/passwd"s,
                                 " https://example.org/"s,
                                 "https://example.org/ "s,
                                 "https://user@example.org/"s,
                                 "https://user:secret@example.org/"s,
                                 "https://@example.org/"s,
                                 "https://example.org/?a=b"s,
                                 "https://example.org?a"s,
                                 "https://example.org/#a"s,
                                 "https://example.org#a/"s,
                                 "https://example.org\\@10.0.0.1/"s,
                                 "https://example.org/a\\b"s,
                                 "https://exa mple.org/"s,
                                 "https://example.org/a\nb"s,
                                 "https://example.org/a\0b"s,
                                 "https://ex\xc3\xa4mple.org/"s,
                                 "https://example.org/\xc3\xa4"s,
                                 "https://example.org/%"s,
                                 "https://example.org/%2"s,
                                 "https://example.org/%zz"s,
                                 "https://example.org:/"s,
                                 "https://example.org:0/"s,
                                 "https://example.org:65536/"s,
                                 "https://example.org:+1/"s,
                                 "https://example.org:1x/"s,
                                 "https://example.org:000443/"s,
                                 "https://.example.org/"s,
                                 "https://example..org/"s,
                                 "https://%31.2.3.4/"s,
                                 "https://[::1/"s,
                                 "https://[1.2.3.4]/"s,
                                 "https://[fe80::1%25eth0]/"s,
                                 "https://[fe80::1%eth0]/"s,
                                 "https://[::1]x/"s,
                                 "https://[]/"s,
                                 "https://[::1\0]/"s,
                                 "https://127.0.0.1\0/"s,
                                 "https://::1/"s,
                                 "https://example.org/<a>"s,
                                 "https://example.org/\"a\""s,
                                 "https://example.org/a|b"s,
                                 "https://" + std::string(254, 'a') + "/"}) {
    const auto parsed = ParseSourceUrl(url, true);
    ASSERT_FALSE(parsed.ok()) << url;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    const std::string message = base::MessageOf(parsed.status());
    EXPECT_TRUE(IsOneLine(message)) << message;
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
    EXPECT_FALSE(CheckSourceUrl(url, true).ok());
  }
}

TEST(UrlTest, LengthsAreBounded) {
  const std::string start = "https://example.org/";
  EXPECT_TRUE(CheckSourceUrl(start + std::string(2'000 - start.size(), 'x'), false).ok());
  EXPECT_FALSE(CheckSourceUrl(start + std::string(2'001 - start.size(), 'x'), false).ok());
  EXPECT_LT(CheckSourceUrl(start + std::string(100'000, 'x'), false).message().size(), 400u);
  EXPECT_TRUE(ParseRedirect(start + std::string(8'000 - start.size(), 'x'), false).ok());
  EXPECT_FALSE(ParseRedirect(start + std::string(8'001 - start.size(), 'x'), false).ok());
}

TEST(UrlTest, HttpIsForLoopbackAndWhoAllowsIt) {
  for (const char* const url :
       {"http://127.0.0.1/", "http://127.1.2.3:8080/x/", "http://[::1]:80/", "http://localhost/"}) {
    EXPECT_TRUE(CheckSourceUrl(url, true).ok()) << url;
    EXPECT_FALSE(CheckSourceUrl(url, false).ok()) << url;
    EXPECT_TRUE(ParseRedirect(url, true).ok()) << url;
    EXPECT_FALSE(ParseRedirect(url, false).ok()) << url;
  }
  for (const char* const url :
       {"http://example.org/", "http://10.0.0.1/", "http://0.0.0.0/", "http://[::]/",
        "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/",
        "http://localhost.example.org/", "http://LOCALHOST./"}) {
    EXPECT_FALSE(CheckSourceUrl(url, true).ok()) << url;
    EXPECT_FALSE(ParseRedirect(url, true).ok()) << url;
  }
}

TEST(UrlTest, ARedirectMayHaveAQueryAndNothingElseThatASourceMayNot) {
  EXPECT_TRUE(ParseRedirect("https://cdn.example/a?Policy=x~_-&Signature=a%2F/b?c=d", false).ok());
  EXPECT_TRUE(ParseRedirect("https://cdn.example?x", false).ok());
  for (const char* const url :
       {"https://u:p@cdn.example/?x", "https://cdn.example/?x#y", "https://cdn.example/?a b",
        "https://cdn.example?@10.0.0.1/ ", "//cdn.example/", "/x", "javascript:1"}) {
    const auto parsed = ParseRedirect(url, true);
    ASSERT_FALSE(parsed.ok()) << url;
    EXPECT_EQ(base::MessageOf(parsed.status()).find("cdn"), std::string::npos);
  }
}

TEST(UrlTest, NamesOfFilesAreShortAndPlain) {
  for (const std::string& name :
       {"a"s, "model-00001-of-00002.safetensors"s, "A_1.npy"s, "-"s, std::string(200, 'x')}) {
    EXPECT_TRUE(CheckFileName(name).ok()) << name;
  }
  for (const std::string& name : {""s, "."s, ".."s, ".a"s, "a/b"s, "a\\b"s, "a b"s, "a%b"s, "a?b"s,
                                  "a#b"s, "a\n"s, "a\0"s, "\xc3\xa4"s, std::string(201, 'x')}) {
    EXPECT_EQ(CheckFileName(name).code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_TRUE(IsOneLine(base::MessageOf(CheckFileName(name))));
  }
}

}  // namespace
}  // namespace ostraka::net::url_test
