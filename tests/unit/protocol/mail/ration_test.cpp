#include "node/protocol/mail/ration.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::PeerNumber;

constexpr std::uint64_t kBytes = 1000;
const base::Time kStart{base::Seconds(100).ns};

TEST(RationTest, ManyAnswersASecondAndNoMore) {
  Ration ration(kBytes);
  for (std::uint64_t i = 0; i < Ration::kAnswersASecond; ++i) {
    ASSERT_TRUE(ration.Take(kStart, PeerNumber(1))) << i;
  }
  EXPECT_FALSE(ration.Take(kStart, PeerNumber(1)));
  EXPECT_FALSE(ration.Take(kStart + base::Milliseconds(999), PeerNumber(1)));
  EXPECT_TRUE(ration.Take(kStart + base::Seconds(1), PeerNumber(1)));
}

TEST(RationTest, EachPeerHasItsOwn) {
  Ration ration(kBytes);
  while (ration.Take(kStart, PeerNumber(1))) {
  }
  EXPECT_TRUE(ration.Take(kStart, PeerNumber(2)));
}

TEST(RationTest, BulkBytesAreCountedTogether) {
  Ration ration(kBytes);
  EXPECT_TRUE(ration.Take(kStart, PeerNumber(1), 600));
  EXPECT_FALSE(ration.Take(kStart, PeerNumber(1), 401));
  EXPECT_TRUE(ration.Take(kStart, PeerNumber(1), 400)) << "what was refused is not counted";
  EXPECT_FALSE(ration.Take(kStart, PeerNumber(1), 1));
  EXPECT_TRUE(ration.Take(kStart, PeerNumber(1), 0)) << "small answers still pass";
  EXPECT_TRUE(ration.Take(kStart + base::Seconds(1), PeerNumber(1), kBytes));
}

TEST(RationTest, WhoForgesIsNotHeardUntilTheSecondIsOver) {
  Ration ration(kBytes);
  for (std::uint64_t i = 0; i < Ration::kForgeriesASecond; ++i) {
    ASSERT_TRUE(ration.IsHeard(kStart, PeerNumber(1))) << i;
    ration.CountForgery(kStart, PeerNumber(1));
  }
  EXPECT_FALSE(ration.IsHeard(kStart, PeerNumber(1)));
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(2)));
  EXPECT_TRUE(ration.Take(kStart, PeerNumber(1))) << "a question has no signature";
  EXPECT_TRUE(ration.IsHeard(kStart + base::Seconds(1), PeerNumber(1)));
}

TEST(RationTest, OddMessagesAreCountedByThemselves) {
  Ration ration(kBytes);
  for (std::uint64_t i = 0; i < Ration::kOddMessagesASecond; ++i) {
    ASSERT_TRUE(ration.TakeOddMessage(kStart, PeerNumber(1))) << i;
  }
  EXPECT_FALSE(ration.TakeOddMessage(kStart, PeerNumber(1)));
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(1))) << "all else goes on";
  EXPECT_TRUE(ration.TakeOddMessage(kStart + base::Seconds(1), PeerNumber(1)));
}

TEST(RationTest, BlocksThatNothingProvesCountByTheirBytes) {
  Ration ration(1);
  const base::Time now;
  const PeerId peer;
  EXPECT_TRUE(ration.TakeOddBlock(now, peer, 1));
  EXPECT_TRUE(ration.TakeOddBlock(now, peer, 16 << 20)) << "the largest one is let in";
  EXPECT_FALSE(ration.TakeOddBlock(now, peer, 16 << 20));
  std::uint64_t small = 0;
  while (ration.TakeOddBlock(now, peer, 4096)) ++small;
  EXPECT_EQ(small, Ration::kOddMessagesASecond / 4 - 1);
  EXPECT_TRUE(ration.TakeOddMessage(now, peer)) << "one is left";
  EXPECT_FALSE(ration.TakeOddMessage(now, peer));
}

// --- what a carrier brings
// ------------------------------------------------------------------------

TEST(RationTest, WhatACarrierBringsUsesUpNobodysRation) {
  Ration ration(kBytes);
  ration.Carry(PeerNumber(1), PeerNumber(5));
  while (ration.TakeOddMessage(kStart, PeerNumber(1))) {
  }
  for (std::uint64_t i = 0; i < Ration::kForgeriesASecond; ++i) {
    ration.CountForgery(kStart, PeerNumber(1));
  }
  EXPECT_FALSE(ration.IsHeard(kStart, PeerNumber(1)));
  ration.EndCarry();
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(1))) << "over its own link";
  EXPECT_TRUE(ration.TakeOddMessage(kStart, PeerNumber(1)));
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(5))) << "the carrier itself";
  ration.Carry(PeerNumber(1), PeerNumber(6));
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(1))) << "by another carrier";
  ration.EndCarry();
  ration.Carry(PeerNumber(2), PeerNumber(5));
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(2))) << "another one's, by the same carrier";
  ration.EndCarry();
}

TEST(RationTest, AMemberIsCarriedForWithinItsRation) {
  Ration ration(kBytes);
  for (std::uint64_t i = 0; i < Ration::kForwardsASecond; ++i) {
    ASSERT_TRUE(ration.TakeForward(kStart, PeerNumber(1), PeerNumber(9), 1)) << i;
  }
  EXPECT_FALSE(ration.TakeForward(kStart, PeerNumber(1), PeerNumber(9), 1));
  EXPECT_TRUE(
      ration.TakeForward(kStart, PeerNumber(1), PeerNumber(8), Ration::kForwardedBytesASecond));
  EXPECT_FALSE(ration.TakeForward(kStart, PeerNumber(1), PeerNumber(8), 1));
  EXPECT_TRUE(ration.TakeForward(kStart + base::Seconds(1), PeerNumber(1), PeerNumber(8), 1));
}

TEST(RationTest, PathsComeUpLessOftenThanLinks) {
  Ration ration(kBytes);
  ration.Carry(PeerNumber(1), PeerNumber(5));
  for (std::uint64_t i = 0; i < Ration::kCarriedRepeatsASecond; ++i) {
    EXPECT_TRUE(ration.TakeRepeat(kStart, PeerNumber(1)));
  }
  EXPECT_FALSE(ration.TakeRepeat(kStart, PeerNumber(1)));
  ration.EndCarry();
  EXPECT_TRUE(ration.TakeRepeat(kStart, PeerNumber(1)));
}

}  // namespace
}  // namespace ostraka::protocol
