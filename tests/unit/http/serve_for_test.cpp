#include "node/http/serve_for.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "node/os/endpoint.h"
#include "tests/unit/http/http_fixture.h"

namespace ostraka::http::serve_for_test {
namespace {

using ::testing::HasSubstr;

// A port that was free a moment ago.
std::string FreeAddress() {
  const auto fd = os::ListenOn("127.0.0.1:0");
  EXPECT_TRUE(fd.ok());
  const std::string address = "127.0.0.1:" + std::to_string(*os::ListeningPort(*fd));
  close(*fd);
  return address;
}

HttpResponse Said(std::string_view path) { return {200, "text/plain", std::string(path)}; }

TEST(ServeForTest, AnswersUntilTheTimeIsOver) {
  const std::string address = FreeAddress();
  std::thread server([&] {
    EXPECT_TRUE(ServeFor({.address = address, .socket_path = {}}, base::Seconds(60), Said).ok());
  });
  base::StatusOr<HttpResponse> answer = base::NotFound("not asked");
  while (absl::IsNotFound(answer.status())) {
    answer = HttpGet({.address = address, .socket_path = {}}, "/x");
  }
  EXPECT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->body, "/x");
  std::raise(SIGTERM);  // a person need not wait for the rest of it
  server.join();
}

TEST(ServeForTest, ReturnsByItself) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(
      ServeFor({.address = FreeAddress(), .socket_path = {}}, base::Milliseconds(30), Said).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
}

TEST(ServeForTest, ATakenPortIsReported) {
  const auto fd = os::ListenOn("127.0.0.1:0");
  const std::string address = "127.0.0.1:" + std::to_string(*os::ListeningPort(*fd));
  const base::Status status =
      ServeFor({.address = address, .socket_path = {}}, base::Seconds(1), Said);
  EXPECT_THAT(base::MessageOf(status), HasSubstr("the port is taken"));
  close(*fd);
}

}  // namespace
}  // namespace ostraka::http::serve_for_test
