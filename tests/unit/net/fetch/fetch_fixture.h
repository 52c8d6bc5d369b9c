// Readers of a small server, and the answers that it gives.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "node/base/bytes.h"
#include "node/net/fetch/curl_api.h"
#include "node/net/fetch/https_reader.h"
#include "tests/unit/net/fetch/small_server.h"

namespace ostraka::net::fetch_testing {

inline constexpr std::string_view kFile = "0123456789abcdef";  // each server's one file

inline std::string Head(int status, const std::string& fields) {
  return "HTTP/1.1 " + std::to_string(status) + " words\r\n" + fields + "\r\n";
}
inline std::string Sized(int status, const std::string& body, const std::string& fields = {}) {
  return Head(status, "Content-Length: " + std::to_string(body.size()) + "\r\n" + fields) + body;
}
inline std::string Part(std::string_view file, std::uint64_t begin, std::uint64_t last) {
  return Sized(206, std::string(file.substr(begin, last - begin + 1)),
               "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(last) + "/" +
                   std::to_string(file.size()) + "\r\n");
}
// As a server does that knows ranges.
inline std::string RightAnswer(const std::string& head, std::string_view file = kFile) {
  const std::string range = FieldOf(head, "Range");
  if (range == "(none)") return Sized(200, std::string(file));
  const std::size_t dash = range.find('-');
  std::uint64_t begin = 0;
  std::uint64_t last = 0;
  std::from_chars(range.data() + std::string_view("bytes=").size(), range.data() + dash, begin);
  std::from_chars(range.data() + dash + 1, range.data() + range.size(), last);
  if (begin >= file.size()) {
    return Sized(416, "no", "Content-Range: bytes */" + std::to_string(file.size()) + "\r\n");
  }
  return Part(file, begin, std::min<std::uint64_t>(last, file.size() - 1));
}
inline std::string Redirect(const std::string& to) {
  return Sized(302, "elsewhere", "Location: " + to + "\r\n");
}
// Says `answer` to whatever comes.
inline Handler Always(std::string answer) {
  return [answer = std::move(answer)](const Peer& peer, const std::string&) {
    return peer.Say(answer);
  };
}
// Says `answer` and closes.
inline Handler Once(std::string answer) {
  return [answer = std::move(answer)](const Peer& peer, const std::string&) {
    peer.Say(answer);
    return false;
  };
}
inline Handler Right() {
  return [](const Peer& peer, const std::string& head) { return peer.Say(RightAnswer(head)); };
}

class FetchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto api = curl::SharedCurl();
    if (!api.ok()) GTEST_SKIP() << "NOT TESTED: " << api.status();
  }

  // A reader that may connect to this machine.
  static std::unique_ptr<base::RangeReader> Open(const std::string& url, FetchParts parts = {}) {
    auto reader = OpenHttpsWith(url, {.allow_private = true}, std::move(parts));
    EXPECT_TRUE(reader.ok()) << reader.status();
    return *std::move(reader);
  }
  static base::StatusOr<base::Bytes> Read(const std::string& url, std::uint64_t begin,
                                          std::uint64_t size) {
    return Open(url)->Read("file.bin", begin, size, nullptr);
  }
  static std::string Text(const base::StatusOr<base::Bytes>& bytes) {
    if (!bytes.ok()) return bytes.status().ToString();
    return {bytes->begin(), bytes->end()};
  }

  // One line of ours about the place, with `part` in it.
  static void ExpectFailure(const base::StatusOr<base::Bytes>& bytes, absl::StatusCode code,
                            const std::string& part) {
    ASSERT_FALSE(bytes.ok()) << part;
    const std::string message = base::MessageOf(bytes.status());
    EXPECT_EQ(bytes.status().code(), code) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("://"), std::string::npos) << message;
    EXPECT_TRUE(std::all_of(message.begin(), message.end(), [](char c) {
      return c >= ' ' && c <= '~';
    })) << message;
  }
};

inline constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
inline constexpr auto kUnavailable = absl::StatusCode::kUnavailable;
inline constexpr auto kNotFound = absl::StatusCode::kNotFound;
inline constexpr auto kCancelled = absl::StatusCode::kCancelled;

}  // namespace ostraka::net::fetch_testing
