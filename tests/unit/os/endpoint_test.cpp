#include "node/os/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "node/os/descriptor.h"

namespace ostraka::os::endpoint_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AddressGroup, IsOneIpv4AddressOrAnIpv6Prefix) {
  EXPECT_EQ(AddressGroup("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(AddressGroup("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(AddressGroup("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(AddressGroup("2001:db8:1:2::1"), AddressGroup("2001:db8:1:2:ffff::9"));
  EXPECT_NE(AddressGroup("2001:db8:1:2::1"), AddressGroup("2001:db8:1:3::1"));
  EXPECT_EQ(AddressGroup("fe80::1%lo"), "fe80::/64");
  EXPECT_EQ(AddressGroup("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(AddressGroup("::1"), "::1");
  EXPECT_EQ(AddressGroup("node.example.org"), "");
}

TEST(AddressPrefix, IsThePrefixOfOneCustomer) {
  EXPECT_EQ(AddressPrefix("192.0.2.77"), "192.0.2.0/24");
  EXPECT_EQ(AddressPrefix("::ffff:192.0.2.1"), "192.0.2.0/24");
  EXPECT_EQ(AddressPrefix("2001:db8:1:2:3:4:5:6"), "2001:db8:1::/48");
  EXPECT_EQ(AddressPrefix("2001:db8:1:ffff::1"), AddressPrefix("2001:db8:1:2::9"));
  EXPECT_NE(AddressPrefix("2001:db8:1::1"), AddressPrefix("2001:db8:2::1"));
  EXPECT_EQ(AddressPrefix("node.example.org"), "");
}

TEST(IsLoopbackHost, IsThisMachineAlone) {
  for (const char* host : {"localhost", "LocalHost", "127.0.0.1", "127.8.9.10", "::1"}) {
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  }
  for (const char* host : {"", "128.0.0.1", "::", "::2", "[::1]", "127.0.0.1 ", "localhost.",
                           "127.0.0.1.example.org", "::ffff:127.0.0.1", "0.0.0.0"}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

TEST(ListeningAddressFor, IsEveryAddressUnlessOthersAreOnThisMachine) {
  const auto of = [](std::string_view announced) {
    return ListeningAddressFor(announced).value_or("refused");
  };
  EXPECT_EQ(of("203.0.113.7:7000"), "*:7000");
  EXPECT_EQ(of("node.example.org:7000"), "*:7000");
  EXPECT_EQ(of("LOCALHOST:7000"), "127.0.0.1:7000");
  EXPECT_EQ(of("[2001:db8::1]:7000"), "*:7000");
  EXPECT_EQ(of("0.0.0.0:7000"), "*:7000");
  EXPECT_EQ(of("127.0.0.1:7000"), "127.0.0.1:7000");
  EXPECT_EQ(of("127.8.9.10:7000"), "127.8.9.10:7000");
  EXPECT_EQ(of("128.0.0.1:7000"), "*:7000");
  EXPECT_EQ(of("[::1]:7000"), "[::1]:7000");
  EXPECT_EQ(of("localhost:7000"), "127.0.0.1:7000");
  EXPECT_EQ(ListeningAddressFor("nonsense").status().code(), absl::StatusCode::kInvalidArgument);
}

class ListenOnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto listening = ListenOn("*:0");
    ASSERT_TRUE(listening.ok()) << listening.status();
    socket_ = Descriptor(*listening);
    port_ = *ListeningPort(socket_.get());
  }
  // Whether a client of 127.0.0.1, or of [::1], gets a connection.
  bool Answers(int family) const {
    const Descriptor client(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port_);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port_);
    v6.sin6_addr = in6addr_loopback;
    return family == AF_INET
               ? connect(client.get(), reinterpret_cast<sockaddr*>(&v4), sizeof v4) == 0
               : connect(client.get(), reinterpret_cast<sockaddr*>(&v6), sizeof v6) == 0;
  }

  Descriptor socket_{-1};
  std::uint16_t port_ = 0;
};

TEST_F(ListenOnTest, EveryAddressIsThoseOfIpv4AndOfIpv6WhereItExists) {
  EXPECT_TRUE(Answers(AF_INET));
  EXPECT_TRUE(!IsIpv6(socket_.get()) || Answers(AF_INET6));
}

TEST_F(ListenOnTest, ErrorsNameTheOptionThatHelps) {
  const auto refusal = [](const std::string& address, std::string_view option) {
    const auto refused = ListenOn(address, option);
    return refused.ok() ? "listens" : base::MessageOf(refused.status());
  };
  EXPECT_THAT(refusal("*:" + std::to_string(port_), "--listen"),
              AllOf(HasSubstr("the port is taken"), HasSubstr("another port with --listen")));
  EXPECT_THAT(refusal("192.0.2.1:0", "--http"),
              AllOf(HasSubstr("does not have that address"), HasSubstr("with --http")));
  EXPECT_THAT(refusal("localhost:0", "--listen"), HasSubstr("with --listen"));
  EXPECT_THAT(refusal("192.0.2.1:0", ""), Not(HasSubstr("with ")));
}

TEST(WithPort, ReplacesThePortOfAnyForm) {
  EXPECT_EQ(WithPort("127.0.0.1:0", 80), "127.0.0.1:80");
  EXPECT_EQ(WithPort("[::1]:0", 9464), "[::1]:9464");
  EXPECT_EQ(WithPort("localhost:1", 2), "localhost:2");
}

}  // namespace
}  // namespace ostraka::os::endpoint_test
