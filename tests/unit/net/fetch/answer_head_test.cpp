#include "node/net/fetch/answer_head.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ostraka::net::answer_head_test {
namespace {

constexpr std::size_t kMost = 1000;

// The first refusal, or ok.
base::Status FeedAll(AnswerHead& head, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) RETURN_IF_ERROR(head.Feed(line));
  return base::OkStatus();
}
base::Status Judged(const std::vector<std::string>& lines, const Wanted& wanted) {
  AnswerHead head(kMost);
  EXPECT_TRUE(FeedAll(head, lines).ok());
  EXPECT_TRUE(head.complete());
  return JudgeHead(head, wanted);
}

TEST(AnswerHeadTest, RangesAreReadStrictly) {
  EXPECT_EQ(ParseContentRange("bytes 0-0/1"), (ContentRange{0, 0, 1}));
  EXPECT_EQ(ParseContentRange("bytes 3-6/*"), (ContentRange{3, 6, std::nullopt}));
  EXPECT_EQ(
      ParseContentRange("bytes 18446744073709551614-18446744073709551614/18446744073709551615"),
      (ContentRange{~0ull - 1, ~0ull - 1, ~0ull}));
  for (const char* const text : {"",
                                 "bytes",
                                 "bytes ",
                                 "bytes 3-6",
                                 "bytes 3/6",
                                 "bytes 3-6/",
                                 "bytes -6/16",
                                 "bytes 3-/16",
                                 "bytes +3-6/16",
                                 "bytes 3-6/6",
                                 "bytes 6-3/16",
                                 "bytes  3-6/16",
                                 "bytes 3 -6/16",
                                 "bytes 3-6/16 ",
                                 "bytes 3-6/16/17",
                                 "bytes 3-6-7/16",
                                 "bytes */16",
                                 "octets 3-6/16",
                                 "bytes=3-6/16",
                                 "bytes 0x3-6/16",
                                 "bytes 3-18446744073709551616/*",
                                 "bytes 3-6/**"}) {
    EXPECT_FALSE(ParseContentRange(text).has_value()) << text;
  }
}

TEST(AnswerHeadTest, AHeadIsReadWhateverItsCaseAndSpaces) {
  AnswerHead head(kMost);
  ASSERT_TRUE(
      FeedAll(head, {"HTTP/1.1 206 Partial Content\r\n", "content-RANGE: \t bytes 3-6/16 \r\n",
                     "X:\r\n", "Content-Length:4\n", "Content-Length: 4\r\n"})
          .ok());
  EXPECT_FALSE(head.complete());
  ASSERT_TRUE(head.Feed("\r\n").ok());
  EXPECT_TRUE(head.complete());
  EXPECT_EQ(head.status(), 206);
  EXPECT_EQ(head.range(), (ContentRange{3, 6, 16}));
  EXPECT_EQ(head.length(), 4u);
}

TEST(AnswerHeadTest, WhatComesBeforeTheAnswerIsForgotten) {
  AnswerHead head(kMost);
  ASSERT_TRUE(FeedAll(head, {"HTTP/1.1 103 Early\r\n", "Content-Length: 7\r\n", "\r\n"}).ok());
  EXPECT_FALSE(head.complete());
  ASSERT_TRUE(FeedAll(head, {"HTTP/1.1 200\r\n", "\r\n"}).ok());
  EXPECT_TRUE(head.complete());
  EXPECT_FALSE(head.length().has_value());
}

TEST(AnswerHeadTest, TrailersChangeNothingAndCount) {
  AnswerHead head(100);
  ASSERT_TRUE(FeedAll(head, {"HTTP/1.1 200 OK\r\n", "\r\n"}).ok());
  head.BodyBegins();
  ASSERT_TRUE(FeedAll(head, {"HTTP/1.1 404 No\r\n", "Content-Encoding: gzip\r\n", "\r\n"}).ok());
  EXPECT_EQ(head.status(), 200);
  EXPECT_FALSE(head.Feed(std::string(100, 'x')).ok());
  EXPECT_FALSE(head.complete());
}

