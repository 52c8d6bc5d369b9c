#include "dht/table/routing_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::routing_table_test {
namespace {

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }

class RoutingTableTest : public testing::Test {
 protected:
  // A node of bucket `bucket`, of a prefix of its own.
  KnownNode InBucket(unsigned bucket) {
    KnownNode node = NodeIn(rng_, next_prefix_++);
    node.id = Sharing(self_, bucket, node.id);
    node.contact.peer.bytes = node.id.bytes;
    return node;
  }
  std::set<base::Digest> Ids() const {
    std::set<base::Digest> ids;
    for (const KnownNode& node : table_.All()) ids.insert(node.id);
    return ids;
  }

  base::Rng rng_{1};
  std::uint32_t next_prefix_ = 0;
  base::Digest self_ = RandomDigest(rng_);
  RoutingTable table_{self_};
};

TEST_F(RoutingTableTest, ABucketKeepsSixteenAndThenSpares) {
  std::vector<KnownNode> nodes;
  for (int i = 0; i < 40; ++i) {
    nodes.push_back(InBucket(3));
    EXPECT_EQ(table_.HasPlaceFor(nodes.back()), i < 16);
    table_.OnAnswer(At(i), nodes.back());
    table_.CheckInvariants();
  }
  EXPECT_EQ(table_.size(), 16U);
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(Ids().contains(nodes[i].id)) << "old nodes stay";
}

TEST_F(RoutingTableTest, AFreshSpareReplacesANodeThatMissesTwoQueries) {
  std::vector<KnownNode> nodes;
  for (int i = 0; i < 18; ++i) {
    nodes.push_back(InBucket(3));
    table_.OnAnswer(At(i), nodes.back());
  }
  table_.OnSilence(At(20), nodes[0]);
  EXPECT_TRUE(Ids().contains(nodes[0].id)) << "one loss is no death";
  table_.OnAnswer(At(21), nodes[0]);
  table_.OnSilence(At(22), nodes[0]);
  EXPECT_TRUE(Ids().contains(nodes[0].id)) << "in a row";
  table_.OnSilence(At(23), nodes[0]);
  EXPECT_FALSE(Ids().contains(nodes[0].id));
  EXPECT_TRUE(Ids().contains(nodes[17].id)) << "the freshest spare";
  EXPECT_EQ(table_.size(), 16U);
  table_.CheckInvariants();
}

