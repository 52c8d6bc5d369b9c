#include "node/protocol/seal/seal_ballots.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::seal_ballots_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;

base::SharedBytes Frame() { return std::make_shared<const base::Bytes>(1); }

TEST(BallotsTest, KeepsTheFirstOfEachAndWhatIsNeeded) {
  Ballots ballots;
  EXPECT_TRUE(ballots.Add(PeerNumber(1), DigestOf(1), Frame(), false));
  EXPECT_FALSE(ballots.Add(PeerNumber(1), DigestOf(1), Frame(), false));
  EXPECT_FALSE(ballots.Add(PeerNumber(1), DigestOf(2), Frame(), false));
  EXPECT_TRUE(ballots.Add(PeerNumber(1), DigestOf(2), Frame(), true));
  EXPECT_TRUE(ballots.Add(PeerNumber(2), DigestOf(2), Frame(), false));
  EXPECT_EQ(ballots.For(DigestOf(1)).size(), 1u);
  EXPECT_EQ(ballots.For(DigestOf(2)).size(), 2u);
  EXPECT_EQ(ballots.firsts().at(PeerNumber(1)), DigestOf(1));
  EXPECT_FALSE(ballots.firsts().contains(PeerNumber(3)));
  ballots.CheckInvariants();
}

TEST(BallotsTest, WhatIsNotNeededIsDroppedAndTheFirstsOnlyIfAsked) {
  Ballots ballots;
  ballots.Add(PeerNumber(1), DigestOf(1), Frame(), false);
  ballots.Add(PeerNumber(1), DigestOf(2), Frame(), true);
  ballots.Add(PeerNumber(1), DigestOf(3), Frame(), true);
  ballots.Add(PeerNumber(2), DigestOf(3), Frame(), false);
  const auto needed = [](const Digest& value) { return value == DigestOf(2); };
  ballots.Drop(needed, true);
  ballots.CheckInvariants();
  EXPECT_EQ(ballots.For(DigestOf(1)).size(), 1u) << "the first of member 1";
  EXPECT_EQ(ballots.For(DigestOf(2)).size(), 1u);
  EXPECT_EQ(ballots.For(DigestOf(3)).size(), 1u) << "the first of member 2, and no further one";
  ballots.Drop(needed, false);
  ballots.CheckInvariants();
  EXPECT_EQ(ballots.by_value().size(), 1u);
  EXPECT_EQ(ballots.firsts(), (std::map<PeerId, Digest>{{PeerNumber(1), DigestOf(2)}}));
  ballots.Drop([](const Digest&) { return false; }, false);
  EXPECT_TRUE(ballots.empty());
}

TEST(BallotsTest, TheLeadingValueIsTheFirstOfMostMembers) {
  Ballots ballots;
  EXPECT_TRUE(ballots.Leading().is_zero());
  ballots.Add(PeerNumber(1), DigestOf(5), Frame(), false);
  ballots.Add(PeerNumber(2), DigestOf(4), Frame(), false);
  EXPECT_EQ(ballots.Leading(), DigestOf(4));  // of several the lowest
  ballots.Add(PeerNumber(2), DigestOf(5), Frame(), true);
  EXPECT_EQ(ballots.Leading(), DigestOf(4));  // a second ballot does not count
  ballots.Add(PeerNumber(3), DigestOf(5), Frame(), false);
  EXPECT_EQ(ballots.Leading(), DigestOf(5));
}

TEST(LocksTest, AMemberDisplacesItsOwnLockInTheSmallestGroup) {
  Locks locks;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    EXPECT_TRUE(locks.Add(PeerNumber(i), 7, DigestOf(1), Frame()).is_new);
  }
  EXPECT_FALSE(locks.Add(PeerNumber(1), 7, DigestOf(1), Frame()).is_new);
  for (std::uint32_t k = 100; k < 200; ++k) {
    const Locks::Added added = locks.Add(PeerNumber(1), k, DigestOf(2), Frame());
    EXPECT_TRUE(added.is_new);
    EXPECT_EQ(added.emptied.has_value(), k >= 103) << k;
  }
  locks.CheckInvariants();
  std::size_t of_one = 0;
  for (const auto& [group, signers] : locks.groups()) of_one += signers.count(PeerNumber(1));
  EXPECT_EQ(of_one, Locks::kLocksOfOne);
  EXPECT_EQ(locks.For(7, DigestOf(1)).size(), 3u);  // in company: kept longest
  EXPECT_EQ(locks.For(199, DigestOf(2)).size(), 1u);
}

}  // namespace
}  // namespace ostraka::protocol::seal_ballots_test
