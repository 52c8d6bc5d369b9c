#include "dht/lookup/lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/dht/samples.h"
#include "tests/unit/dht/small_net.h"

namespace ostraka::dht::lookup_test {
namespace {

TEST(LookupTest, FindsTheNearestNodesOfARandomNetwork) {
  SmallNet net(7, 400);
  int equal = 0;
  for (int i = 0; i < 50; ++i) {
    const Digest target = RandomDigest(net.rng());
    Lookup lookup(target, net.self(), {4, 2}, net.Start(target));
    net.Run(lookup);
    std::vector<Digest> found;
    for (const Found& one : lookup.Nearest(16)) found.push_back(one.node.id);
    equal += found == net.NearestIds(target, 16) ? 1 : 0;
    EXPECT_LE(lookup.queries(), Lookup::kMaxQueries);
    lookup.CheckInvariants();
  }
  EXPECT_GE(equal, 48);
}

TEST(LookupTest, NobodyIsAskedTwiceAndPathsHaveAlphaQuestionsOpen) {
  SmallNet net(8, 300);
  const Digest target = RandomDigest(net.rng());
  Lookup lookup(target, net.self(), {4, 2}, net.Start(target));
  std::set<Contact> asked;
  std::vector<KnownNode> open = lookup.Next();
  EXPECT_EQ(open.size(), 8U);
  EXPECT_TRUE(lookup.Next().empty());
  while (!open.empty()) {
    const KnownNode node = open.back();
    open.pop_back();
    EXPECT_TRUE(asked.insert(node.contact).second);
    lookup.OnAnswer(node.contact, net.AnswerOf(node, target), {});
    for (const KnownNode& next : lookup.Next()) open.push_back(next);
    EXPECT_LE(open.size(), 8U);
    lookup.CheckInvariants();
  }
  EXPECT_FALSE(lookup.waits());
  EXPECT_EQ(asked.size(), lookup.queries());
}

TEST(LookupTest, ASlowNodeIsNotWaitedForButItsAnswerCounts) {
  SmallNet net(9, 100);
  const Digest target = RandomDigest(net.rng());
  Lookup lookup(target, net.self(), {1, 1}, net.Start(target));
  const KnownNode slow = lookup.Next().at(0);
  EXPECT_TRUE(lookup.Next().empty());
  lookup.OnSlow(slow.contact);
  EXPECT_FALSE(lookup.waits());
  EXPECT_EQ(lookup.Next().size(), 1U);
  lookup.OnAnswer(slow.contact, {}, {});
  EXPECT_EQ(lookup.answers(), 1U);
  lookup.OnAnswer(slow.contact, {}, {});
  EXPECT_EQ(lookup.answers(), 1U) << "once";
  lookup.CheckInvariants();
}

TEST(LookupTest, AFalseAddressForAnHonestNodeDoesNotHideIt) {
  SmallNet net(10, 200);
  const Digest target = RandomDigest(net.rng());
  const KnownNode nearest = net.Nearest(target, 1)[0];
  std::vector<KnownNode> start = net.Start(target);
  KnownNode liar = NodeIn(net.rng(), 9999);
  start.insert(start.begin(), liar);
  Lookup lookup(target, net.self(), {4, 2}, start);
  net.Run(lookup, [&](const KnownNode& asked) {
    if (asked != liar) return net.AnswerOf(asked, target);
    KnownNode moved = nearest;
    moved.contact.endpoint = Endpoint::V4(0x25000001, 1);
    return std::vector<KnownNode>{moved};
  });
  EXPECT_EQ(lookup.Nearest(1).at(0).node, nearest);
}

TEST(LookupTest, OneAPrefix) {
  base::Rng rng(3);
  const Digest target = RandomDigest(rng);
  std::vector<KnownNode> start;
  for (std::uint32_t i = 0; i < 40; ++i) {
    KnownNode node = NodeIn(rng, i % 4, i + 1);
    node.id = Sharing(target, 20, node.id);
    start.push_back(node);
  }
  for (std::uint32_t i = 0; i < 10; ++i) start.push_back(NodeIn(rng, 100 + i));
  Lookup lookup(target, RandomDigest(rng), {1, 50}, start);
  std::set<Prefix> prefixes;
  for (std::vector<KnownNode> next = lookup.Next(); !next.empty(); next = lookup.Next()) {
    for (const KnownNode& node : next) lookup.OnAnswer(node.contact, {}, {});
  }
  EXPECT_EQ(lookup.queries(), 14U) << "4 of the crowded prefixes and 10 others";
  for (const Found& found : lookup.Nearest(16)) {
    EXPECT_TRUE(prefixes.insert(NarrowPrefix(found.node.contact.endpoint)).second);
  }
}

TEST(LookupTest, AnAttackerThatNamesNodesForEverIsCutOff) {
  base::Rng rng(4);
  const Digest target = RandomDigest(rng);
  std::vector<KnownNode> start = {NodeIn(rng, 1)};
  Lookup lookup(target, RandomDigest(rng), {1, 4}, start);
  std::uint32_t prefix = 2;
  unsigned bits = 1;
  for (std::vector<KnownNode> next = lookup.Next(); !next.empty(); next = lookup.Next()) {
    for (const KnownNode& node : next) {
      std::vector<KnownNode> nearer;
      for (int i = 0; i < 16; ++i) {
        KnownNode made = NodeIn(rng, prefix++);
        made.id = Sharing(target, std::min(250U, bits), made.id);
        nearer.push_back(made);
      }
      ++bits;
      lookup.OnAnswer(node.contact, nearer, {});
    }
  }
  EXPECT_EQ(lookup.queries(), Lookup::kMaxQueries);
  lookup.CheckInvariants();
}

TEST(LookupTest, TokensComeBackWithTheirNodes) {
  SmallNet net(11, 50);
  const Digest target = RandomDigest(net.rng());
  Lookup lookup(target, net.self(), {1, 3}, net.Start(target));
  for (const KnownNode& node : lookup.Next()) {
    Token token{};
    token[0] = node.id.bytes[0];
    lookup.OnAnswer(node.contact, {}, token);
  }
  ASSERT_EQ(lookup.Answered().size(), 3U);
  for (const Found& found : lookup.Answered()) {
    EXPECT_EQ(found.token[0], found.node.id.bytes[0]);
  }
}

}  // namespace
}  // namespace ostraka::dht::lookup_test
