#include "node/os/unix_socket.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/unit/http/http_fixture.h"

namespace ostraka::http::unix_socket_test {
namespace {

TEST_F(HttpTest, SocketPathMayExceedTheSystemsLimit) {
  std::string folder = root_;
  for (int i = 0; i < 12; ++i) folder += "/a-folder-with-a-long-name";
  std::filesystem::create_directories(folder);
  ASSERT_GT(folder.size(), 200u);
  const std::string path = folder + "/s";
  const auto listening = os::ListenOnUnix(path);
  ASSERT_TRUE(listening.ok()) << listening.status();
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const auto connected = os::ConnectToUnix(path);
  ASSERT_TRUE(connected.ok()) << connected.status();
  close(*connected);
  close(*listening);
}

TEST_F(HttpTest, AStaleSocketIsReplacedAndNothingElse) {
  const std::string path = root_ + "/s";
  const auto first = os::ListenOnUnix(path);
  ASSERT_TRUE(first.ok());
  close(*first);
  EXPECT_EQ(os::ConnectToUnix(path).status().code(), absl::StatusCode::kNotFound);
  const auto second = os::ListenOnUnix(path);
  ASSERT_TRUE(second.ok()) << second.status();
  close(*second);
  const std::string file = root_ + "/file";
  std::ofstream(file) << "precious";
  EXPECT_EQ(os::ListenOnUnix(file).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::is_regular_file(file));
}

// [`ostraka status` of a node that was stuck hung for ever, once others had asked before.]
TEST_F(HttpTest, AProcessThatTakesUpNoConnectionIsNotWaitedFor) {
  const std::string path = root_ + "/s";
  const auto listening = os::ListenOnUnix(path);
  ASSERT_TRUE(listening.ok());
  std::vector<int> taken;
  base::Status last = base::OkStatus();
  while (last.ok() && taken.size() < 1000) {
    const auto connected = os::ConnectToUnix(path);
    last = connected.status();
    if (connected.ok()) taken.push_back(*connected);
  }
  EXPECT_EQ(last.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(last), ::testing::HasSubstr("is the node stuck?"));
  for (const int fd : taken) close(fd);
  close(*listening);
}

TEST_F(HttpTest, MissingFolderIsReported) {
  EXPECT_EQ(os::ListenOnUnix(root_ + "/none/s").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(os::ConnectToUnix(root_ + "/none/s").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ostraka::http::unix_socket_test
