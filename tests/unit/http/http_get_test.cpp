#include "node/http/http_get.h"

#include <gmock/gmock.h>

#include "node/os/endpoint.h"
#include "tests/unit/http/http_fixture.h"

namespace ostraka::http::http_get_test {
namespace {

using ::testing::HasSubstr;

// Listens, and answers the first connection with `words` whatever the request is.
class Mumbler {
 public:
  explicit Mumbler(std::string words) {
    auto fd = os::ListenOn("127.0.0.1:0");
    EXPECT_TRUE(fd.ok());
    fd_ = *fd;
    place_.address = "127.0.0.1:" + std::to_string(*os::ListeningPort(fd_));
    thread_ = std::thread([this, words = std::move(words)] {
      const int client = accept(fd_, nullptr, nullptr);
      (void)send(client, words.data(), words.size(), MSG_NOSIGNAL);
      shutdown(client, SHUT_WR);
      char heard[4096];
      while (recv(client, heard, sizeof heard, 0) > 0) {
      }
      close(client);
    });
  }
  ~Mumbler() {
    thread_.join();
    close(fd_);
  }
  Mumbler(const Mumbler&) = delete;
  Mumbler& operator=(const Mumbler&) = delete;
  const HttpPlace& place() const { return place_; }

 private:
  int fd_ = -1;
  HttpPlace place_;
  std::thread thread_;
};

TEST_F(HttpTest, GetsByNameAndByAddress) {
  Serve({.address = "127.0.0.1:0", .socket_path = {}});
  const std::string port = std::to_string(server_->port());
  for (const std::string host : {"127.0.0.1:", "localhost:"}) {
    const auto got = HttpGet({.address = host + port, .socket_path = {}}, "/a?b");
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->status, 200u);
    EXPECT_EQ(got->body, "/a");
    EXPECT_EQ(got->content_type, "text/plain");
  }
  const auto none = HttpGet({.address = "127.0.0.1:" + port, .socket_path = {}}, "/none");
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->status, 404u);
}

TEST_F(HttpTest, ReportsThatNobodyListens) {
  EXPECT_EQ(HttpGet({.address = {}, .socket_path = root_ + "/none"}, "/").status().code(),
            absl::StatusCode::kNotFound);
  // A port that this process has just released.
  const auto fd = os::ListenOn("127.0.0.1:0");
  ASSERT_TRUE(fd.ok());
  const std::string address = "127.0.0.1:" + std::to_string(*os::ListeningPort(*fd));
  close(*fd);
  EXPECT_EQ(HttpGet({.address = address, .socket_path = {}}, "/").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(HttpGet({.address = "nonsense", .socket_path = {}}, "/").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HttpGetTest, MalformedAnswersAreErrors) {
  EXPECT_EQ(HttpGet(Mumbler("SSH-2.0-OpenSSH_9.2\r\n").place(), "/").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(HttpGet(Mumbler("").place(), "/").ok());
  EXPECT_FALSE(
      HttpGet(Mumbler("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf").place(), "/").ok());
  EXPECT_FALSE(
      HttpGet(
          Mumbler("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'x')).place(),
          "/", base::Seconds(5), 99)
          .ok());
}

TEST(HttpGetTest, WaitsNoLongerThanItsTimeout) {
  const auto fd = os::ListenOn("127.0.0.1:0");  // accepts nobody
  ASSERT_TRUE(fd.ok());
  const std::string address = "127.0.0.1:" + std::to_string(*os::ListeningPort(*fd));
  const auto got = HttpGet({.address = address, .socket_path = {}}, "/", base::Milliseconds(30));
  EXPECT_EQ(got.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(got.status()), HasSubstr("no answer for 30 ms"));
  close(*fd);
}

}  // namespace
}  // namespace ostraka::http::http_get_test
