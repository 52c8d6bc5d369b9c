// The natural logarithm, in double without libm, rounded to float at the end (numerics.md 1).
//
// Thread safety: pure function.
#pragma once

namespace ostraka::exact {

// ln(x) within one unit of the last place. -infinity at +-0, +infinity at +infinity, the canonical
// NaN below 0 and for NaN.
float Logarithm(float x);

}  // namespace ostraka::exact
