#include "node/net/reach/address_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/net/mesh/address_book.h"
#include "node/net/udp/resolver.h"

namespace ostraka::net::address_policy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Dialable(const std::vector<std::string>& named,
                                  const std::vector<std::string>& announced) {
  std::vector<dht::Endpoint> endpoints;
  for (const std::string& text : announced) endpoints.push_back(NumericEndpoint(text).value());
  return AddressPolicy(named).Dialable(endpoints);
}

TEST(AddressPolicy, PublicAddressesAreDialedIpv6First) {
  EXPECT_THAT(Dialable({"example.org:9000"}, {"8.8.8.8:9000", "[2606:4700::1]:9000"}),
              ElementsAre("[2606:4700:0:0:0:0:0:1]:9000", "8.8.8.8:9000"));
}

TEST(AddressPolicy, PrivateAddressesOnlyInANamedNetwork) {
  const std::vector<std::string> named = {"192.168.7.3:9000", "8.8.8.8:9000",
                                          "[fd00:1:2:3::1]:9000"};
  EXPECT_THAT(Dialable(named, {"192.168.7.99:9000"}), ElementsAre("192.168.7.99:9000"));
  EXPECT_THAT(Dialable(named, {"192.168.8.99:9000", "10.0.0.1:9000", "172.16.0.1:9000"}),
              IsEmpty());
  EXPECT_THAT(Dialable(named, {"[fd00:1:2:3::77]:9000", "[fd00:1:2:4::77]:9000"}),
              ElementsAre("[fd00:1:2:3:0:0:0:77]:9000"));
  // The router's page, a mail server.
  EXPECT_THAT(Dialable(named, {"192.168.7.1:80", "192.168.7.1:1023"}), IsEmpty());
  // Carrier NAT and overlay networks.
  EXPECT_THAT(Dialable(named, {"100.64.0.1:9000", "100.127.1.1:9000"}), IsEmpty());
  EXPECT_THAT(Dialable({"100.100.5.1:9000"}, {"100.100.5.2:9000"}),
              ElementsAre("100.100.5.2:9000"));
}

TEST(AddressPolicy, LoopbackOnlyInARunOnOneMachine) {
  EXPECT_THAT(Dialable({"127.0.0.1:1", "127.0.0.1:2"}, {"127.0.0.1:9"}),
              ElementsAre("127.0.0.1:9"));
  EXPECT_THAT(Dialable({"127.0.0.1:1", "8.8.8.8:2"}, {"127.0.0.1:9", "[::1]:9"}), IsEmpty());
  EXPECT_THAT(Dialable({}, {"127.0.0.1:9"}), IsEmpty());
  EXPECT_THAT(Dialable({"localhost:1"}, {"127.0.0.1:9"}), IsEmpty())
      << "a name vouches for nothing";
}

TEST(AddressPolicy, OthersNever) {
  const std::vector<std::string> named = {"169.254.1.1:9000", "[fe80::1]:9000", "8.8.8.8:1"};
  EXPECT_THAT(
      Dialable(named, {"169.254.1.2:9000", "[fe80::2]:9000", "224.0.0.1:9000",
                       "255.255.255.255:9000", "0.0.0.0:9000", "8.8.4.4:0", "[ff02::1]:9000",
                       "[::]:9000", "[2002:c0a8:101::1]:9000", "[2001::1]:9000"}),
      IsEmpty());
}

TEST(AddressPolicy, AtMostFourAndNoneTwice) {
  std::vector<std::string> many = {"8.8.8.1:9", "8.8.8.1:9"};
  for (int i = 2; i < 100; ++i) many.push_back("8.8.8." + std::to_string(i) + ":9");
  const std::vector<std::string> dialable = Dialable({}, many);
  EXPECT_EQ(dialable.size(), AddressBook::kMaxPerSource);
  EXPECT_TRUE(AddressBook::Check(dialable).ok());
  EXPECT_THAT(dialable, ElementsAre("8.8.8.1:9", "8.8.8.2:9", "8.8.8.3:9", "8.8.8.4:9"));
}

}  // namespace
}  // namespace ostraka::net::address_policy_test
