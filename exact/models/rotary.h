// The angles of rotary position embedding (Su et al. 2021, "RoFormer"), without libm: a graph names
// its tables by their hash, so every machine must make equal ones.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <vector>

namespace ostraka::exact {

struct RotaryTables {
  std::vector<float> cosines;  // [positions, pairs]
  std::vector<float> sines;
};

// Angle of position t and pair i: t 10000^(-i / pairs). REQUIRES: both are positive.
RotaryTables MakeRotaryTables(std::int64_t positions, std::int64_t pairs);

}  // namespace ostraka::exact
