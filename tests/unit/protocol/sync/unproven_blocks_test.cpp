#include "node/protocol/sync/unproven_blocks.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/member/whole/past_run.h"

namespace ostraka::protocol::unproven_blocks_test {
namespace {

using scene::PeerNumber;

class UnprovenBlocksTest : public testing::Test {
 protected:
  void Add(std::uint32_t from, std::uint64_t height) {
    unproven_.Add(PeerNumber(from), DigestAt(height), height, Encoded(height));
  }
  bool Holds(std::uint64_t height) { return unproven_.Find(DigestAt(height)) != nullptr; }
  Digest DigestAt(std::uint64_t height) const { return wire::BlockDigest(*run_.blocks[height]); }
  SharedBlob Encoded(std::uint64_t height) const {
    return crypto::MakeBlob(wire::EncodeBlock(*run_.blocks[height]));
  }

  const PastRun run_{2 * kUnprovenBlocks, 1000};
  UnprovenBlocks unproven_;
};

TEST_F(UnprovenBlocksTest, TheLowestOfAFullAccountGoFirst) {
  for (std::uint64_t height = 1; height <= kUnprovenBlocks + 2; ++height) Add(0, height);
  EXPECT_EQ(unproven_.size(), kUnprovenBlocks);
  EXPECT_FALSE(Holds(1) || Holds(2));
  EXPECT_TRUE(Holds(3));
}

TEST_F(UnprovenBlocksTest, WhatAnotherSentTooStaysOnItsAccount) {
  Add(0, 1);
  EXPECT_TRUE(unproven_.AddSender(PeerNumber(1), DigestAt(1)));
  EXPECT_FALSE(unproven_.AddSender(PeerNumber(1), DigestAt(2)));
  for (std::uint64_t height = 2; height <= 2 * kUnprovenBlocks; ++height) Add(0, height);
  EXPECT_TRUE(Holds(1));
  EXPECT_EQ(unproven_.size(), kUnprovenBlocks + 1);
}

TEST_F(UnprovenBlocksTest, WhatIsOverIsErased) {
  for (std::uint64_t height = 1; height <= 5; ++height) Add(0, height);
  unproven_.EraseIf([](std::uint64_t height) { return height < 4; });
  EXPECT_EQ(unproven_.size(), 2U);
  EXPECT_EQ(HeightOf(*unproven_.Find(DigestAt(4))), 4U);
}

}  // namespace
}  // namespace ostraka::protocol::unproven_blocks_test
