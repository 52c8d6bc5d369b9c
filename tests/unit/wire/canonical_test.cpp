// One encoding for each value; and no malformed message passes the decoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/base/rng.h"
#include "node/wire/limits.h"
#include "tests/unit/wire/hostile.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::wire::canonical_test {
namespace {

using testing::HasSubstr;

std::string WhyNotProof(const Bytes& bytes) {
  const auto decoded = Decode<Proof>(bytes);
  return decoded.ok() ? "decoded" : base::MessageOf(decoded.status());
}

std::string WhyNotBoot(const Words& words) {
  const auto decoded = Decode<Boot>(ToBytes(words));
  return decoded.ok() ? "decoded" : base::MessageOf(decoded.status());
}

// BOOT by hand: root pointer, version, boot id's pointer, boot id.
Words BootWords() {
  return {StructPointer(0, 1, 1),
          SampleBoot().protocol_version,
          ListPointer(0, ElementSize::kByte, 32),
          0x1111111111111111,
          0x1111111111111111,
          0x1111111111111111,
          0x1111111111111111};
}

TEST(CanonicalTest, HandMadeBootIsTheEncodedOne) {
  EXPECT_EQ(ToBytes(BootWords()), Encode(SampleBoot()));
  EXPECT_EQ(WhyNotBoot(BootWords()), "decoded");
}

TEST(CanonicalTest, BombsAreRefused) {
  for (const Bomb& bomb : ProofBombs()) {
    const auto decoded = Decode<Proof>(bomb.proof);
    ASSERT_FALSE(decoded.ok()) << bomb.name;
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument) << bomb.name;
    EXPECT_LT(base::MessageOf(decoded.status()).size(), 200u) << bomb.name;
  }
}

TEST(CanonicalTest, SharedContentIsRefusedEvenWithinTheTraversalLimit) {
  const auto bombs = ProofBombs();
  const auto twice = std::find_if(bombs.begin(), bombs.end(), [](const Bomb& bomb) {
    return bomb.name == "one piece of evidence twice";
  });
  ASSERT_NE(twice, bombs.end());
  EXPECT_THAT(WhyNotProof(twice->proof), HasSubstr("canonical"));
}

TEST(CanonicalTest, PaddingInAStructIsRefused) {
  Words words = BootWords();
  words[0] = StructPointer(0, 2, 1);
  words.insert(words.begin() + 2, 0);
  EXPECT_THAT(WhyNotBoot(words), HasSubstr("canonical"));
}

TEST(CanonicalTest, FieldsOfALaterSchemaAreRefused) {
  Words words = BootWords();
  words[0] = StructPointer(0, 2, 1);
  words.insert(words.begin() + 2, 7);
  EXPECT_THAT(WhyNotBoot(words), HasSubstr("canonical"));
  words = BootWords();
  words[1] |= std::uint64_t{1} << 32;  // a field in the padding of the version's word
  EXPECT_THAT(WhyNotBoot(words), HasSubstr("canonical"));
}

TEST(CanonicalTest, GapsAreRefused) {
  Words words = BootWords();
  words[2] = ListPointer(1, ElementSize::kByte, 32);
  words.insert(words.begin() + 3, 0);
  EXPECT_THAT(WhyNotBoot(words), HasSubstr("canonical"));
}

TEST(CanonicalTest, TrailingWordsAreRefused) {
  Words words = BootWords();
  words.push_back(0);
  EXPECT_THAT(WhyNotBoot(words), HasSubstr("canonical"));
}

TEST(CanonicalTest, FarPointersAreRefused) {
  Words words = BootWords();
  const std::uint64_t root = words[0];
  words[0] = FarPointer(0, static_cast<std::uint32_t>(words.size()));
  // The landing pad: the root's content now lies before it.
  words.push_back(root | static_cast<std::uint32_t>(-static_cast<int>(words.size())) << 2);
  EXPECT_NE(WhyNotBoot(words), "decoded");
  words = BootWords();
  words[0] = FarPointer(7, 0);  // no such segment
  EXPECT_NE(WhyNotBoot(words), "decoded");
}

TEST(CanonicalTest, EmptyIsNullNotAnEmptyList) {
  const std::uint64_t empty = ListPointer(0, ElementSize::kByte, 0);
  const Words held = {StructPointer(0, 0, 7), 0, 0, 0, 0, 0, 0, empty};
  EXPECT_THAT(WhyNotProof(ToBytes(held)), HasSubstr("canonical"));
  const Words state_root = {StructPointer(0, 0, 5), 0, 0, 0, 0, empty};
  EXPECT_THAT(WhyNotProof(ToBytes(state_root)), HasSubstr("state root: must be 32 bytes"));
}

TEST(CanonicalTest, TheStreamFramingIsRefused) {
  Words words = BootWords();
  words.insert(words.begin(), static_cast<std::uint64_t>(words.size()) << 32);
  EXPECT_NE(WhyNotBoot(words), "decoded");
}

TEST(CanonicalTest, OutOfBoundsPointersAreRefused) {
  Words words = BootWords();
  words[2] = ListPointer(1 << 20, ElementSize::kByte, 32);
  EXPECT_NE(WhyNotBoot(words), "decoded");
  words[2] = ListPointer(-1000, ElementSize::kByte, 32);
  EXPECT_NE(WhyNotBoot(words), "decoded");
  words[0] = StructPointer(-1, 1, 1);
  EXPECT_NE(WhyNotBoot(words), "decoded");
}

TEST(CanonicalTest, LengthIsWholeWords) {
  Bytes bytes = ToBytes(BootWords());
  bytes.push_back(0);
  EXPECT_THAT(base::MessageOf(Decode<Boot>(bytes).status()), HasSubstr("multiple of 8"));
}

TEST(CanonicalTest, LengthLimitComesFirst) {
  const Bytes huge(kMaxFrameBytes + 8);
  EXPECT_THAT(WhyNotProof(huge), HasSubstr("too long"));
  EXPECT_THAT(base::MessageOf(DecodeBlock(Bytes(kMaxBlockBytes + 8)).status()),
              HasSubstr("too long"));
  EXPECT_THAT(base::MessageOf(DecodeEvidence(Bytes(kMaxEvidenceFileBytes + 8)).status()),
              HasSubstr("too long"));
}

// Whatever decodes also encodes to exactly the bytes it came from.
TEST(CanonicalTest, DamagedSamplesReencodeToTheirBytesOrAreRefused) {
  base::Rng rng(1);
  const Bytes sample = Encode(SampleProof());
  std::size_t decoded_count = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = sample;
    for (std::uint64_t edits = 1 + rng.Below(3); edits > 0; --edits) {
      bytes[rng.Below(bytes.size())] = static_cast<std::uint8_t>(rng.Next());
    }
    const auto decoded = Decode<Proof>(bytes);
    if (!decoded.ok()) continue;
    ++decoded_count;
    ASSERT_EQ(Encode(*decoded), bytes) << round;
  }
  EXPECT_GT(decoded_count, 1000u);  // damage to contents; otherwise this test proves nothing
}

}  // namespace
}  // namespace ostraka::wire::canonical_test
