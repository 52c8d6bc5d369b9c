#include "crypto/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <string>

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::crypto::stream_test {
namespace {

using base::Bytes;
using testing::ElementsAre;

Digest Counting() {
  Digest digest;
  std::iota(digest.bytes.begin(), digest.bytes.end(), std::uint8_t{0});
  return digest;
}

Bytes Take(Stream& stream, std::size_t size) {
  Bytes bytes(size);
  stream.Fill(bytes);
  return bytes;
}

void QuarterRound(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
  a += b, d = std::rotl(d ^ a, 16);
  c += d, b = std::rotl(b ^ c, 12);
  a += b, d = std::rotl(d ^ a, 8);
  c += d, b = std::rotl(b ^ c, 7);
}

// ChaCha20's block function as RFC 8439, 2.3 defines it: the reference for the stream.
Bytes ReferenceBlock(ByteView key, std::uint32_t counter, ByteView nonce) {
  std::array<std::uint32_t, 16> start{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  std::memcpy(&start[4], key.data(), 32);
  start[12] = counter;
  std::memcpy(&start[13], nonce.data(), 12);
  std::array<std::uint32_t, 16> x = start;
  for (int i = 0; i < 10; ++i) {
    QuarterRound(x[0], x[4], x[8], x[12]);
    QuarterRound(x[1], x[5], x[9], x[13]);
    QuarterRound(x[2], x[6], x[10], x[14]);
    QuarterRound(x[3], x[7], x[11], x[15]);
    QuarterRound(x[0], x[5], x[10], x[15]);
    QuarterRound(x[1], x[6], x[11], x[12]);
    QuarterRound(x[2], x[7], x[8], x[13]);
    QuarterRound(x[3], x[4], x[9], x[14]);
  }
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += start[i];
  Bytes block(64);
  std::memcpy(block.data(), x.data(), block.size());
  return block;
}

TEST(ReferenceBlock, MatchesRfc8439) {
  Bytes key(32);
  std::iota(key.begin(), key.end(), std::uint8_t{0});
  // 2.3.2
  EXPECT_EQ(base::ToHex(ReferenceBlock(key, 1, *base::FromHex("000000090000004a00000000"))),
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
  // A.1, test vector 1
  EXPECT_EQ(base::ToHex(ReferenceBlock(Bytes(32), 0, Bytes(12))),
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
}

TEST(Stream, IsTheKeystreamOfRfc8439) {
  constexpr std::uint32_t kBlocks = 100;
  Bytes expected;
  const Digest key =
      Hasher(kDomainStream).UpdateSized(base::AsBytes("roles")).Update(Counting()).Finish();
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    const Bytes block = ReferenceBlock(key.bytes, i, Bytes(12));
    expected.insert(expected.end(), block.begin(), block.end());
  }
  Stream stream("roles", Counting());
  EXPECT_EQ(Take(stream, expected.size()), expected);
}

// From a Python model that shares nothing with this code.
TEST(Stream, MatchesGoldenBytes) {
  Stream stream("roles", Counting());
  EXPECT_EQ(base::ToHex(Take(stream, 64)),
            "c17f459845a7e26aa3a0ea12c01aac3e8a9d17e233275d19e05bfed40cde8bec"
            "ba7c7d5cd5a19572181ae5c36bb992c73657bec29567ace00333f774a6088899");
  Take(stream, 936);
  // Across the end of a buffer.
  EXPECT_EQ(base::ToHex(Take(stream, 64)),
            "07b8e8c217708802bd285d67b10c73f894f1a04fd62ea9e44627c2a703ab2845"
            "2e5a419784eb8849a8769490c5b33ebe37b263b0f08715df3730d0226e5780d6");
}

RC_GTEST_PROP(Stream, DoesNotDependOnReadSizes, ()) {
  const auto sizes =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 2500));
  Stream stream("cut", Counting());
  Bytes joined;
  for (const std::size_t size : sizes) {
    const Bytes part = Take(stream, size);
    joined.insert(joined.end(), part.begin(), part.end());
  }
  Stream whole("cut", Counting());
  RC_ASSERT(Take(whole, joined.size()) == joined);
}

TEST(Stream, DiffersByLabelAndKey) {
  const std::uint64_t first = Stream("a", Counting()).NextU64();
  EXPECT_NE(Stream("b", Counting()).NextU64(), first);
  EXPECT_NE(Stream("", Counting()).NextU64(), first);
  EXPECT_NE(Stream("a", Digest{}).NextU64(), first);
  EXPECT_EQ(Stream("a", Counting()).NextU64(), first);
}

TEST(Stream, NumbersAreLittleEndian) {
  EXPECT_EQ(Stream("roles", Counting()).NextU64(), 0x6ae2a74598457fc1u);
}

// From that Python model; a bound of 2^63 + 1 refuses half of the values.
TEST(Below, MatchesGoldenValues) {
  constexpr std::uint64_t kHalf = (std::uint64_t{1} << 63) + 1;
  Stream stream("roles", Counting());
  std::vector<std::uint64_t> drawn;
  for (const std::uint64_t bound :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{10},
        std::uint64_t{1000}, (std::uint64_t{1} << 32) + 1, kHalf, kHalf, ~std::uint64_t{0}}) {
    drawn.push_back(stream.Below(bound));
  }
  EXPECT_THAT(drawn, ElementsAre(0, 1, 2, 0, 234, 4233257134u, 6966056616550356789u,
                                 1839729958800798466u, 4187669343638361929u));
}

RC_GTEST_PROP(Below, StaysBelow, (std::uint64_t seed)) {
  const auto bound = *rc::gen::distinctFrom(rc::gen::arbitrary<std::uint64_t>(), 0u);
  Digest key;
  std::memcpy(key.bytes.data(), &seed, sizeof seed);
  Stream stream("below", key);
  for (int i = 0; i < 20; ++i) RC_ASSERT(stream.Below(bound) < bound);
}

// Pearson's chi-squared over 3 * 2^62: with a plain modulo the first third would occur twice as
// often as the others, and the statistic would be about 10000.
TEST(Below, HasNoModuloBias) {
  constexpr std::uint64_t kThird = std::uint64_t{1} << 62;
  constexpr double kDraws = 60'000;
  Stream stream("bias", Counting());
  std::array<double, 3> counts{};
  for (int i = 0; i < static_cast<int>(kDraws); ++i) counts[stream.Below(3 * kThird) / kThird] += 1;
  double chi_squared = 0;
  for (const double count : counts) {
    chi_squared += (count - kDraws / 3) * (count - kDraws / 3) / (kDraws / 3);
  }
  EXPECT_LT(chi_squared, 13.8);  // 2 degrees of freedom, p = 0.001; the draws are fixed
}

TEST(Permutation, MatchesGoldenValues) {
  EXPECT_THAT(Stream("roles", Counting()).Permutation(10),
              ElementsAre(5, 3, 8, 7, 1, 0, 6, 2, 4, 9));
}

TEST(Permutation, HoldsEveryNumberOnce) {
  Stream stream("sizes", Counting());
  for (std::uint32_t count = 0; count <= 300; ++count) {
    std::vector<std::uint32_t> order = stream.Permutation(count);
    std::ranges::sort(order);
    std::vector<std::uint32_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0u);
    ASSERT_EQ(order, expected);
  }
}

TEST(Permutation, AllOrdersAreEquallyLikely) {
  constexpr double kDraws = 24'000;
  constexpr double kExpected = kDraws / 24;
  Stream stream("orders", Counting());
  std::map<std::vector<std::uint32_t>, double> counts;
  for (int i = 0; i < static_cast<int>(kDraws); ++i) counts[stream.Permutation(4)] += 1;
  ASSERT_EQ(counts.size(), 24u);
  double chi_squared = 0;
  for (const auto& entry : counts) {
    chi_squared += (entry.second - kExpected) * (entry.second - kExpected) / kExpected;
  }
  EXPECT_LT(chi_squared, 49.7);  // 23 degrees of freedom, p = 0.001; the draws are fixed
}

TEST(StreamDeathTest, RefusesABoundOfZero) {
  EXPECT_DEATH(Stream("x", Digest{}).Below(0), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::crypto::stream_test
