// How the values of a part or a result stand in a blob (docs/numerics.md, 11): raw, or in blocks of
// values with one scale each.
//
// A coded blob is all scales, binary32 and little-endian, and then all codes. A value is its code
// times its block's scale, rounded once. A blob whose scales its codes do not need is refused by
// everybody, as NaN is (HoldsValues). Attack: a free scale would widen the tolerance of the checks,
// which follows the scales (Quantum).
//
// Promises (Values):
//   V1  span() has the count of the constructor; its values are finite.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using wire::Codec;

std::string_view CodecName(Codec codec);  // raw, i16, i8, i4
std::optional<Codec> FindCodec(std::string_view name);
inline constexpr Codec kAllCodecs[] = {Codec::kRaw, Codec::kI16, Codec::kI8, Codec::kI4};
inline constexpr Codec kPartCodecs[] = {Codec::kRaw, Codec::kI8, Codec::kI4};
inline constexpr Codec kResultCodecs[] = {Codec::kRaw, Codec::kI16};
bool ServesParts(Codec codec);
bool ServesResults(Codec codec);

// Of one run. Both are raw but in profile exact/1: a tolerance for noise of gradients and one for
// codes would have to be told apart.
struct Codecs {
  Codec parts = Codec::kRaw;    // raw, i8 or i4
  Codec results = Codec::kRaw;  // raw or i16: coarser ones would hide what an owner adds
  bool operator==(const Codecs&) const = default;
};

// The bytes of `count` values.
std::uint64_t EncodedBytes(Codec codec, std::uint64_t count);

// REQUIRES: finite values.
base::Bytes Encode(Codec codec, std::span<const float> values);

// True iff `bytes` hold `count` finite values in canonical form: in each block a code of the
// largest magnitude, or all codes and the scale 0. Encode makes no other. Any bytes are safe, in
// memory that is aligned for a float.
bool HoldsValues(Codec codec, base::ByteView bytes, std::uint64_t count);

// The values of a blob for which HoldsValues is true: those of raw in place, others decoded.
class Values {
 public:
  Values() = default;  // none
  // REQUIRES: HoldsValues(codec, blob.data, count). Of raw `blob` outlives it.
  Values(Codec codec, const crypto::Blob& blob, std::uint64_t count);
  Values(Values&&) = default;
  Values& operator=(Values&&) = default;
  Values(const Values&) = delete;  // the span is of its own memory
  Values& operator=(const Values&) = delete;
  std::span<const float> span() const { return span_; }
  operator std::span<const float>() const { return span_; }  // NOLINT(google-explicit-constructor)

 private:
  std::vector<float> decoded_;  // empty if raw
  std::span<const float> span_;
};

// An upper bound of how far, in norm, encoding moved the vector that `bytes` come from, if its
// values are below 2^120 in magnitude; 0 of raw. A function of the scales. (What is sent as 0
// because it is below 2^-111 is not counted: nothing beside eps.) REQUIRES: HoldsValues(codec,
// bytes, count).
double Quantum(Codec codec, base::ByteView bytes, std::uint64_t count);

}  // namespace ostraka::protocol
