#include "node/net/fetch/address_rules.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <utility>

namespace ostraka::net::address_rules_test {
namespace {

std::string_view Why(const std::string& text) {
  const auto address = ParseIp(text);
  return address ? WhyNotPublic(*address) : "(no address)";
}

TEST(AddressRulesTest, PublicAddressesArePublic) {
  for (const char* const text :
       {"1.1.1.1",         "8.8.8.8",          "9.255.255.255",   "11.0.0.0",
        "100.63.255.255",  "100.128.0.0",      "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "169.255.0.0",      "172.15.255.255",  "172.32.0.0",
        "191.255.255.255", "192.0.1.0",        "192.0.3.0",       "192.167.255.255",
        "192.169.0.0",     "198.17.255.255",   "198.20.0.0",      "198.51.99.255",
        "203.0.112.255",   "223.255.255.255",  "2001:200::1",     "2001:4860:4860::8888",
        "2606:4700::1111", "2a00:1450::1",     "2000::",          "3ffe::1",
        "::ffff:8.8.8.8",  "64:ff9b::8.8.8.8", "2002:808:808::1", "::8.8.8.8"}) {
    EXPECT_EQ(Why(text), "") << text;
  }
}

TEST(AddressRulesTest, OthersAreCalledWhatTheyAre) {
  for (const auto& [text, what] : {
           std::pair{"0.0.0.0", "an address of no host"},
           {"0.1.2.3", "an address of no host"},
           {"10.0.0.0", "a private address"},
           {"10.255.255.255", "a private address"},
           {"100.64.0.0", "an address of a carrier's NAT"},
           {"100.127.255.255", "an address of a carrier's NAT"},
           {"127.0.0.1", "a loopback address"},
           {"127.255.255.255", "a loopback address"},
           {"169.254.0.0", "a link-local address"},
           {"169.254.169.254", "a link-local address"},
           {"169.254.255.255", "a link-local address"},
           {"172.16.0.0", "a private address"},
           {"172.31.255.255", "a private address"},
           {"192.0.0.8", "a reserved address"},
           {"192.0.2.255", "an address for documentation"},
           {"192.88.99.1", "a reserved address"},
           {"192.168.0.0", "a private address"},
           {"192.168.255.255", "a private address"},
           {"198.18.0.0", "a reserved address"},
           {"198.19.255.255", "a reserved address"},
           {"198.51.100.1", "an address for documentation"},
           {"203.0.113.1", "an address for documentation"},
           {"224.0.0.1", "a multicast address"},
           {"239.255.255.255", "a multicast address"},
           {"240.0.0.0", "a reserved address"},
           {"255.255.255.255", "a reserved address"},
           {"::", "an address of no host"},
           {"::1", "a loopback address"},
           {"::2", "an address of no host"},
           {"::10.0.0.1", "a private address"},
           {"::127.0.0.1", "a loopback address"},
           {"::ffff:127.0.0.1", "a loopback address"},
           {"::ffff:10.1.2.3", "a private address"},
           {"::ffff:169.254.169.254", "a link-local address"},
           {"::ffff:0.0.0.0", "an address of no host"},
           {"::ffff:0:127.0.0.1", "a reserved address"},
           {"64:ff9b::127.0.0.1", "a loopback address"},
           {"64:ff9b::192.168.1.1", "a private address"},
           {"64:ff9b:1::8.8.8.8", "a reserved address"},
           {"64:ff9b::1:0:8.8.8.8", "a reserved address"},
           {"2002:7f00:1::1", "a loopback address"},
           {"2002:a00:1::", "a private address"},
           {"2002:a9fe:a9fe::1", "a link-local address"},
           {"2001::1", "a reserved address"},  // Teredo
           {"2001:1ff::1", "a reserved address"},
           {"2001:db8::1", "an address for documentation"},
           {"3fff:fff:ffff::1", "an address for documentation"},
           {"100::1", "a reserved address"},
           {"4000::1", "a reserved address"},
           {"5f00::1", "a reserved address"},
           {"fc00::1", "a private address"},
           {"fd00::1", "a private address"},
           {"fd00:ec2::254", "a private address"},
           {"fdff:ffff::1", "a private address"},
           {"fe80::1", "a link-local address"},
           {"febf::1", "a link-local address"},
           {"fec0::1", "a private address"},
           {"fe00::1", "a reserved address"},
           {"ff02::1", "a multicast address"},
       }) {
    EXPECT_EQ(Why(text), what) << text;
  }
}

TEST(AddressRulesTest, LoopbackIsSeenThroughIPv6) {
  for (const char* const text : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(IsLoopback(*ParseIp(text))) << text;
  }
  for (const char* const text : {"0.0.0.0", "10.0.0.1", "8.8.8.8", "::", "fe80::1"}) {
    EXPECT_FALSE(IsLoopback(*ParseIp(text))) << text;
  }
}

TEST(AddressRulesTest, TextsGoThereAndBack) {
  for (const char* const text : {"0.0.0.0", "192.168.1.254", "::1", "fe80::1:2", "2001:db8::a"}) {
    EXPECT_EQ(TextOf(*ParseIp(text)), text);
  }
  EXPECT_FALSE(ParseIp(std::string("127.0.0.1\0.2", 12)).has_value());
  for (const char* const text :
       {"", "1", "1.2.3", "01.2.3.4", "0x7f.0.0.1", "1.2.3.4.5", "fe80::1%eth0", "[::1]", "host"}) {
    EXPECT_FALSE(ParseIp(text).has_value()) << text;
  }
}

TEST(AddressRulesTest, ASocketsAddressIsReadWithinItsSize) {
  sockaddr_storage storage{};
  sockaddr_in v4{};
  v4.sin_addr.s_addr = htonl(0x7f000001);
  std::memcpy(&storage, &v4, sizeof v4);
  EXPECT_EQ(IpOf(AF_INET, storage, sizeof v4), ParseIp("127.0.0.1"));
  EXPECT_FALSE(IpOf(AF_INET, storage, sizeof v4 - 1).has_value());
  sockaddr_in6 v6{};
  v6.sin6_addr = in6addr_loopback;
  std::memcpy(&storage, &v6, sizeof v6);
  EXPECT_EQ(IpOf(AF_INET6, storage, sizeof v6), ParseIp("::1"));
  EXPECT_FALSE(IpOf(AF_INET6, storage, sizeof v6 - 1).has_value());
  EXPECT_FALSE(IpOf(AF_UNIX, storage, sizeof storage).has_value());
}

}  // namespace
}  // namespace ostraka::net::address_rules_test