TEST_F(RoutingTableTest, WithoutASpareANodeStaysForFiveMissesButIsNotTold) {
  const KnownNode node = InBucket(2);
  table_.OnAnswer(At(0), node);
  for (int i = 1; i <= 4; ++i) table_.OnSilence(At(i), node);
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_TRUE(table_.Nearest(self_, 16, Scope::kPublic, false).empty());
  EXPECT_EQ(table_.Nearest(self_, 16, Scope::kPublic, true).size(), 1U);
  table_.OnSilence(At(5), node);
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(RoutingTableTest, APrefixGetsTwoPlacesInABucketAndFourInAll) {
  for (unsigned bucket = 0; bucket < 5; ++bucket) {
    for (std::uint32_t host = 1; host <= 5; ++host) {
      KnownNode node = NodeIn(rng_, 77, 10 * bucket + host);
      node.id = Sharing(self_, bucket, node.id);
      table_.OnAnswer(At(0), node);
      table_.CheckInvariants();
    }
  }
  EXPECT_EQ(table_.size(), 4U);
  EXPECT_EQ(table_.LiveIn(0), 2U);
  EXPECT_EQ(table_.LiveIn(1), 2U);
}

TEST_F(RoutingTableTest, OurOwnIdIsNotTaken) {
  KnownNode self = NodeIn(rng_, 1);
  self.id = self_;
  EXPECT_FALSE(table_.HasPlaceFor(self));
  table_.OnAnswer(At(0), self);
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(RoutingTableTest, ANodeIsMovedOnlyWhenItIsSilentWhereItWas) {
  const KnownNode node = InBucket(4);
  KnownNode moved = node;
  moved.contact.endpoint = Endpoint::V4(0x1500ff01, 7000);
  table_.OnAnswer(At(0), node);
  table_.OnAnswer(At(10), moved);
  EXPECT_EQ(table_.All()[0].contact.endpoint, node.contact.endpoint) << "it answers there";
  table_.OnSilence(At(20), node);
  table_.OnAnswer(At(21), moved);
  EXPECT_EQ(table_.All()[0].contact.endpoint, moved.contact.endpoint);
  table_.CheckInvariants();
}

TEST_F(RoutingTableTest, ASilenceOfAnotherAddressCountsNothing) {
  const KnownNode node = InBucket(4);
  KnownNode false_address = node;
  false_address.contact.endpoint.port = 9;
  table_.OnAnswer(At(0), node);
  for (int i = 0; i < 9; ++i) table_.OnSilence(At(i), false_address);
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(RoutingTableTest, PrivateAddressesAreToldToTheirOwnScope) {
  KnownNode at_home = InBucket(1);
  at_home.contact.endpoint = Endpoint::V4(0xc0a80005, 7000);
  table_.OnAnswer(At(0), at_home);
  table_.OnAnswer(At(0), InBucket(1));
  EXPECT_EQ(table_.Nearest(self_, 16, Scope::kPublic, false).size(), 1U);
  EXPECT_EQ(table_.Nearest(self_, 16, Scope::kPrivate, false).size(), 2U);
}

TEST_F(RoutingTableTest, SilentNodesComeLongestSilentFirst) {
  std::vector<KnownNode> nodes;
  for (int i = 0; i < 6; ++i) {
    nodes.push_back(InBucket(static_cast<unsigned>(i)));
    table_.OnAnswer(At(100 - 10 * i), nodes.back());
  }
  const auto silent = table_.SilentSince(At(85), 2);
  ASSERT_EQ(silent.size(), 2U);
  EXPECT_EQ(silent[0], nodes[5]);
  EXPECT_EQ(silent[1], nodes[4]);
  table_.OnSilence(At(200), nodes[5]);
  EXPECT_EQ(table_.SilentSince(At(85), 1)[0], nodes[4]) << "it was tried lately";
}

TEST_F(RoutingTableTest, AnotherPrefixIsAnother) {
  const KnownNode node = InBucket(1);
  table_.OnAnswer(At(0), node);
  EXPECT_EQ(table_.OfAnotherPrefix(node.contact.endpoint, 5), nullptr);
  const KnownNode other = InBucket(2);
  table_.OnAnswer(At(0), other);
  for (std::uint64_t number = 0; number < 5; ++number) {
    EXPECT_EQ(*table_.OfAnotherPrefix(node.contact.endpoint, number), other);
  }
}

// Against a model that sorts all live nodes and takes the first of each prefix.
TEST_F(RoutingTableTest, NearestEqualsASortOfAllNodes) {
  for (int round = 0; round < 60; ++round) {
    RoutingTable table(self_);
    const auto prefixes = 1 + rng_.Below(60);
    const auto count = rng_.Below(300);
    for (std::uint64_t i = 0; i < count; ++i) {
      KnownNode node = NodeIn(rng_, static_cast<std::uint32_t>(rng_.Below(prefixes)),
                              static_cast<std::uint32_t>(1 + i % 250));
      if (rng_.Chance(1, 2)) {
        node.id = Sharing(self_, static_cast<unsigned>(rng_.Below(20)), node.id);
      }
      table.OnAnswer(At(0), node);
    }
    table.CheckInvariants();
    base::Digest target = RandomDigest(rng_);
    if (rng_.Chance(1, 2)) target = Sharing(self_, static_cast<unsigned>(rng_.Below(30)), target);
    std::vector<KnownNode> all = table.All();
    std::sort(all.begin(), all.end(),
              [&](const KnownNode& a, const KnownNode& b) { return IsNearer(target, a.id, b.id); });
    std::vector<KnownNode> expected;
    std::set<Prefix> seen;
    for (const KnownNode& node : all) {
      if (expected.size() < 16 && seen.insert(NarrowPrefix(node.contact.endpoint)).second) {
        expected.push_back(node);
      }
    }
    EXPECT_EQ(table.Nearest(target, 16, Scope::kPublic, false), expected);
  }
}

// Any answers and silences, against plain counts of what T1 and T2 allow.
TEST_F(RoutingTableTest, BoundsHoldUnderAnySequence) {
  std::vector<KnownNode> nodes;
  for (int i = 0; i < 400; ++i) {
    KnownNode node = NodeIn(rng_, static_cast<std::uint32_t>(rng_.Below(40)),
                            static_cast<std::uint32_t>(i % 250));
    node.id = Sharing(self_, static_cast<unsigned>(rng_.Below(6)), node.id);
    nodes.push_back(node);
  }
  for (int step = 0; step < 20'000; ++step) {
    KnownNode node = nodes[rng_.Below(nodes.size())];
    if (rng_.Chance(1, 10))
      node.contact.endpoint = nodes[rng_.Below(nodes.size())].contact.endpoint;
    if (rng_.Chance(1, 2)) {
      table_.OnAnswer(At(step), node);
    } else {
      table_.OnSilence(At(step), node);
    }
    if (step % 50 != 0) continue;
    table_.CheckInvariants();
    std::map<Prefix, int> of_prefix;
    for (const KnownNode& live : table_.All()) {
      EXPECT_LE(++of_prefix[NarrowPrefix(live.contact.endpoint)], 4);
    }
    for (unsigned bucket = 0; bucket < 6; ++bucket) EXPECT_LE(table_.LiveIn(bucket), 16U);
  }
}

}  // namespace
}  // namespace ostraka::dht::routing_table_test
