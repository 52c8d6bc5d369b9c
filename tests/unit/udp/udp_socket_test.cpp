#include "node/net/udp/udp_socket.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <vector>

namespace ostraka::net::udp_socket_test {
namespace {

using dht::Endpoint;

struct Got {
  Endpoint from;
  base::Bytes bytes;
};

class UdpSocketTest : public testing::Test {
 protected:
  void Wait(std::size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (got_.size() < count && std::chrono::steady_clock::now() < end) {
      io_.run_one_for(std::chrono::milliseconds(100));
    }
  }
  UdpSocket::Receiver Into() {
    return [this](const Endpoint& from, base::ByteView bytes) {
      got_.push_back({from, {bytes.begin(), bytes.end()}});
    };
  }
  boost::asio::io_context io_;
  std::vector<Got> got_;
};

TEST_F(UdpSocketTest, DatagramsArriveWholeWithTheirSource) {
  UdpSocket a(io_, Into());
  UdpSocket b(io_, Into());
  ASSERT_TRUE(a.Open(Endpoint::V4(0x7f000001, 0)).ok());
  ASSERT_TRUE(b.Open(Endpoint::V4(0x7f000001, 0)).ok());
  a.Send(b.local(), base::Bytes(UdpSocket::kMostBytes, 7));
  a.Send(b.local(), base::Bytes(3, 8));
  Wait(2);
  ASSERT_EQ(got_.size(), 2U);
  EXPECT_EQ(got_[0].from, a.local());
  EXPECT_EQ(got_[0].bytes, base::Bytes(UdpSocket::kMostBytes, 7));
  EXPECT_EQ(got_[1].bytes, base::Bytes(3, 8));
}

TEST_F(UdpSocketTest, ALongDatagramArrivesOneByteTooLong) {
  UdpSocket a(io_, Into());
  UdpSocket b(io_, Into());
  ASSERT_TRUE(a.Open(Endpoint::V4(0x7f000001, 0)).ok());
  ASSERT_TRUE(b.Open(Endpoint::V4(0x7f000001, 0)).ok());
  a.Send(b.local(), base::Bytes(5000, 7));
  Wait(1);
  ASSERT_EQ(got_.size(), 1U);
  EXPECT_EQ(got_[0].bytes.size(), UdpSocket::kMostBytes + 1);
}

TEST_F(UdpSocketTest, TheUnspecifiedIpv6AddressReceivesIpv4Too) {
  UdpSocket both(io_, Into());
  if (!both.Open(Endpoint{}).ok()) GTEST_SKIP() << "no IPv6 here";
  UdpSocket v4(io_, Into());
  ASSERT_TRUE(v4.Open(Endpoint::V4(0x7f000001, 0)).ok());
  v4.Send(Endpoint::V4(0x7f000001, both.local().port), base::Bytes(4, 1));
  Wait(1);
  ASSERT_EQ(got_.size(), 1U);
  EXPECT_EQ(got_[0].from, v4.local()) << "IPv4 has one form";
  both.Send(v4.local(), base::Bytes(5, 2));
  Wait(2);
  EXPECT_EQ(got_.size(), 2U);
}

TEST_F(UdpSocketTest, AClosedSocketCallsNobody) {
  UdpSocket a(io_, Into());
  UdpSocket b(io_, Into());
  ASSERT_TRUE(a.Open(Endpoint::V4(0x7f000001, 0)).ok());
  ASSERT_TRUE(b.Open(Endpoint::V4(0x7f000001, 0)).ok());
  a.Send(b.local(), base::Bytes(3, 8));
  b.Close();
  a.Send(Endpoint::V4(0xe0000001, 0), base::Bytes(3, 8));
  io_.run_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(got_.empty());
  EXPECT_EQ(a.dropped(), 1U) << "nobody can send to port 0";
}

}  // namespace
}  // namespace ostraka::net::udp_socket_test
