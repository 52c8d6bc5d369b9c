#include "sim/engine/memo_verifier.h"

#include <gtest/gtest.h>

#include <memory>

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::sim::memo_verifier_test {
namespace {

crypto::SigningKey Key(std::uint8_t number) {
  return crypto::SigningKey::FromSeed(base::Bytes(crypto::SigningKey::kSeedSize, number));
}
base::Digest DigestNumber(std::uint64_t number) {
  return crypto::Hasher(crypto::kDomainTrace).UpdateU64(number).Finish();
}

TEST(MemoVerifier, VerifiesATripleOnceForAll) {
  const crypto::SigningKey key = Key(1);
  const base::Digest digest = DigestNumber(1);
  const crypto::Signature signature = key.Sign(digest);
  MemoVerifier verifier;
  for (int peer = 0; peer < 16; ++peer) EXPECT_TRUE(verifier.Verify(key.id(), digest, signature));
  EXPECT_EQ(verifier.verified_for_real(), 1U);
}

TEST(MemoVerifier, RefusesABadSignatureEachTime) {
  const crypto::SigningKey key = Key(1);
  const base::Digest digest = DigestNumber(1);
  crypto::Signature bad = key.Sign(digest);
  bad.bytes[40] ^= 1;
  MemoVerifier verifier;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    EXPECT_FALSE(verifier.Verify(key.id(), digest, bad));
    EXPECT_EQ(verifier.verified_for_real(), i);
  }
  EXPECT_EQ(verifier.remembered(), 0U);
}

// A verified triple vouches for no triple that differs from it in any part.
TEST(MemoVerifier, GoodTripleVouchesForNoOther) {
  const crypto::SigningKey key = Key(1);
  const base::Digest digest = DigestNumber(1);
  const crypto::Signature signature = key.Sign(digest);
  MemoVerifier verifier;
  ASSERT_TRUE(verifier.Verify(key.id(), digest, signature));
  EXPECT_FALSE(verifier.Verify(Key(2).id(), digest, signature));
  EXPECT_FALSE(verifier.Verify(key.id(), DigestNumber(2), signature));
  for (std::size_t byte = 0; byte < crypto::Signature::kSize; ++byte) {
    crypto::Signature other = signature;
    other.bytes[byte] ^= 0x10;
    EXPECT_FALSE(verifier.Verify(key.id(), digest, other)) << byte;
  }
}

TEST(MemoVerifier, WhatANotedKeySignedIsNotVerified) {
  const auto memo = std::make_shared<MemoVerifier>();
  const NotedKey key(Key(1), memo);
  const base::Digest digest = DigestNumber(1);
  const crypto::Signature signature = key.Sign(digest);
  EXPECT_EQ(signature, Key(1).Sign(digest));
  EXPECT_EQ(key.Sign(digest), signature) << "once more";
  EXPECT_TRUE(memo->Verify(key.id(), digest, signature));
  EXPECT_EQ(memo->verified_for_real(), 0U);
  EXPECT_EQ(memo->remembered(), 1U);
  EXPECT_FALSE(memo->Verify(Key(2).id(), digest, signature));
  EXPECT_FALSE(memo->Verify(key.id(), DigestNumber(2), signature));
  EXPECT_TRUE(memo->Verify(Key(2).id(), digest, Key(2).Sign(digest))) << "a stranger's";
  EXPECT_EQ(memo->verified_for_real(), 3U);
}

TEST(MemoVerifier, ForgetsTheOldestAndStaysBounded) {
  const crypto::SigningKey key = Key(1);
  MemoVerifier verifier(/*capacity=*/8);
  const auto verify = [&](std::uint64_t i) {
    const base::Digest digest = DigestNumber(i);
    return verifier.Verify(key.id(), digest, key.Sign(digest));
  };
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(verify(i));
    EXPECT_LE(verifier.remembered(), 16U);
  }
  const std::uint64_t before = verifier.verified_for_real();
  EXPECT_TRUE(verify(99));
  EXPECT_EQ(verifier.verified_for_real(), before) << "the newest is remembered";
  EXPECT_TRUE(verify(0));
  EXPECT_EQ(verifier.verified_for_real(), before + 1) << "the oldest is verified again";
}

}  // namespace
}  // namespace ostraka::sim::memo_verifier_test
