#include "node/protocol/ground/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/check/naive_codec.h"

namespace ostraka::protocol::codec_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// As write_codecs.py draws them.
std::vector<float> GoldenValues(std::uint64_t count) {
  std::vector<float> values(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = i * 2654435761U % (std::uint64_t{1} << 32) >> 8;
    const double fraction = static_cast<double>(bits) * 0x1p-24 - 0.5;
    values[i] = static_cast<float>(std::ldexp(fraction, static_cast<int>(i / 64 % 34) * 8 - 139));
  }
  return values;
}

std::vector<float> Drawn(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  const float scale = std::ldexp(1.0F, static_cast<int>(random() % 240) - 120);
  std::vector<float> values(count);
  for (float& value : values) {
    value = (static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F) * scale;
    if (random() % 50 == 0) value = 0;
    if (random() % 50 == 0) value = -0.0F;
    if (random() % 200 == 0) value *= 0x1p-20F;
  }
  return values;
}

crypto::Blob BlobOf(base::Bytes bytes) { return {std::move(bytes), {}}; }

std::vector<float> Decoded(Codec codec, const base::Bytes& bytes, std::uint64_t count) {
  const crypto::Blob blob = BlobOf(bytes);
  const Values values(codec, blob, count);
  return {values.span().begin(), values.span().end()};
}

void PutScale(base::Bytes& bytes, std::size_t block, float scale) {
  std::memcpy(bytes.data() + 4 * block, &scale, 4);
}

TEST(CodecGolden, EncodesAsTheSecondVerifierDoes) {
  const auto golden = nlohmann::json::parse(std::ifstream("tests/vectors/codecs.json"));
  std::size_t compared = 0;
  for (const auto& [name, digests] : golden.items()) {
    const Codec codec = *FindCodec(name);
    for (const auto& [size, digest] : digests.items()) {
      const base::Bytes bytes = Encode(codec, GoldenValues(std::stoull(size)));
      EXPECT_EQ(crypto::Hash(crypto::kDomainData, bytes).Hex(), digest.get<std::string>())
          << name << " " << size;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 44u);
}

TEST(CodecTest, NamesParseBack) {
  for (const Codec codec : kAllCodecs) EXPECT_EQ(FindCodec(CodecName(codec)), codec);
  EXPECT_FALSE(FindCodec("i12"));
}

TEST(CodecTest, WhatIsEncodedIsHeldAndDecodesAsWritten) {
  for (const Codec codec : kAllCodecs) {
    for (const std::size_t count : {0, 1, 2, 3, 127, 128, 129, 255, 256, 257, 511, 700}) {
      for (std::uint32_t seed = 0; seed < 20; ++seed) {
        const std::vector<float> values = Drawn(count, seed);
        const base::Bytes bytes = Encode(codec, values);
        ASSERT_EQ(bytes.size(), EncodedBytes(codec, count));
        ASSERT_TRUE(HoldsValues(codec, bytes, count)) << CodecName(codec) << " " << count;
        const std::vector<float> decoded = Decoded(codec, bytes, count);
        EXPECT_EQ(decoded, sim::NaiveRounded(codec, values));
        EXPECT_EQ(decoded, sim::NaiveDecoded(codec, bytes, count));
        if (codec == Codec::kRaw) continue;
        for (const float value : decoded) EXPECT_FALSE(std::signbit(value) && value == 0);
      }
    }
  }
}

TEST(CodecTest, EncodingMovesNoFartherThanTheQuantum) {
  for (const Codec codec : kAllCodecs) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
      const std::vector<float> values = Drawn(700, seed);
      const base::Bytes bytes = Encode(codec, values);
      const std::vector<float> decoded = Decoded(codec, bytes, values.size());
      double squares = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double moved = double{values[i]} - double{decoded[i]};
        squares += moved * moved;
      }
      // A block that is sent as 0 had no value beyond Q 2^-126.
      EXPECT_LE(std::sqrt(squares), Quantum(codec, bytes, values.size()) + 1e-32);
      const double naive = sim::NaiveQuantum(codec, bytes, values.size());
      EXPECT_NEAR(Quantum(codec, bytes, values.size()), naive, 1e-12 * naive);
    }
  }
}

// Attack: i16 with the largest scale that a float has decodes to infinity, and honest members would
// state impossible numbers of it.
TEST(CodecTest, NoScaleDecodesToInfinity) {
  for (const Codec codec : {Codec::kI16, Codec::kI8, Codec::kI4}) {
    const std::vector<float> huge(300, std::numeric_limits<float>::max());
    base::Bytes bytes = Encode(codec, huge);
    ASSERT_TRUE(HoldsValues(codec, bytes, 300));
    for (const float value : Decoded(codec, bytes, 300)) EXPECT_NEAR(value, 0x1p120F, 0x1p98F);
    PutScale(bytes, 0, 0x1p120F);
    EXPECT_FALSE(HoldsValues(codec, bytes, 300)) << CodecName(codec);
  }
}

