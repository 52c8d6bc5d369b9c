#include "node/net/mesh/lobby.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "node/net/link/client_hello.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::lobby_test {
namespace {

class LobbyTest : public ::testing::Test {
 protected:
  ~LobbyTest() override {
    for (const int fd : ours_) close(fd);
    for (const Caller& caller : spoke_) close(caller.socket.fd);
  }
  void Make(std::size_t places, base::Duration patience = base::Seconds(20)) {
    lobby_ = std::make_unique<Lobby>(
        io_, AlpnOfRun(RunId(7)), places, patience,
        Lobby::Events{.spoke = [this](Caller caller) { spoke_.push_back(std::move(caller)); },
                      .left =
                          [this](const AcceptedSocket& socket, const Closing& closing) {
                            left_.push_back(socket.remote + " " + closing.reason);
                          }});
  }
  // A visitor from `address`; its number, by which its name ends.
  std::size_t Visit(const std::string& address = "192.0.2.1") {
    std::array<int, 2> fds{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    ours_.push_back(fds[0]);
    lobby_->Enter(
        {.fd = fds[1], .address = address, .prefix = {}, .remote = Name(ours_.size() - 1)});
    return ours_.size() - 1;
  }
  static std::string Name(std::size_t number) { return "visitor " + std::to_string(number); }
  void Say(std::size_t number, const std::string& bytes) {
    ASSERT_EQ(write(ours_[number], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void AwaitLeft(std::size_t count) {
    ASSERT_TRUE(RunUntil(io_, [&] { return left_.size() >= count; }));
    ASSERT_EQ(left_.size(), count);
  }

  boost::asio::io_context io_;
  std::vector<int> ours_;
  std::vector<Caller> spoke_;
  std::vector<std::string> left_;
  std::unique_ptr<Lobby> lobby_;
};

// What was read is handed over, to the byte, with the socket still open.
TEST_F(LobbyTest, HandsOverWhoHasSaidWhatItWants) {
  Make(4);
  const std::string named = FirstBytesOf(*MakeTlsContext(*TestKey(1), RunId(7)));
  const std::string other = FirstBytesOf(*MakeTlsContext(*TestKey(1), RunId(8)));
  const std::size_t first = Visit();
  const std::size_t second = Visit();
  Say(first, named.substr(0, 100));
  RunUntil(
      io_, [] { return false; }, base::Milliseconds(20));
  EXPECT_TRUE(spoke_.empty());
  Say(first, named.substr(100));
  ASSERT_TRUE(RunUntil(io_, [&] { return spoke_.size() == 1; }));
  Say(second, other);
  ASSERT_TRUE(RunUntil(io_, [&] { return spoke_.size() == 2; }));
  EXPECT_TRUE(spoke_[0].names_run);
  EXPECT_FALSE(spoke_[1].names_run);
  EXPECT_EQ(std::string(spoke_[0].first_bytes.begin(), spoke_[0].first_bytes.end()), named);
  EXPECT_GE(spoke_[0].waited, base::Milliseconds(20));
  EXPECT_EQ(lobby_->size(), 0U);
  EXPECT_EQ(write(spoke_[0].socket.fd, "x", 1), 1);
  EXPECT_TRUE(left_.empty());
}

TEST_F(LobbyTest, ClosesWhoSpeaksNoTlsOrLeavesOrSaysNothing) {
  Make(4, base::Milliseconds(50));
  Say(Visit(), "GET / HTTP/1.1");
  AwaitLeft(1);
  EXPECT_EQ(left_[0], "visitor 0 speaks plain HTTP; this port takes TLS only");
  close(ours_[Visit()]);
  ours_.pop_back();
  AwaitLeft(2);
  EXPECT_EQ(left_[1], "visitor 1 left without a word");
  Visit();
  AwaitLeft(3);
  EXPECT_EQ(left_[2], "visitor 1 said nothing within 50 ms");
  Say(Visit(), "\x16\x03\x01");
  AwaitLeft(4);
  EXPECT_EQ(left_[3], "visitor 2 did not finish the TLS handshake within 50 ms");
  EXPECT_EQ(lobby_->size(), 0U);
  char byte = 0;
  EXPECT_EQ(read(ours_[0], &byte, 1), 0) << "it is closed at the other end";
}

// A crowd from one address makes room at its own cost, not at that of who came before it.
TEST_F(LobbyTest, TheOldestOfTheAddressThatHoldsMostGivesWay) {
  Make(4);
  const std::size_t early = Visit("198.51.100.1");
  for (int i = 0; i < 10; ++i) Visit("192.0.2.1");
  EXPECT_EQ(lobby_->size(), 4U);
  ASSERT_EQ(left_.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(left_[i].find(Name(i + 1) + " gave way"), 0U);
  Say(early, FirstBytesOf(*MakeTlsContext(*TestKey(1), RunId(7))));
  ASSERT_TRUE(RunUntil(io_, [&] { return spoke_.size() == 1; }));
  EXPECT_EQ(spoke_[0].socket.remote, Name(early));
}

TEST_F(LobbyTest, ClosesAllWithoutAWordWhenItEnds) {
  Make(4);
  Visit();
  Visit();
  lobby_.reset();
  RunUntil(
      io_, [] { return false; }, base::Milliseconds(20));
  EXPECT_TRUE(left_.empty());
  char byte = 0;
  EXPECT_EQ(read(ours_[0], &byte, 1), 0);
}

}  // namespace
}  // namespace ostraka::net::lobby_test
