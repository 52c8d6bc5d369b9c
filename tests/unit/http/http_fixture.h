// An HTTP server on its own thread, and clients that may break the protocol.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "node/http/http_get.h"
#include "node/http/http_server.h"
#include "node/os/unix_socket.h"

namespace ostraka::http {

// A client's end of a connection that sends any bytes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  RawClient(RawClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() {
    if (fd_ >= 0) close(fd_);
  }

  void Say(std::string_view text) const {
    // Fails if the server has closed the connection, which Hear reports.
    (void)send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  void SayNoMore() const { shutdown(fd_, SHUT_WR); }

  // Everything until the server closes; fails the test after ten seconds.
  std::string Hear() const {
    std::string heard;
    for (;;) {
      pollfd wait{fd_, POLLIN, 0};
      if (poll(&wait, 1, 10'000) <= 0) {
        ADD_FAILURE() << "the server holds on; so far: " << heard;
        return heard;
      }
      char buffer[4096];
      const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) return heard;  // a reset is an end too
      heard.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  int fd_;
};

class HttpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-http-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override {
    Stop();
    std::filesystem::remove_all(root_);
  }

  // Serves answers that contain the path, on its own thread.
  void Serve(const HttpPlace& place, HttpLimits limits = {}, std::string body = {}) {
    auto server = HttpServer::Make(
        io_, place,
        [body](std::string_view path) {
          if (path == "/none") return HttpResponse{404, "text/plain", "not here\n"};
          return HttpResponse{200, "text/plain", body.empty() ? std::string(path) : body};
        },
        limits);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    thread_ = std::thread([this] { io_.run(); });
  }
  void Stop() {
    if (!thread_.joinable()) return;
    io_.stop();
    thread_.join();
    server_.reset();
  }

  std::string Ask(std::string_view request) const {
    const RawClient client(server_->port());
    client.Say(request);
    return client.Hear();
  }

  std::string root_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

}  // namespace ostraka::http
