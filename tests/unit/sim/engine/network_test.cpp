#include "sim/engine/network.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ostraka::sim::network_test {
namespace {

NetworkOptions Jittery() {
  NetworkOptions options;
  options.distance = {base::Milliseconds(1), base::Milliseconds(9)};
  options.jitter = base::Milliseconds(50);
  options.bytes_per_second = 1'000'000;
  return options;
}

Network AllUp(std::uint32_t peers, std::uint64_t seed, const NetworkOptions& options = Jittery()) {
  Network network(options, peers, base::Rng(seed));
  for (std::uint32_t a = 0; a < peers; ++a) {
    for (std::uint32_t b = a + 1; b < peers; ++b) network.SetUp(a, b, true);
  }
  return network;
}

TEST(Network, DropsMessagesOnALinkThatIsDown) {
  Network network(Jittery(), 2, base::Rng(1));
  EXPECT_FALSE(network.Arrival(0, 1, {0}, {}));
  network.SetUp(1, 0, true);
  EXPECT_TRUE(network.Arrival(0, 1, {0}, {}));
  network.SetUp(0, 1, false);
  EXPECT_FALSE(network.Arrival(1, 0, {0}, {}));
}

TEST(Network, GoingDownEndsAnEpochInBothDirections) {
  Network network = AllUp(2, 1);
  const std::uint64_t before = network.Epoch(0, 1);
  network.SetUp(0, 1, true);
  EXPECT_EQ(network.Epoch(0, 1), before) << "it was up already";
  network.SetUp(0, 1, false);
  network.SetUp(0, 1, false);
  EXPECT_EQ(network.Epoch(0, 1), before + 1);
  EXPECT_EQ(network.Epoch(1, 0), before + 1);
}

TEST(Network, DelaysLieInTheirRange) {
  Network network = AllUp(2, 3);
  for (int i = 0; i < 1000; ++i) {
    // Far apart, so that no message waits for the one before.
    const base::Time now{std::int64_t{i} * 1'000'000'000};
    const base::Duration delay = *network.Arrival(0, 1, now, {}) - now;
    EXPECT_GE(delay, base::Milliseconds(1));
    EXPECT_LE(delay, base::Milliseconds(1 + 9 + 50));
  }
}

TEST(Network, BulkDataWaitsForTheBandwidthAndForBulkBeforeIt) {
  NetworkOptions options = Jittery();
  options.distance = {base::Milliseconds(10), {}};
  options.jitter = {};
  Network network = AllUp(2, 1, options);
  EXPECT_EQ(network.Arrival(0, 1, {0}, {.blob_bytes = 500'000})->ns, base::Milliseconds(510).ns);
  EXPECT_EQ(network.Arrival(0, 1, {0}, {.blob_bytes = 1'000'000})->ns, base::Milliseconds(1510).ns);
  EXPECT_EQ(network.Arrival(0, 1, {0}, {})->ns, base::Milliseconds(10).ns)
      << "control does not wait for bulk";
  EXPECT_EQ(network.Arrival(1, 0, {0}, {.blob_bytes = 500'000})->ns, base::Milliseconds(510).ns)
      << "the other direction has its own bandwidth";
}

// --- what waits on a line ------------------------------------------------------------------------

NetworkOptions Slow() {
  NetworkOptions options;
  options.distance = {base::Milliseconds(10), {}};
  options.jitter = {};
  options.line_bytes_per_second = 1'000'000;
  options.control_queue_bytes = 100'000;
  options.carried_queue_bytes = 10'000;
  return options;
}

TEST(Network, ALineTakesItsTimeAndOverflows) {
  Network network = AllUp(2, 1, Slow());
  network.Narrow(1);
  EXPECT_EQ(network.Arrival(0, 1, {0}, {.frame_bytes = 50'000})->ns, base::Milliseconds(60).ns);
  EXPECT_EQ(network.Arrival(0, 1, {0}, {.frame_bytes = 50'000})->ns, base::Milliseconds(110).ns);
  EXPECT_TRUE(network.Overflows(0, 1, {0}, {.frame_bytes = 1}));
  EXPECT_FALSE(network.Overflows(0, 1, {0}, {.frame_bytes = 1, .blob_bytes = 1}));
  EXPECT_FALSE(network.Overflows(0, 1, {0}, {.frame_bytes = 1, .carried_for = 0}));
  EXPECT_FALSE(network.Overflows(1, 0, {0}, {.frame_bytes = 1'000'000})) << "it is no slow line";
  EXPECT_FALSE(network.Overflows(0, 1, {base::Milliseconds(50).ns}, {.frame_bytes = 50'000}));
  network.SetUp(0, 1, false);
  network.SetUp(0, 1, true);
  EXPECT_FALSE(network.Overflows(0, 1, {0}, {.frame_bytes = 100'000}))
      << "what waited is gone with the link";
}

TEST(Network, WhatIsCarriedHasALaneForEachPeer) {
  Network network = AllUp(4, 1, Slow());
  network.Narrow(1);
  const auto carried = [&](std::uint32_t peer) {
    return network.Arrival(0, 1, {0}, {.frame_bytes = 6'000, .carried_for = peer});
  };
  EXPECT_EQ(carried(2)->ns, base::Milliseconds(34).ns) << "a quarter of the line";
  EXPECT_FALSE(carried(2)) << "more than its lane holds";
  EXPECT_EQ(network.carried_dropped(), 1u);
  EXPECT_EQ(carried(3)->ns, base::Milliseconds(34).ns) << "another one's";
  EXPECT_EQ(network.Arrival(0, 1, {0}, {.frame_bytes = 1'000})->ns, base::Milliseconds(11).ns);
}

TEST(Network, HugeTransfersDoNotOverflow) {
  NetworkOptions options = Jittery();
  options.bytes_per_second = 3;
  Network network = AllUp(2, 1, options);
  const std::uint64_t terabyte = 1'000'000'000'000;
  EXPECT_GT(network.Arrival(0, 1, {0}, {.blob_bytes = terabyte / 1000})->ns,
            base::Seconds(333'000'000).ns);
}

TEST(Network, TrafficOnOneLinkDoesNotShiftAnother) {
  Network quiet = AllUp(3, 9);
  Network busy = AllUp(3, 9);
  for (int i = 0; i < 100; ++i) (void)busy.Arrival(0, 1, {0}, {});
  EXPECT_EQ(quiet.Arrival(0, 2, {5}, {}), busy.Arrival(0, 2, {5}, {}));
}

// FIFO for each link and lane, whatever the send times and the jitter.
RC_GTEST_PROP(NetworkProperty, KeepsTheOrderOfEachLane, (std::uint64_t seed)) {
  Network network = AllUp(3, seed);
  base::Rng rng(seed);
  std::map<std::pair<std::uint32_t, bool>, base::Time> last;
  base::Time now;
  for (int i = 0; i < 300; ++i) {
    now = now + base::Duration{rng.Between(0, 20'000'000)};
    const auto link = static_cast<std::uint32_t>(rng.Below(6));
    const std::uint32_t from = link / 2;
    const std::uint32_t to = (from + 1 + link % 2) % 3;
    const bool bulk = rng.Chance(1, 2);
    Network::Message message;
    if (bulk) message.blob_bytes = rng.Below(100'000);
    const auto at = network.Arrival(from, to, now, message);
    RC_ASSERT(at.has_value());
    RC_ASSERT(*at >= now + base::Milliseconds(1));
    base::Time& before = last[{link, bulk}];
    RC_ASSERT(*at >= before);
    before = *at;
  }
}

// --- an uplink that all links of a peer share ---

NetworkOptions Uplink(std::uint64_t bytes_per_second) {
  NetworkOptions options;
  options.distance = {};
  options.jitter = {};
  options.bytes_per_second = 1'000'000'000;
  options.uplink_bytes_per_second = bytes_per_second;
  return options;
}
Network::Message Bulk(std::uint64_t bytes) { return {0, bytes, std::nullopt}; }
double SecondsOf(const std::optional<base::Time>& arrival) {
  return (*arrival - base::Time{}).seconds();
}

TEST(NetworkUplink, BulkOfAllLinksOfAPeerGoesOneAfterTheOther) {
  Network network = AllUp(4, 5, Uplink(1000));
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 1, {0}, Bulk(500))), 0.5);
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 2, {0}, Bulk(500))), 1.0);
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(1, 2, {0}, Bulk(500))), 0.5) << "another peer's";
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 3, {0}, {100})), 0) << "control waits for nothing";
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 3, {0}, Bulk(400))), 1.5) << "and bulk for it";
}

TEST(NetworkUplink, GuestsHaveAnEighthWhileThereIsSomethingForMembers) {
  Network network = AllUp(4, 5, Uplink(800));
  network.SetGuest(0, 3, true);
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 3, {0}, Bulk(200))), 0.25) << "nobody else's";
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 1, {0}, Bulk(700))), 1.0) << "700 a second";
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 3, {0}, Bulk(50))), 0.75) << "100 a second";
  // 25 bytes beside the member's until 1 s, and then 100 at 800 a second.
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 3, {0}, Bulk(125))), 1.125);
  const base::Time later{base::Seconds(10).ns};
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 1, later, Bulk(800))), 11.0);
  network.SetGuest(0, 3, false);
  EXPECT_DOUBLE_EQ(SecondsOf(network.Arrival(0, 3, later, Bulk(800))), 12.0) << "a member by now";
}

}  // namespace
}  // namespace ostraka::sim::network_test
