#include "crypto/sign.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace ostraka::crypto::sign_test {
namespace {

using base::Bytes;
using base::FromHex;

SigningKey KeyOfHex(std::string_view seed) { return SigningKey::FromSeed(*FromHex(seed)); }

Digest Counting() {
  Digest digest;
  std::iota(digest.bytes.begin(), digest.bytes.end(), std::uint8_t{0});
  return digest;
}

std::string Hex(const Signature& signature) { return base::ToHex(signature.bytes); }

TEST(SigningKey, DerivesThePublicKeysOfRfc8032) {
  // RFC 8032, 7.1: tests 1, 2 and 3. (Their messages are no digests; the signature below is.)
  EXPECT_EQ(KeyOfHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").id().Hex(),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(KeyOfHex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").id().Hex(),
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  EXPECT_EQ(KeyOfHex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7").id().Hex(),
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025");
}

TEST(SigningKey, SignsAsOpenSslDoes) {
  // The key of RFC 8032's test 1 over the bytes 0..31, by OpenSSL.
  const SigningKey key =
      KeyOfHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  EXPECT_EQ(Hex(key.Sign(Counting())),
            "00c1db988bb12fd7351a6054ae3fac90fab7e4fc56b1651c7181f5f55f896f66"
            "3933d3a90605d9058e9d0ac45950ee2d3c9c9b14857415587179fe0ccac35f09");
}

TEST(SigningKey, ReturnsItsSeed) {
  const Bytes seed(32, 0x5c);
  const SigningKey key = SigningKey::FromSeed(seed);
  EXPECT_TRUE(std::ranges::equal(key.seed(), seed));
  EXPECT_EQ(SigningKey::FromSeed(key.seed()).id(), key.id());
}

TEST(SigningKey, GeneratesDistinctKeys) {
  std::set<PeerId> ids;
  for (int i = 0; i < 20; ++i) ids.insert(SigningKey::Generate().id());
  EXPECT_EQ(ids.size(), 20u);
}

TEST(SigningKeyDeathTest, RefusesMisuse) {
  EXPECT_DEATH(SigningKey::FromSeed(Bytes(31)), "CHECK failed");
  SigningKey from = SigningKey::FromSeed(Bytes(32, 1));
  const SigningKey to = std::move(from);
  EXPECT_DEATH(from.Sign(Digest{}), "CHECK failed");  // NOLINT(bugprone-use-after-move)
  EXPECT_DEATH(from.seed(), "CHECK failed");
}

TEST(PlainVerifier, AcceptsOnlyTheSignerTheDigestAndTheSignature) {
  const SigningKey key = SigningKey::FromSeed(Bytes(32, 1));
  const Digest digest = Counting();
  const Signature signature = key.Sign(digest);
  PlainVerifier verifier;
  ASSERT_TRUE(verifier.Verify(key.id(), digest, signature));
  EXPECT_FALSE(verifier.Verify(SigningKey::FromSeed(Bytes(32, 2)).id(), digest, signature));
  for (std::size_t bit = 0; bit < 512; ++bit) {
    Signature altered = signature;
    altered.bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    EXPECT_FALSE(verifier.Verify(key.id(), digest, altered)) << "bit " << bit;
  }
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Digest altered = digest;
    altered.bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    EXPECT_FALSE(verifier.Verify(key.id(), altered, signature)) << "bit " << bit;
    PeerId other = key.id();
    other.bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    EXPECT_FALSE(verifier.Verify(other, digest, signature)) << "bit " << bit;
  }
}

// The signature with S + L in place of S (L: the order of the base point) also fulfils the
// equation. If it were accepted, anyone could make a second signature of a message.
TEST(PlainVerifier, RefusesASecondEncodingOfASignature) {
  const Bytes order = *FromHex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  const SigningKey key = SigningKey::FromSeed(Bytes(32, 1));
  Signature signature = key.Sign(Counting());
  unsigned carry = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    carry += signature.bytes[32 + i] + unsigned{order[i]};
    signature.bytes[32 + i] = static_cast<std::uint8_t>(carry);
    carry >>= 8;
  }
  ASSERT_EQ(carry, 0u);
  EXPECT_FALSE(PlainVerifier().Verify(key.id(), Counting(), signature));
}

// Under a key of small order one signature would be valid for many messages.
TEST(PlainVerifier, RefusesKeysOfSmallOrder) {
  PeerId neutral;
  neutral.bytes[0] = 1;
  Signature signature;  // R = the neutral element, S = 0
  signature.bytes[0] = 1;
  EXPECT_FALSE(PlainVerifier().Verify(neutral, Counting(), signature));
  EXPECT_FALSE(PlainVerifier().Verify(PeerId{}, Counting(), Signature{}));
}

TEST(IsKey, KnowsWhatNobodyCanHave) {
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(IsKey(SigningKey::Generate().id()));
  EXPECT_FALSE(IsKey(PeerId{})) << "of small order";
  PeerId neutral;
  neutral.bytes[0] = 1;
  EXPECT_FALSE(IsKey(neutral));
  PeerId top;
  top.bytes.fill(0xff);
  EXPECT_FALSE(IsKey(top)) << "not canonical";
  int keys = 0;
  for (int i = 0; i < 1000; ++i) {
    PeerId drawn;
    FillRandom(drawn.bytes);
    keys += IsKey(drawn) ? 1 : 0;
  }
  EXPECT_LT(keys, 150) << "about one of sixteen";
}

TEST(FillRandom, FillsTheWholeSpan) {
  // A byte that is never written would stay zero in all 64 draws; a random byte does so with
  // 2^-512.
  std::array<std::uint8_t, 33> seen{};
  for (int i = 0; i < 64; ++i) {
    std::array<std::uint8_t, 33> draw{};
    FillRandom(draw);
    for (std::size_t j = 0; j < seen.size(); ++j) seen[j] |= draw[j];
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](std::uint8_t b) { return b != 0; }));
  FillRandom({});
}

TEST(Initialize, MayBeCalledAgain) { EXPECT_TRUE(Initialize().ok()); }

}  // namespace
}  // namespace ostraka::crypto::sign_test
