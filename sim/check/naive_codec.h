// The codecs of docs/numerics.md, 11, value by value. Checkers compare node/protocol/ground/codec.h
// with these, so they share no code with it.
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "node/base/bytes.h"
#include "node/wire/messages.h"

namespace ostraka::sim {

struct NaiveForm {
  int largest = 0;
  std::size_t block = 1;
  std::size_t bits = 32;
};
inline NaiveForm NaiveFormOf(wire::Codec codec) {
  if (codec == wire::Codec::kI16) return {32767, 256, 16};
  if (codec == wire::Codec::kI8) return {127, 256, 8};
  if (codec == wire::Codec::kI4) return {7, 128, 4};
  return {};
}

// What the owner or the members get of `values`.
inline std::vector<float> NaiveRounded(wire::Codec codec, std::span<const float> values) {
  std::vector<float> rounded(values.begin(), values.end());
  if (codec == wire::Codec::kRaw) return rounded;
  const NaiveForm form = NaiveFormOf(codec);
  for (std::size_t begin = 0; begin < values.size(); begin += form.block) {
    const auto block =
        std::span(rounded).subspan(begin).first(std::min(form.block, values.size() - begin));
    float most = 0;
    for (const float value : block) most = std::max(most, std::abs(value));
    const float scale = std::min(most, 0x1p120F) / static_cast<float>(form.largest);
    for (float& value : block) {
      if (scale < 0x1p-126F) {
        value = 0;
        continue;
      }
      const double code = std::nearbyint(static_cast<double>(value / scale));
      const double limit = form.largest;
      value = static_cast<float>(std::clamp(code, -limit, limit)) * scale;
      if (value == 0) value = 0;  // no -0
    }
  }
  return rounded;
}

// REQUIRES: of the size of `count` values.
inline std::vector<float> NaiveDecoded(wire::Codec codec, base::ByteView bytes, std::size_t count) {
  const NaiveForm form = NaiveFormOf(codec);
  std::vector<float> values(count);
  if (codec == wire::Codec::kRaw) {
    if (count > 0) std::memcpy(values.data(), bytes.data(), count * sizeof(float));
    return values;
  }
  const std::size_t blocks = (count + form.block - 1) / form.block;
  for (std::size_t i = 0; i < count; ++i) {
    float scale = 0;
    std::memcpy(&scale, bytes.data() + i / form.block * 4, 4);
    const std::size_t bit = 32 * blocks + form.bits * i;
    std::uint32_t code = 0;
    for (std::size_t k = 0; k < form.bits; ++k) {
      code |= static_cast<std::uint32_t>(bytes[(bit + k) / 8] >> ((bit + k) % 8) & 1) << k;
    }
    const auto half = std::int64_t{1} << (form.bits - 1);
    const std::int64_t number = code >= half ? code - 2 * half : std::int64_t{code};
    values[i] = static_cast<float>(number) * scale;
  }
  return values;
}

// How far encoding may have moved what was encoded as `bytes`, in norm.
inline double NaiveQuantum(wire::Codec codec, base::ByteView bytes, std::size_t count) {
  if (codec == wire::Codec::kRaw) return 0;
  const NaiveForm form = NaiveFormOf(codec);
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    float scale = 0;
    std::memcpy(&scale, bytes.data() + i / form.block * 4, 4);
    squares += double{scale} * scale;
  }
  return 0.5078125 * std::sqrt(squares);
}

}  // namespace ostraka::sim
