// The iterations near the present one: of these alone a Seal keeps STATUSes, PROPOSEs and first
// VOTEs.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace ostraka::protocol {

inline constexpr std::uint32_t kIterationsAhead = 2;
// The one before, the present one, and those ahead.
inline constexpr std::uint32_t kIterationsHeld = 2 + kIterationsAhead;

constexpr bool InWindow(std::uint32_t iteration, std::uint32_t current) {
  return iteration > 0 && iteration + 1 >= current && iteration <= current + kIterationsAhead;
}

}  // namespace ostraka::protocol
