#include "node/base/ids.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <type_traits>

namespace ostraka::base::ids_test {
namespace {

static_assert(!std::is_convertible_v<Digest, PeerId> && !std::is_convertible_v<PeerId, Digest>,
              "one kind of id must not be taken for another");
static_assert(sizeof(PeerId) == 32, "ids are copied to the wire as they are");

PeerId Counting() {
  PeerId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(i);
  return id;
}

TEST(Ids, AreZeroUntilSet) {
  EXPECT_TRUE(Digest{}.is_zero());
  for (std::size_t i = 0; i < Digest::kSize; ++i) {
    Digest digest;
    digest.bytes[i] = 1;
    EXPECT_FALSE(digest.is_zero()) << "byte " << i;
  }
}

TEST(Ids, ShowAllDigitsOrTheFirstSixteen) {
  EXPECT_EQ(Counting().Hex(), "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  EXPECT_EQ(Counting().Short(), "0001020304050607");
}

TEST(Ids, ComeFromExactly32Bytes) {
  const PeerId id = Counting();
  const Bytes bytes(id.bytes.begin(), id.bytes.end());
  EXPECT_EQ(PeerId::FromBytes(bytes), id);
  EXPECT_EQ(PeerId::FromBytes(ByteView(bytes).first(31)), std::nullopt);
  EXPECT_EQ(PeerId::FromBytes(Bytes(33)), std::nullopt);
  EXPECT_EQ(PeerId::FromBytes({}), std::nullopt);
}

TEST(Ids, ComeFromExactly64Digits) {
  EXPECT_EQ(PeerId::FromHexDigits(Counting().Hex()), Counting());
  EXPECT_EQ(PeerId::FromHexDigits(Counting().Short()), std::nullopt);
  EXPECT_EQ(PeerId::FromHexDigits(std::string(64, 'g')), std::nullopt);
  EXPECT_EQ(PeerId::FromHexDigits(Counting().Hex() + "00"), std::nullopt);
}

// "By key" in the protocol is the order of the bytes as unsigned numbers, first byte first.
RC_GTEST_PROP(Ids, SortByTheirBytes, (Bytes left_tail, Bytes right_tail)) {
  left_tail.resize(PeerId::kSize);
  right_tail.resize(PeerId::kSize);
  const auto left = PeerId::FromBytes(left_tail);
  const auto right = PeerId::FromBytes(right_tail);
  RC_ASSERT((*left < *right) == std::lexicographical_compare(left_tail.begin(), left_tail.end(),
                                                             right_tail.begin(), right_tail.end()));
  RC_ASSERT((*left == *right) == (left_tail == right_tail));
}

TEST(Ids, SortByTheFirstByteThatDiffersAsAnUnsignedNumber) {
  for (std::size_t i = 0; i < PeerId::kSize; ++i) {
    PeerId small = Counting();
    PeerId large = Counting();
    small.bytes[i] = 0x7f;
    large.bytes[i] = 0x80;
    for (std::size_t j = i + 1; j < PeerId::kSize; ++j) small.bytes[j] = 0xff;
    EXPECT_LT(small, large) << "byte " << i;
    EXPECT_NE(small, large) << "byte " << i;
    EXPECT_FALSE(large < small) << "byte " << i;
  }
}

}  // namespace
}  // namespace ostraka::base::ids_test