TEST(CodecTest, RefusesWhatNoEncoderMakes) {
  for (const Codec codec : {Codec::kI16, Codec::kI8, Codec::kI4}) {
    const std::size_t width = codec == Codec::kI16 ? 2 : 1;
    const base::Bytes whole = Encode(codec, Drawn(301, 3));
    const std::size_t blocks = codec == Codec::kI4 ? 3 : 2;
    const auto refused = [&](auto spoil) {
      base::Bytes bytes = whole;
      spoil(bytes);
      return !HoldsValues(codec, bytes, 301);
    };
    for (const float scale : {kNan, kInf, -1.0F, -0.0F, 0.0F, 0x1p-127F, 0x1p121F}) {
      EXPECT_TRUE(refused([&](base::Bytes& b) { PutScale(b, 1, scale); })) << scale;
    }
    EXPECT_TRUE(refused([](base::Bytes& b) { b.pop_back(); }));
    EXPECT_TRUE(refused([](base::Bytes& b) { b.push_back(0); }));
    EXPECT_TRUE(refused([&](base::Bytes& b) {  // no code of the largest magnitude
      std::fill(b.begin() + static_cast<std::ptrdiff_t>(4 * blocks), b.end(), std::uint8_t{0});
    }));
    EXPECT_TRUE(refused([&](base::Bytes& b) {  // the code -(Q + 1)
      b[4 * blocks + width - 1] = codec == Codec::kI4 ? 0x88 : 0x80;
      if (width == 2) b[4 * blocks] = 0;
    }));
    EXPECT_FALSE(HoldsValues(codec, whole, 300)) << "another length";
    EXPECT_FALSE(HoldsValues(codec, whole, std::numeric_limits<std::uint64_t>::max()));
    EXPECT_FALSE(HoldsValues(codec, {}, 1));
  }
  base::Bytes odd = Encode(Codec::kI4, Drawn(301, 3));
  odd.back() |= 0x10;
  EXPECT_FALSE(HoldsValues(Codec::kI4, odd, 301)) << "bits that stand for no value";
}

TEST(CodecTest, RawHoldsFiniteValuesAlone) {
  const std::vector<float> values = {1.0F, -2.0F, 3.0F};
  EXPECT_TRUE(HoldsValues(Codec::kRaw, Encode(Codec::kRaw, values), 3));
  EXPECT_FALSE(HoldsValues(Codec::kRaw, Encode(Codec::kRaw, values), 2));
  EXPECT_FALSE(HoldsValues(Codec::kRaw, Encode(Codec::kRaw, values), 4));
  EXPECT_FALSE(HoldsValues(Codec::kRaw, base::Bytes(13), 3));
  EXPECT_FALSE(HoldsValues(Codec::kRaw, {}, 1));
  for (const float bad : {kInf, -kInf, kNan}) {
    for (std::size_t at = 0; at < values.size(); ++at) {
      std::vector<float> spoilt = values;
      spoilt[at] = bad;
      const base::ByteView view = base::AsBytes(std::span<const float>(spoilt));
      EXPECT_FALSE(HoldsValues(Codec::kRaw, view, 3)) << bad << " at " << at;
    }
  }
}

// A free scale would be a free tolerance. [Of a scale the last bit is free: what decodes to Q s may
// have been made by s or by its neighbour.]
TEST(CodecTest, TheScaleOfEachFormThatIsHeldIsThatOfItsValues) {
  std::mt19937 random(7);
  std::size_t held = 0;
  for (const Codec codec : {Codec::kI16, Codec::kI8, Codec::kI4}) {
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t count = 1 + random() % 300;
      base::Bytes bytes = Encode(codec, Drawn(count, random()));
      for (std::uint32_t k = random() % 3; k > 0; --k) {
        bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
      }
      if (!HoldsValues(codec, bytes, count)) continue;
      ++held;
      const std::vector<float> values = Decoded(codec, bytes, count);
      for (const float value : values) ASSERT_TRUE(std::isfinite(value));
      const base::Bytes again = Encode(codec, values);
      EXPECT_NEAR(Quantum(codec, again, count), Quantum(codec, bytes, count),
                  0x1p-22 * Quantum(codec, bytes, count));
      const std::size_t scales = bytes.size() - (codec == Codec::kI16  ? 2 * count
                                                 : codec == Codec::kI8 ? count
                                                                       : (count + 1) / 2);
      EXPECT_TRUE(std::equal(again.begin() + static_cast<std::ptrdiff_t>(scales), again.end(),
                             bytes.begin() + static_cast<std::ptrdiff_t>(scales)))
          << "its codes";
    }
  }
  EXPECT_GT(held, 3000u);
}

}  // namespace
}  // namespace ostraka::protocol::codec_test
