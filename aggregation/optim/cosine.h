// The cosine of learning-rate schedules, equal in every bit on every machine: libm's differs in the
// last bit between versions.
//
// Thread safety: a pure function.
#pragma once

#include <cstdint>

namespace ostraka::aggregation {

// (1 + cos(pi n / m)) / 2, which falls from 1 at n = 0 to 0 at n = m. In double, in the order of
// docs/numerics.md, 9; within 2^-52 of the true value. REQUIRES: n <= m, 0 < m < 2^53.
double HalfCosine(std::uint64_t n, std::uint64_t m);

}  // namespace ostraka::aggregation
