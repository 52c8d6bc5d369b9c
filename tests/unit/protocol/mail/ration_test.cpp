#include "node/protocol/mail/ration.h"

#include <gtest/gtest.h>

#include "node/wire/limits.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::ration_test {
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

TEST(RationTest, WhatIsLookedAtAndNotSentIsCounted) {
  Ration ration(kBytes);
  EXPECT_TRUE(ration.TakeLooks(kStart, PeerNumber(1), Ration::kLooksAUnit - 1));
  EXPECT_TRUE(
      ration.TakeLooks(kStart, PeerNumber(1), Ration::kLooksAUnit * (Ration::kAnswersASecond - 1)));
  EXPECT_FALSE(ration.TakeLooks(kStart, PeerNumber(1), 2 * Ration::kLooksAUnit));
  EXPECT_FALSE(ration.Take(kStart, PeerNumber(1))) << "what was left is used up";
  EXPECT_TRUE(ration.Take(kStart, PeerNumber(2)));
}

// Attack: links of ever new keys, each of which has a record.
TEST(RationTest, RecordsOfStrangersAreForgottenWhenTheirSecondIsOver) {
  Ration ration(kBytes);
  const auto most = static_cast<std::uint32_t>(Ration::kMostStrangers);
  for (std::uint32_t i = 0; i < most; ++i) ration.CountForgery(kStart, PeerNumber(i));
  ration.CheckInvariants(0);
  const base::Time later = kStart + base::Milliseconds(1500);
  for (std::uint32_t i = 0; i < most; ++i) ration.CountForgery(later, PeerNumber(most + i));
  ration.CheckInvariants(0);
}

TEST(RationTest, PruningForgetsNobodyInItsSecond) {
  Ration ration(kBytes);
  const auto most = static_cast<std::uint32_t>(Ration::kMostStrangers);
  for (std::uint32_t i = 0; i < most; ++i) ration.CountForgery(kStart, PeerNumber(i));
  const base::Time later = kStart + base::Milliseconds(900);
  const PeerId forger = PeerNumber(most);
  for (std::uint64_t i = 0; i < Ration::kForgeriesASecond; ++i) ration.CountForgery(later, forger);
  const base::Time then = kStart + base::Milliseconds(1500);
  ration.CountForgery(then, PeerNumber(most + 1));
  EXPECT_FALSE(ration.IsHeard(then, forger));
}

// Attack: many links of keys that are not of the run, each with three signatures to verify.
TEST(RationTest, StrangersHaveOneForAll) {
  Ration ration(kBytes);
  for (std::uint64_t i = 0; i < Ration::kOneStrangerASecond; ++i) {
    EXPECT_TRUE(ration.TakeStranger(kStart, PeerNumber(1)));
  }
  EXPECT_FALSE(ration.TakeStranger(kStart, PeerNumber(1)));
  std::uint64_t taken = Ration::kOneStrangerASecond;
  for (std::uint32_t i = 2; i < 1000; ++i) taken += ration.TakeStranger(kStart, PeerNumber(i));
  EXPECT_EQ(taken, Ration::kStrangersASecond);
  EXPECT_TRUE(ration.TakeOddMessage(kStart, PeerNumber(5))) << "that of members is another one";
  EXPECT_TRUE(ration.TakeStranger(kStart + base::Seconds(1), PeerNumber(1)));
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

// --- what a carrier brings -----------------------------------------------------------------------

constexpr std::uint64_t kShares = 4;

TEST(RationTest, WhatACarrierBringsUsesUpNobodysRation) {
  Ration ration(kBytes);
  ration.Carry(PeerNumber(1), PeerNumber(5), kShares);
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
  ration.Carry(PeerNumber(1), PeerNumber(6), kShares);
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(1))) << "by another carrier";
  ration.EndCarry();
  ration.Carry(PeerNumber(2), PeerNumber(5), kShares);
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(2))) << "another one's, by the same carrier";
  ration.EndCarry();
}

// What a carrier costs is no more than its own link may, for however many members it carries.
TEST(RationTest, ACarrierHasNoMoreForAllThanForItself) {
  Ration ration(kBytes);
  std::uint64_t forgeries = 0;
  std::uint64_t odd = 0;
  std::uint64_t answers = 0;
  std::uint64_t bytes = 0;
  std::uint64_t carried = 0;
  for (std::uint32_t member = 1; member <= kShares; ++member) {
    const PeerId from = PeerNumber(member);
    ration.Carry(from, PeerNumber(64), kShares);
    for (; ration.IsHeard(kStart, from); ++forgeries) ration.CountForgery(kStart, from);
    while (ration.TakeOddMessage(kStart, from)) ++odd;
    while (ration.Take(kStart, from)) ++answers;
    while (ration.TakeCarriedAnswer(kStart, from, 1)) ++carried;
    ration.EndCarry();
    ration.Carry(from, PeerNumber(128), kShares);
    while (ration.Take(kStart, from, 1)) ++bytes;
    ration.EndCarry();
  }
  EXPECT_EQ(forgeries, Ration::kForgeriesASecond);
  EXPECT_EQ(odd, Ration::kOddMessagesASecond);
  EXPECT_EQ(answers, Ration::kAnswersASecond);
  EXPECT_EQ(bytes, kBytes);
  EXPECT_EQ(carried, Ration::kCarriedAnswersASecond);
}

