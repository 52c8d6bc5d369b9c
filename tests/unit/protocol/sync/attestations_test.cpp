#include "node/protocol/sync/attestations.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::attestations_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;

const std::vector<PeerId> kMembers = {PeerNumber(0), PeerNumber(1), PeerNumber(2)};

TEST(AttestationsTest, TellsWhoNamesAParentInWhateverStep) {
  Attestations held;
  held.Add(PeerNumber(2), 7, DigestOf(1));
  held.Add(PeerNumber(0), 8, DigestOf(1));
  held.Add(PeerNumber(1), 8, DigestOf(2));
  held.Add(PeerNumber(9), 8, DigestOf(1));
  EXPECT_EQ(held.WhoNames(DigestOf(1), kMembers),
            (std::vector<PeerId>{PeerNumber(0), PeerNumber(2)}));
  using Named = std::map<Digest, std::vector<PeerId>>;
  EXPECT_EQ(held.ParentsOf(8, kMembers),
            (Named{{DigestOf(1), {PeerNumber(0)}}, {DigestOf(2), {PeerNumber(1)}}}));
  EXPECT_EQ(held.ParentsOf(6, kMembers), Named{});
  EXPECT_TRUE(held.Contains(PeerNumber(1), 8, DigestOf(2)));
  EXPECT_FALSE(held.Contains(PeerNumber(1), 7, DigestOf(2)));
  EXPECT_FALSE(held.Contains(PeerNumber(1), 8, DigestOf(1)));
}

TEST(AttestationsTest, WhatIsHeldIsNoNews) {
  Attestations held;
  EXPECT_TRUE(held.Add(PeerNumber(0), 7, DigestOf(1)));
  EXPECT_FALSE(held.Add(PeerNumber(0), 7, DigestOf(1)));
  EXPECT_TRUE(held.Add(PeerNumber(0), 8, DigestOf(1)));
}

TEST(AttestationsTest, OneThatNamesTwoParentsOfAStepIsHeldForBoth) {
  Attestations held;
  held.Add(PeerNumber(0), 7, DigestOf(1));
  held.Add(PeerNumber(0), 7, DigestOf(2));
  EXPECT_EQ(held.WhoNames(DigestOf(1), kMembers).size(), 1U);
  EXPECT_EQ(held.WhoNames(DigestOf(2), kMembers).size(), 1U);
}

TEST(AttestationsTest, OneThatSignsManyMovesItsOwnEntriesOnly) {
  Attestations held;
  held.Add(PeerNumber(1), 3, DigestOf(3));
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (std::uint64_t parent = 0; parent < 10; ++parent) {
      held.Add(PeerNumber(0), i, DigestOf(1000 + 10 * i + parent));
      held.CheckInvariants();
    }
  }
  EXPECT_TRUE(held.Contains(PeerNumber(1), 3, DigestOf(3)));
  EXPECT_FALSE(held.Contains(PeerNumber(0), 3, DigestOf(1030)));
  EXPECT_EQ(held.ParentsOf(99, kMembers).size(), 2U);
}

}  // namespace
}  // namespace ostraka::protocol::attestations_test
