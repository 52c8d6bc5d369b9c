#include "dht/wire/endpoint.h"

#include <gtest/gtest.h>

namespace ostraka::dht::endpoint_test {
namespace {

Endpoint V6(std::initializer_list<unsigned> words, std::uint16_t port = 1) {
  Endpoint endpoint;
  std::size_t at = 0;
  for (const unsigned word : words) {
    endpoint.address[at++] = static_cast<std::uint8_t>(word >> 8);
    endpoint.address[at++] = static_cast<std::uint8_t>(word & 0xff);
  }
  endpoint.port = port;
  return endpoint;
}

TEST(EndpointTest, ScopeSeparatesPublicPrivateLoopbackAndUnusable) {
  EXPECT_EQ(ScopeOf(Endpoint::V4(0x08080808, 1)), Scope::kPublic);
  for (const std::uint32_t address :
       {0x0a000001U, 0xac100001U, 0xac1f0001U, 0xc0a80001U, 0xa9fe0001U}) {
    EXPECT_EQ(ScopeOf(Endpoint::V4(address, 1)), Scope::kPrivate) << address;
  }
  EXPECT_EQ(ScopeOf(Endpoint::V4(0xac200001, 1)), Scope::kPublic) << "172.32/16 is not private";
  EXPECT_EQ(ScopeOf(Endpoint::V4(0x7f000001, 1)), Scope::kLoopback);
  for (const std::uint32_t address : {0x00000000U, 0xe0000001U, 0xffffffffU}) {
    EXPECT_EQ(ScopeOf(Endpoint::V4(address, 1)), Scope::kNone) << address;
  }
  EXPECT_EQ(ScopeOf(Endpoint::V4(0x08080808, 0)), Scope::kNone) << "port 0";
  EXPECT_EQ(ScopeOf(V6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1})), Scope::kPublic);
  EXPECT_EQ(ScopeOf(V6({0xfd00, 1, 0, 0, 0, 0, 0, 1})), Scope::kPrivate);
  EXPECT_EQ(ScopeOf(V6({0xfe80, 0, 0, 0, 0, 0, 0, 1})), Scope::kPrivate);
  EXPECT_EQ(ScopeOf(V6({0, 0, 0, 0, 0, 0, 0, 1})), Scope::kLoopback);
  EXPECT_EQ(ScopeOf(V6({0xff02, 0, 0, 0, 0, 0, 0, 1})), Scope::kNone);
  EXPECT_EQ(ScopeOf(V6({0, 0, 0, 0, 0, 0, 0, 0})), Scope::kNone);
}

TEST(EndpointTest, PrefixesAre24And48And32) {
  const auto narrow4 = [](std::uint32_t a) { return NarrowPrefix(Endpoint::V4(a, 1)); };
  EXPECT_EQ(narrow4(0x14000001), narrow4(0x140000ff));
  EXPECT_NE(narrow4(0x14000001), narrow4(0x14000101));
  const auto v6 = [](unsigned b, unsigned c, unsigned d) {
    return V6({0x2001, b, c, d, 0, 0, 0, 1});
  };
  EXPECT_EQ(NarrowPrefix(v6(1, 2, 3)), NarrowPrefix(v6(1, 2, 4)));
  EXPECT_NE(NarrowPrefix(v6(1, 2, 3)), NarrowPrefix(v6(1, 3, 3)));
  EXPECT_EQ(WidePrefix(v6(1, 2, 3)), WidePrefix(v6(1, 3, 3)));
  EXPECT_NE(WidePrefix(v6(1, 2, 3)), WidePrefix(v6(2, 2, 3)));
  EXPECT_EQ(WidePrefix(Endpoint::V4(0x14000001, 1)), narrow4(0x14000001));
}

TEST(EndpointTest, PrivateHostsArePrefixesOfTheirOwn) {
  EXPECT_NE(NarrowPrefix(Endpoint::V4(0xc0a80001, 1)), NarrowPrefix(Endpoint::V4(0xc0a80002, 1)));
  EXPECT_NE(NarrowPrefix(V6({0xfd00, 1, 2, 3, 0, 0, 0, 1})),
            NarrowPrefix(V6({0xfd00, 1, 2, 3, 0, 0, 0, 2})));
}

TEST(EndpointTest, BytesAndTextShowAddressAndPort) {
  const Endpoint v4 = Endpoint::V4(0xc0000201, 9000);
  base::Bytes bytes;
  AppendEndpoint(bytes, v4);
  ASSERT_EQ(bytes.size(), Endpoint::kSize);
  EXPECT_EQ(ReadEndpoint(bytes), v4);
  EXPECT_EQ(TextOf(v4), "192.0.2.1:9000");
  EXPECT_EQ(TextOf(V6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x1a}, 80)), "[2001:db8:0:0:0:0:0:1a]:80");
}

}  // namespace
}  // namespace ostraka::dht::endpoint_test
