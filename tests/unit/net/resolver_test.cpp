#include "node/net/udp/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "tests/unit/net/transport_net.h"

namespace ostraka::net::resolver_test {
namespace {

TEST(NumericEndpoint, NumbersOnly) {
  EXPECT_EQ(NumericEndpoint("1.2.3.4:5"), dht::Endpoint::V4(0x01020304, 5));
  EXPECT_EQ(dht::TextOf(NumericEndpoint("[2001:db8::1]:9").value()), "[2001:db8:0:0:0:0:0:1]:9");
  EXPECT_EQ(NumericEndpoint("[::ffff:1.2.3.4]:5"), dht::Endpoint::V4(0x01020304, 5))
      << "an address has one value";
  for (const char* bad : {"", "localhost:1", "1.2.3.4", "1.2.3:4", "[::1", "1.2.3.4:70000"}) {
    EXPECT_FALSE(NumericEndpoint(bad).has_value()) << bad;
  }
}

TEST(Resolver, EveryTextIsFoundOrFailsOnce) {
  boost::asio::io_context io;
  Resolver resolver(io);
  std::optional<Resolved> resolved;
  resolver.Resolve({"1.2.3.4:5", "localhost:7", "nonsense", "no-such-name.invalid:1", "1.2.3.4:5"},
                   base::Seconds(10), [&](const Resolved& all) { resolved = all; });
  EXPECT_FALSE(resolved.has_value()) << "not within the call";
  ASSERT_TRUE(RunUntil(io, [&] { return resolved.has_value(); }));
  EXPECT_EQ(resolved->endpoints.at(0), dht::Endpoint::V4(0x01020304, 5));
  ASSERT_GE(resolved->endpoints.size(), 2u);
  EXPECT_EQ(dht::ScopeOf(resolved->endpoints[1]), dht::Scope::kLoopback);
  ASSERT_EQ(resolved->failures.size(), 2u);
  EXPECT_EQ(resolved->failures[0].first, "nonsense");
  EXPECT_EQ(resolved->failures[1].first, "no-such-name.invalid:1");
}

TEST(Resolver, NothingToResolveAnswersToo) {
  boost::asio::io_context io;
  Resolver resolver(io);
  bool done = false;
  resolver.Resolve({}, base::Seconds(10), [&](const Resolved&) { done = true; });
  EXPECT_TRUE(RunUntil(io, [&] { return done; }));
}

TEST(Resolver, ADestroyedResolverIsSilent) {
  boost::asio::io_context io;
  {
    Resolver resolver(io);
    resolver.Resolve({"1.2.3.4:5", "localhost:1"}, base::Seconds(10),
                     [](const Resolved&) { FAIL(); });
  }
  io.run();
}

}  // namespace
}  // namespace ostraka::net::resolver_test
