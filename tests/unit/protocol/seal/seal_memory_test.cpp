// The memory of one Seal under members that send whatever makes it keep more: seal.h, "Memory".
#include <gtest/gtest.h>

#include "crypto/sign.h"
#include "node/protocol/seal/inside/memory.h"
#include "node/protocol/seal/seal_ballots.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/seal/seal_fixture.h"

namespace ostraka::protocol::seal_memory_test {
namespace {

using scene::DigestOf;
using wire::MessageType;

class SealMemoryTest : public SealTest {
 protected:
  std::size_t Count(MessageType type) const { return seal_->Frames(type).size(); }
  std::size_t CountAll() const {
    std::size_t count = 0;
    for (const MessageType type : {MessageType::kEcho, MessageType::kClose, MessageType::kStatus,
                                   MessageType::kPropose, MessageType::kVote, MessageType::kLock}) {
      count += Count(type);
    }
    return count;
  }
  // LOCKs of ever later iterations displace each other; each brings its VOTE with it.
  void HearPairs(std::uint32_t sender, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t k = first; k < first + count; ++k) {
      HearLock(sender, k, DigestOf(10'000 + k));
      HearVote(sender, k, DigestOf(10'000 + k));
    }
  }
};

TEST_F(SealMemoryTest, AVoteGoesWithTheLastLockThatNeededIt) {
  Echo();
  HearPairs(4, 100, 500);
  EXPECT_EQ(Count(MessageType::kLock), Locks::kLocksOfOne);
  EXPECT_EQ(Count(MessageType::kVote), Locks::kLocksOfOne);
}

// No iteration begins any more that could forget them.
TEST_F(SealMemoryTest, AVoteGoesWithItsLockAfterTheDecisionToo) {
  held_.erase(2);
  Echo();
  for (std::uint32_t i = 1; i <= 3; ++i) HearLock(i, 1, EchoOf(All()).vector);
  ASSERT_FALSE(seal_->Certificate().empty());
  ASSERT_EQ(seal_->decision(), std::nullopt);
  HearPairs(4, 100, 500);
  EXPECT_LE(Count(MessageType::kVote), Locks::kLocksOfOne);
}

// Two liars claim another lock of rank 1 in each iteration, and echo its value.
TEST_F(SealMemoryTest, AFurtherEchoGoesWithTheClaimsThatNeededIt) {
  Echo();
  for (std::uint32_t i = 1; i < kMembers; ++i) HearEcho(i, Without(i));
  for (std::uint32_t k = 1; k <= 40; ++k) {
    for (std::uint32_t i = 1; i <= 2; ++i) HearStatus(i, k, 0, EchoOf(Without(i)).vector);
    for (std::uint32_t i = 3; i <= 4; ++i) HearStatus(i, k, 1, DigestOf(1000 * i + k));
    ASSERT_EQ(seal_->iteration(), k);
    for (std::uint32_t i = 3; i <= 4; ++i) {
      for (std::uint32_t of = 3; of <= 4; ++of) {
        Hear(Frame(i, MessageType::kEcho, 0,
                   wire::Encode(wire::Echo{DigestOf(1000 * of + k), {0xff}, {}})));
      }
    }
  }
  // The first of each member, and four for each of the last two iterations.
  EXPECT_LE(Count(MessageType::kEcho), kMembers + 8);
}

// All others lie. Nothing that they send takes more than seal.h says, and nothing aborts.
TEST_F(SealMemoryTest, WhatAllOthersSendTogetherStaysWithinTheBound) {
  Echo();
  std::size_t most = 0;
  for (std::uint32_t k = 20; k < 32; ++k) {
    const auto value = [k](std::uint32_t i, std::uint32_t j) {
      return DigestOf(1'000'000 + 1000 * k + 10 * i + j);
    };
    for (std::uint32_t i = 1; i < kMembers; ++i) {
      HearClose(i);
      for (std::uint32_t j = 0; j < 3; ++j) {
        HearStatus(i, k, 1, value(i, j));
      }
      for (std::uint32_t j = 0; j < 6; ++j) HearLock(i, k - 3 * j, value(i, j));
      wire::Propose propose;
      for (std::uint32_t j = 0; j < 3; ++j) {
        propose.value = value(i, j);
        propose.rank = 1;
        if (Leader(k) == 0) continue;
        Hear(Frame(Leader(k), MessageType::kPropose, k, wire::Encode(propose)));
      }
    }
    for (std::uint32_t i = 1; i < kMembers; ++i) {
      for (std::uint32_t of = 1; of < kMembers; ++of) {
        for (std::uint32_t j = 0; j < 6; ++j) {
          Hear(Frame(i, MessageType::kEcho, 0, wire::Encode(wire::Echo{value(of, j), {}, {}})));
          HearVote(i, k, value(of, j));
          HearVote(i, k - 3 * j, value(of, j));
        }
      }
    }
    most = std::max(most, CountAll());
    EXPECT_LE(CountAll(), MostFrames(kMembers)) << k;
  }
  EXPECT_GT(most, 18 * kMembers + 8) << "ballots for false locks are among them";
}

TEST(SealMemoryBoundTest, IsTheFormulaOfTheContract) {
  for (const std::size_t u : {1u, 5u, 64u, 256u}) {
    EXPECT_EQ(MostFrames(u), 18 * u + 8 + u * (8 * u + 15));
    EXPECT_EQ(MostVectors(u), u + 14);
  }
}

// The largest bodies that the wire lets in.
TEST(SealMemoryBoundTest, NoFrameIsLargerThanItSays) {
  const base::Bytes bitmap(wire::kMaxBitmapBytes, 0xff);
  wire::Propose propose;
  propose.value = DigestOf(1);
  propose.statuses_root = DigestOf(2);
  propose.statuses = base::Bytes(wire::kMaxPeers / 8, 0xff);
  const base::Bytes echo = wire::Encode(wire::Echo{DigestOf(1), bitmap, bitmap});
  ASSERT_TRUE(wire::Decode<wire::Echo>(echo).ok());
  for (const auto& message : {Frame(1, MessageType::kEcho, 0, echo),
                              Frame(1, MessageType::kPropose, 1, wire::Encode(propose))}) {
    EXPECT_LE(message.frame->size() + crypto::Signature::kSize, kMostFrameBytes);
  }
}

}  // namespace
}  // namespace ostraka::protocol::seal_memory_test