TEST(AnswerHeadTest, MalformedHeadsAreRefused) {
  const std::string ok = "HTTP/1.1 206 Partial\r\n";
  for (const std::vector<std::string>& lines : std::vector<std::vector<std::string>>{
           {""},
           {"\r\n"},
           {"220 smtp.example ESMTP\r\n"},
           {"HTTP/1.1\r\n"},
           {"HTTP/1.1 \r\n"},
           {"HTTP/1.1 20\r\n"},
           {"HTTP/1.1 2000\r\n"},
           {"HTTP/1.1 099 x\r\n"},
           {"HTTP/1.1  200\r\n"},
           {"HTTP/1.1 -20 x\r\n"},
           {"HTTP/1.1 2x0 x\r\n"},
           {"Content-Length: 4\r\n"},
           {ok, ok},
           {ok, "no colon\r\n"},
           {ok, " folded: x\r\n"},
           {ok, "\tfolded: x\r\n"},
           {ok, "Content-Length: x\r\n"},
           {ok, "Content-Length: -1\r\n"},
           {ok, "Content-Length:\r\n"},
           {ok, "Content-Length: 4\r\n", "Content-Length: 5\r\n"},
           {ok, "Content-Range: bytes 3-6\r\n"},
           {ok, "Content-Range: bytes 3-6/7\r\n", "Content-Range: bytes 3-6/8\r\n"},
           {ok, "Content-Encoding: gzip\r\n"},
           {ok, "Content-Encoding:\r\n"},
           {ok, "content-encoding: identity, gzip\r\n"},
           {ok, "Transfer-Encoding: gzip\r\n"},
           {ok, "\r\n", "X: y\r\n"},
           {ok, "\r\n", ok},
           {ok, std::string(kMost, 'x')}}) {
    AnswerHead head(kMost);
    const base::Status status = FeedAll(head, lines);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << lines.back();
    EXPECT_FALSE(head.complete()) << lines.back();
  }
}

TEST(AnswerHeadTest, AHeadHasExactlyTheMost) {
  AnswerHead head(20);
  ASSERT_TRUE(FeedAll(head, {"HTTP/1.1 200 abc\r\n", "\r\n"}).ok());
  EXPECT_EQ(head.bytes(), 20u);
  EXPECT_FALSE(head.Feed("x").ok());
}

TEST(AnswerHeadTest, OnlyWhatWasAskedForIsTaken) {
  const std::string part = "HTTP/1.1 206 Partial\r\n";
  const std::string whole = "HTTP/1.1 200 OK\r\n";
  const std::string range = "Content-Range: bytes 3-6/16\r\n";
  const Wanted wanted{3, 4, false};
  EXPECT_TRUE(Judged({part, range, "\r\n"}, wanted).ok());
  EXPECT_TRUE(Judged({part, range, "Content-Length: 4\r\n", "\r\n"}, wanted).ok());
  EXPECT_FALSE(Judged({part, range, "Content-Length: 5\r\n", "\r\n"}, wanted).ok());
  EXPECT_FALSE(Judged({part, "\r\n"}, wanted).ok());
  EXPECT_FALSE(Judged({part, range, "\r\n"}, {3, 5, false}).ok());
  EXPECT_FALSE(Judged({part, range, "\r\n"}, {2, 5, false}).ok());
  EXPECT_FALSE(Judged({whole, range, "\r\n"}, wanted).ok());
  EXPECT_FALSE(Judged({"HTTP/1.1 204 None\r\n", range, "\r\n"}, wanted).ok());
  EXPECT_TRUE(Judged({whole, "Content-Length: 4\r\n", "\r\n"}, {0, 4, false}).ok());
  EXPECT_FALSE(Judged({whole, "Content-Length: 5\r\n", "\r\n"}, {0, 4, false}).ok());
  EXPECT_TRUE(Judged({whole, "Content-Length: 4\r\n", "\r\n"}, {0, 4, true}).ok());
  EXPECT_FALSE(Judged({whole, "Content-Length: 5\r\n", "\r\n"}, {0, 4, true}).ok());
  EXPECT_FALSE(Judged({part, "Content-Range: bytes 0-3/4\r\n", "\r\n"}, {0, 4, true}).ok());
}

}  // namespace
}  // namespace ostraka::net::answer_head_test
