#include "sim/dht/virtual_udp.h"

#include <gtest/gtest.h>

namespace ostraka::sim::dhtsim::virtual_udp_test {
namespace {

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }
Endpoint Host(std::uint32_t number) { return Endpoint::V4(0x14000000 + 256 * number + 1, 7000); }

TEST(VirtualUdpTest, DeliversAfterADelayOrNotAtAll) {
  VirtualUdp udp({.loss_permille = 100}, base::Rng(1));
  udp.Add(Host(0), false);
  udp.Add(Host(1), false);
  int arrived = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto arrival = udp.Send(At(5), 0, Host(1));
    if (!arrival) continue;
    ++arrived;
    EXPECT_EQ(arrival->host, 1U);
    EXPECT_GE(arrival->at, At(5) + base::Milliseconds(10));
    EXPECT_LE(arrival->at, At(5) + base::Milliseconds(100));
  }
  EXPECT_NEAR(arrived, 1800, 60);
  EXPECT_FALSE(udp.Send(At(5), 0, Host(9)).has_value()) << "nobody is there";
  udp.SetUp(1, false);
  EXPECT_FALSE(udp.Send(At(5), 0, Host(1)).has_value());
}

TEST(VirtualUdpTest, ANatLetsInOnlyWhomItSentTo) {
  VirtualUdp udp({.loss_permille = 0}, base::Rng(1));
  const auto inside = udp.Add(Host(0), true);
  const auto outside = udp.Add(Host(1), false);
  const auto stranger = udp.Add(Host(2), false);
  EXPECT_FALSE(udp.Send(At(0), outside, Host(0)).has_value());
  EXPECT_TRUE(udp.Send(At(1), inside, Host(1)).has_value());
  EXPECT_TRUE(udp.Send(At(2), outside, Host(0)).has_value());
  EXPECT_FALSE(udp.Send(At(2), stranger, Host(0)).has_value());
  EXPECT_FALSE(udp.Send(At(122), outside, Host(0)).has_value()) << "it has forgotten";
}

TEST(VirtualUdpTest, APartitionCutsHalvesAndHeals) {
  VirtualUdp udp({.loss_permille = 0}, base::Rng(1));
  for (std::uint32_t i = 0; i < 4; ++i) udp.Add(Host(i), false);
  udp.SetPartition(true);
  EXPECT_FALSE(udp.Send(At(0), 0, Host(1)).has_value());
  EXPECT_TRUE(udp.Send(At(0), 0, Host(2)).has_value());
  udp.SetPartition(false);
  EXPECT_TRUE(udp.Send(At(0), 0, Host(1)).has_value());
}

}  // namespace
}  // namespace ostraka::sim::dhtsim::virtual_udp_test
