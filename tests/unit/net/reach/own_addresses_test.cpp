#include "node/net/reach/own_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/net/udp/resolver.h"

namespace ostraka::net::own_addresses_test {
namespace {

using ::testing::IsEmpty;

std::vector<dht::Endpoint> Endpoints(const std::vector<std::string>& texts) {
  std::vector<dht::Endpoint> endpoints;
  for (const std::string& text : texts) endpoints.push_back(NumericEndpoint(text).value());
  return endpoints;
}

TEST(OwnAddresses, WhatTheUserSaysStandsAlone) {
  EXPECT_EQ(
      OwnAddresses(Endpoints({"8.8.8.8:1"}), std::nullopt, "127.0.0.1:9", Endpoints({"9.9.9.9:5"})),
      Endpoints({"8.8.8.8:1"}));
}

TEST(OwnAddresses, AListeningAddressOfOneHostIsIt) {
  EXPECT_EQ(OwnAddresses({}, std::nullopt, "192.168.1.4:9", Endpoints({"9.9.9.9:5"})),
            Endpoints({"192.168.1.4:9"}));
}

TEST(OwnAddresses, ElsewhereAsOthersSeeIt) {
  EXPECT_EQ(OwnAddresses({}, std::nullopt, "[::]:9", Endpoints({"[2606::1]:7", "9.9.9.9:5"})),
            Endpoints({"[2606::1]:9", "9.9.9.9:9"}))
      << "with the port of the links";
  EXPECT_THAT(OwnAddresses({}, std::nullopt, "0.0.0.0:9", {}), IsEmpty());
}

TEST(OwnAddresses, WhoOnlyDialsHasNone) {
  EXPECT_THAT(OwnAddresses({}, std::nullopt, "", Endpoints({"9.9.9.9:5"})), IsEmpty());
}

TEST(OwnAddressesTest, ThePortThatTheRouterForwardsComesFirst) {
  const auto forwarded = Endpoints({"9.9.9.9:4711"})[0];
  EXPECT_EQ(OwnAddresses({}, forwarded, "[::]:9", Endpoints({"[2606::1]:7", "9.9.9.9:5"})),
            Endpoints({"9.9.9.9:4711", "[2606::1]:9"}))
      << "the other port of that address leads nowhere";
  EXPECT_EQ(OwnAddresses({}, forwarded, "192.168.1.4:9", {}),
            Endpoints({"9.9.9.9:4711", "192.168.1.4:9"}));
  EXPECT_EQ(OwnAddresses(Endpoints({"8.8.8.8:1"}), forwarded, "[::]:9", {}),
            Endpoints({"8.8.8.8:1"}));
}

}  // namespace
}  // namespace ostraka::net::own_addresses_test
