#include "node/host/driver/status_server.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <string>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::host::status_server_test {
namespace {

class StatusServerTest : public os::TempFolderTest {
 protected:
  http::HttpPlace Socket() const { return {.address = {}, .socket_path = dir_ + "/status.sock"}; }
  static http::HttpPlace Port(const std::string& address = "127.0.0.1:0") {
    return {.address = address, .socket_path = {}};
  }

  boost::asio::io_context io_;
  http::HttpHandler answer_ = [](std::string_view) { return http::HttpResponse{}; };
};

TEST_F(StatusServerTest, NamesThePortOfTheLastPlaceThatHasOne) {
  const auto none = StatusServer::Make(io_, {Socket()}, answer_);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->port(), 0u);
  const auto one = StatusServer::Make(io_, {Port(), Socket()}, answer_);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_NE(one->port(), 0u);
}

TEST_F(StatusServerTest, LeavesNoSocketBehindIfAPlaceIsTaken) {
  const auto first = StatusServer::Make(io_, {Port()}, answer_);
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string taken = "127.0.0.1:" + std::to_string(first->port());
  const auto second = StatusServer::Make(io_, {Socket(), Port(taken)}, answer_);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_FALSE(std::filesystem::exists(Socket().socket_path));
}

}  // namespace
}  // namespace ostraka::host::status_server_test
