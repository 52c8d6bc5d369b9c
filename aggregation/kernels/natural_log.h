// The natural logarithm without libm, whose last bits differ between machines.
//
// Internal to aggregation. Thread safety: pure function.
#pragma once

namespace ostraka::aggregation {

// ln(x) to about 2^-50 relative to 1 or the result. REQUIRES: x > 0 and finite.
double NaturalLog(double x);

}  // namespace ostraka::aggregation
