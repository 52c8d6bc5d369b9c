// The reception alone: sockets come in, and what would be their connections is made here.
#include "node/net/mesh/reception.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "node/net/link/client_hello.h"
#include "tests/unit/net/fake_connection.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::reception_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReceptionTest : public ::testing::Test {
 protected:
  ~ReceptionTest() override {
    if (reception_) reception_->CheckInvariants();
    for (const int fd : fds_) close(fd);
  }
  void Make(const AdmissionLimits& limits, base::Duration patience = base::Seconds(20)) {
    reception_ = std::make_unique<Reception>(
        io_, limits, AlpnOfRun(RunId(7)), patience,
        Reception::Events{
            .connect =
                [this](Caller caller) {
                  fds_.push_back(caller.socket.fd);
                  connections_.push_back(std::make_shared<FakeConnection>());
                  return connections_.back();
                },
            .turned_away =
                [this](const std::string& remote, const Closing& closing) {
                  away_.push_back(remote + " " + closing.reason);
                },
            .is_member = [](const PeerId& peer) { return peer == TestKey(4)->id(); },
            .vouches = [](const std::string& group) { return group == "192.0.2.9"; }});
    reception_->SetMembers(1);
  }
  // A socket from `address` that has named our run, or another.
  void Come(const std::string& address = "192.0.2.1", std::uint8_t run = 7) {
    std::array<int, 2> fds{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    fds_.push_back(fds[0]);
    const std::string hello = FirstBytesOf(*MakeTlsContext(*TestKey(5), RunId(run)));
    ASSERT_EQ(write(fds[0], hello.data(), hello.size()), static_cast<ssize_t>(hello.size()));
    const std::size_t before = connections_.size() + away_.size();
    reception_->Accept({.fd = fds[1],
                        .address = address,
                        .prefix = address + "/24",
                        .remote = "visitor " + std::to_string(++visitors_)});
    ASSERT_TRUE(RunUntil(io_, [&] { return connections_.size() + away_.size() > before; }));
  }
  // TLS has proven that connection `index` is key `rank`.
  base::Status Prove(std::size_t index, std::size_t rank) {
    connections_.at(index)->Prove(TestKey(rank)->id());
    return reception_->OnProven(*connections_[index]);
  }

  boost::asio::io_context io_;
  std::vector<std::shared_ptr<FakeConnection>> connections_;
  std::vector<std::string> away_;
  std::vector<int> fds_;
  int visitors_ = 0;
  std::unique_ptr<Reception> reception_;
};

TEST_F(ReceptionTest, ACallerBecomesAConnectionThatIsStarted) {
  Make({});
  Come();
  ASSERT_EQ(connections_.size(), 1u);
  EXPECT_TRUE(connections_[0]->started);
  EXPECT_EQ(reception_->size(), 1u);
  EXPECT_EQ(reception_->waiting(), 0u);
  reception_->Leave(*connections_[0]);
  reception_->Leave(*connections_[0]);  // its socket closes after it was a link
  EXPECT_EQ(reception_->size(), 0u);
}

TEST_F(ReceptionTest, OneAddressHoldsFewAndIsToldWhy) {
  AdmissionLimits limits;
  limits.half_open_per_address = 2;
  Make(limits);
  for (int i = 0; i < 3; ++i) Come();
  Come("192.0.2.2");
  EXPECT_EQ(connections_.size(), 3u);
  EXPECT_THAT(away_, ElementsAre(HasSubstr("visitor 3 came while 2 connections from its address")));
  reception_->Leave(*connections_[0]);
  Come();
  EXPECT_EQ(connections_.size(), 4u);
}

TEST_F(ReceptionTest, AStrangerThatHadItsTimeGivesWayAndAMemberDoesNot) {
  AdmissionLimits limits;
  limits.half_open = 1;
  limits.half_open_grace = {};
  Make(limits);
  Come("192.0.2.1");
  ASSERT_TRUE(Prove(0, 4).ok());
  Come("192.0.2.2");
  EXPECT_FALSE(connections_[0]->closing());
  Come("192.0.2.3");
  EXPECT_FALSE(connections_[0]->closing()) << "a proven member gave way";
  EXPECT_TRUE(connections_[1]->closing());
  EXPECT_EQ(connections_[1]->why().reason, "gave way to others: it was half-open for long");
  EXPECT_EQ(reception_->size(), 2u);
  EXPECT_THAT(away_, IsEmpty());
}

TEST_F(ReceptionTest, WithinItsTimeNobodyGivesWay) {
  AdmissionLimits limits;
  limits.half_open = 1;
  limits.half_open_grace = base::Seconds(3600);
  Make(limits);
  Come("192.0.2.1");
  Come("192.0.2.2");
  EXPECT_FALSE(connections_[0]->closing());
  EXPECT_THAT(away_, ElementsAre(HasSubstr("came while 1 connections were half-open")));
  Come("192.0.2.9");
  EXPECT_EQ(connections_.size(), 2u) << "the run vouches for this address";
  Come("192.0.2.3", 9);
  EXPECT_EQ(connections_.size(), 3u) << "callers of another run have a place of their own";
}

TEST_F(ReceptionTest, QuotasAfterTlsHasProvenAKey) {
  AdmissionLimits limits;
  limits.half_open_per_member = 2;
  limits.non_members = 1;
  Make(limits);
  for (int i = 0; i < 6; ++i) Come("192.0.2." + std::to_string(i + 1));
  EXPECT_TRUE(Prove(0, 4).ok());
  EXPECT_TRUE(Prove(1, 4).ok());
  EXPECT_EQ(base::MessageOf(Prove(2, 4)), "has 2 other connections half-open");
  EXPECT_TRUE(Prove(3, 5).ok());
  EXPECT_EQ(base::MessageOf(Prove(4, 6)),
            "is not a member of this run, like 1 others that are connected");
  FakeConnection dialed(TestKey(6)->id());
  EXPECT_TRUE(reception_->OnProven(dialed).ok()) << "what we dialed has no quota";
}

TEST_F(ReceptionTest, AnAddressThatIsRefusedOftenIsHeardNoMore) {
  AdmissionLimits limits;
  limits.refusals_per_address = 2;
  Make(limits);
  for (int i = 0; i < 3; ++i) {
    Come();
    reception_->OnRefused(*connections_.back());
    reception_->Leave(*connections_.back());
  }
  Come();
  EXPECT_THAT(away_, ElementsAre(HasSubstr("refused more than 2 times a minute")));
}

TEST_F(ReceptionTest, ASilentCallerLeavesTheLobby) {
  Make({}, base::Milliseconds(20));
  std::array<int, 2> fds{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  fds_.push_back(fds[0]);
  reception_->Accept({.fd = fds[1], .address = "192.0.2.1", .prefix = {}, .remote = "silent"});
  EXPECT_EQ(reception_->waiting(), 1u);
  ASSERT_TRUE(RunUntil(io_, [this] { return !away_.empty(); }));
  EXPECT_THAT(away_, ElementsAre("silent said nothing within 20 ms"));
  EXPECT_EQ(reception_->size(), 0u);
}

}  // namespace
}  // namespace ostraka::net::reception_test
