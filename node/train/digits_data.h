// The bytes of data/digits.csv, embedded by the build (embed_csv.cmake). For digits.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ostraka::train {

inline constexpr std::size_t kDigitsRows = 1797;
inline constexpr std::size_t kDigitsPixels = 64;
inline constexpr std::size_t kDigitsSize = kDigitsRows * (kDigitsPixels + 1);

// Each row: 64 pixels of 0..16, then the label 0..9.
extern const std::uint8_t kDigits[kDigitsSize];

}  // namespace ostraka::train
