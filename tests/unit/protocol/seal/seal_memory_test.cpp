// The memory of one Seal under members that send whatever makes it keep more: seal.h, "Memory".
#include <gtest/gtest.h>

#include "node/protocol/seal/seal_ballots.h"
#include "tests/unit/protocol/seal/seal_fixture.h"

namespace ostraka::protocol {
namespace {

using scene::DigestOf;
using wire::MessageType;

class SealMemoryTest : public SealTest {
 protected:
  std::size_t Count(MessageType type) const { return seal_->Frames(type).size(); }
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

}  // namespace
}  // namespace ostraka::protocol
