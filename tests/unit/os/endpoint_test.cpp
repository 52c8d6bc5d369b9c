#include "node/os/endpoint.h"

#include <gtest/gtest.h>

namespace ostraka::os {
namespace {

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

TEST(WithPort, ReplacesThePortOfAnyForm) {
  EXPECT_EQ(WithPort("127.0.0.1:0", 80), "127.0.0.1:80");
  EXPECT_EQ(WithPort("[::1]:0", 9464), "[::1]:9464");
  EXPECT_EQ(WithPort("localhost:1", 2), "localhost:2");
}

}  // namespace
}  // namespace ostraka::os
