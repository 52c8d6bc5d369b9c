// Inputs and comparisons for tests of exact/.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "exact/kernels/kernels.h"
#include "node/base/rng.h"

namespace ostraka::exact::testing {

inline std::vector<Level> SupportedLevels() {
  std::vector<Level> levels;
  for (const Level level : kAllLevels) {
    if (IsSupported(level)) levels.push_back(level);
  }
  return levels;
}

inline std::vector<std::uint32_t> BitsOf(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

inline std::vector<float> NormalValues(base::Rng& rng, std::size_t count, float scale = 1) {
  std::vector<float> values(count);
  for (float& value : values) value = scale * static_cast<float>(rng.Normal());
  return values;
}

// Floats with any bits: one in 128 is a NaN, of either sign and any payload.
inline std::vector<float> AnyValues(base::Rng& rng, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(rng.Next()));
  return values;
}

// Mostly ordinary values, with NaNs, infinities, signed zeros and subnormals among them.
inline std::vector<float> WildValues(base::Rng& rng, std::size_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float specials[] = {0.0F,
                            -0.0F,
                            kInfinity,
                            -kInfinity,
                            1e-45F,
                            -1e-40F,
                            0x1p-126F,
                            3.4028235e38F,
                            -3.4028235e38F,
                            88.72284F,
                            -87.0F,
                            kCanonicalNan,
                            std::bit_cast<float>(0xffc00000U),
                            std::bit_cast<float>(0x7f800001U)};
  std::vector<float> values = NormalValues(rng, count, 3);
  for (float& value : values) {
    if (rng.Chance(1, 10)) value = specials[rng.Below(std::size(specials))];
  }
  return values;
}

}  // namespace ostraka::exact::testing
