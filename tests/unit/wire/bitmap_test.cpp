#include "node/wire/bitmap.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ostraka::wire::bitmap_test {
namespace {

std::vector<base::PeerId> TenMembers() {
  std::vector<base::PeerId> members(10);
  for (std::uint8_t i = 0; i < 10; ++i) members[i].bytes[0] = i;
  return members;
}

TEST(BitmapTest, RoundTripsAnySubset) {
  const std::vector<base::PeerId> members = TenMembers();
  for (std::uint32_t subset = 0; subset < 1024; ++subset) {
    std::vector<base::PeerId> senders;
    for (std::uint32_t i = 0; i < 10; ++i) {
      if (((subset >> i) & 1) != 0) senders.push_back(members[i]);
    }
    const base::Bytes bitmap = BitmapOf(senders, members);
    EXPECT_EQ(bitmap, (base::Bytes{static_cast<std::uint8_t>(subset),
                                   static_cast<std::uint8_t>(subset >> 8)}));
    EXPECT_EQ(SendersOf(bitmap, members), senders);
  }
  for (std::uint32_t beyond = 10; beyond < 16; ++beyond) {
    base::Bytes bitmap(2, 0);
    bitmap[1] = static_cast<std::uint8_t>(1U << (beyond - 8));
    EXPECT_EQ(SendersOf(bitmap, members), std::nullopt) << beyond;
  }
}

TEST(BitmapTest, BitmapOfAnotherLengthIsRefused) {
  for (const std::size_t length : {0U, 1U, 3U}) {
    EXPECT_EQ(SendersOf(base::Bytes(length, 0), TenMembers()), std::nullopt) << length;
  }
}

TEST(BitmapTest, NoBitIsSetBeyondTheEndOrForANonMember) {
  EXPECT_FALSE(HasBit({0xff}, 8));
  EXPECT_FALSE(HasBit({}, 0));
  base::PeerId stranger;
  stranger.bytes[0] = 99;
  EXPECT_EQ(BitmapOf({stranger}, TenMembers()), base::Bytes(2, 0));
}

}  // namespace
}  // namespace ostraka::wire::bitmap_test