TEST(RationTest, EachCarriedMemberHasSomething) {
  Ration ration(kBytes);
  ration.Carry(PeerNumber(1), PeerNumber(9), 100'000);
  EXPECT_TRUE(ration.IsHeard(kStart, PeerNumber(1)));
  EXPECT_TRUE(ration.TakeOddMessage(kStart, PeerNumber(1)));
  EXPECT_TRUE(ration.Take(kStart, PeerNumber(1)));
  EXPECT_TRUE(ration.TakeCarriedAnswer(kStart, PeerNumber(1), 1 << 20)) << "however long";
  EXPECT_FALSE(ration.TakeCarriedAnswer(kStart, PeerNumber(1), 1));
  EXPECT_TRUE(ration.TakeCarriedAnswer(kStart + base::Seconds(1), PeerNumber(1), 1));
  ration.EndCarry();
}

TEST(RationTest, CarriedAnswersEndWithTheirBytes) {
  Ration ration(kBytes);
  ration.Carry(PeerNumber(1), PeerNumber(9), kShares);
  const std::uint64_t share = Ration::kCarriedAnswerBytesASecond / kShares;
  EXPECT_TRUE(ration.TakeCarriedAnswer(kStart, PeerNumber(1), share - 1));
  EXPECT_TRUE(ration.TakeCarriedAnswer(kStart, PeerNumber(1), 1));
  EXPECT_FALSE(ration.TakeCarriedAnswer(kStart, PeerNumber(1), 1));
  ration.EndCarry();
}

TEST(RationTest, AMemberIsCarriedForWithinItsRation) {
  Ration ration(kBytes);
  const auto take = [&](std::uint32_t to, std::uint64_t bytes, base::Time now = kStart) {
    return ration.TakeForward(now, PeerNumber(1), PeerNumber(to), bytes, /*service=*/false);
  };
  for (std::uint64_t i = 0; i < Ration::kForwardsASecond; ++i) ASSERT_TRUE(take(9, 1)) << i;
  EXPECT_FALSE(take(9, 1));
  EXPECT_TRUE(take(8, Ration::kForwardedBytesASecond));
  EXPECT_FALSE(take(8, 1));
  EXPECT_TRUE(take(8, 1, kStart + base::Seconds(1)));
}

// A member may be made to answer: what it signs passes all the same, and what it asks too if it
// signs much.
TEST(RationTest, RequestsAndAnswersAreCarriedApartFromWhatIsSigned) {
  Ration ration(kBytes);
  const auto take = [&](std::uint64_t bytes, bool service) {
    return ration.TakeForward(kStart, PeerNumber(1), PeerNumber(9), bytes, service);
  };
  for (std::uint64_t i = 0; i < Ration::kForwardedServicesASecond; ++i) {
    ASSERT_TRUE(take(1, true)) << i;
  }
  EXPECT_FALSE(take(1, true));
  EXPECT_TRUE(take(Ration::kForwardedBytesASecond, false));
  EXPECT_FALSE(take(1, false));
  const base::Time later = kStart + base::Seconds(1);
  EXPECT_TRUE(
      ration.TakeForward(later, PeerNumber(1), PeerNumber(9), wire::kMaxForwardedBytes, true))
      << "the longest PROOF can be shown";
  EXPECT_FALSE(ration.TakeForward(later, PeerNumber(1), PeerNumber(9), 1, true));
}

TEST(RationTest, ACarrierThatBringsManyBringsEachLessOften) {
  Ration ration(kBytes);
  ration.Carry(PeerNumber(1), PeerNumber(5), 4 * Ration::kRepeatsASecond);
  EXPECT_TRUE(ration.TakeRepeat(kStart, PeerNumber(1)));
  EXPECT_FALSE(ration.TakeRepeat(kStart, PeerNumber(1)));
  ration.EndCarry();
}

TEST(RationTest, PathsComeUpLessOftenThanLinks) {
  Ration ration(kBytes);
  ration.Carry(PeerNumber(1), PeerNumber(5), kShares);
  for (std::uint64_t i = 0; i < Ration::kCarriedRepeatsASecond; ++i) {
    EXPECT_TRUE(ration.TakeRepeat(kStart, PeerNumber(1)));
  }
  EXPECT_FALSE(ration.TakeRepeat(kStart, PeerNumber(1)));
  ration.EndCarry();
  EXPECT_TRUE(ration.TakeRepeat(kStart, PeerNumber(1)));
}

}  // namespace
}  // namespace ostraka::protocol::ration_test
