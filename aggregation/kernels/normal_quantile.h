// The standard normal distribution without libm, for bit-identical attacks on every machine.
//
// Thread safety: pure functions.
#pragma once

namespace ostraka::aggregation {

// Phi(x), to about 1e-15. Abramowitz and Stegun 26.2.11:
//   Phi(x) = 1/2 + phi(x) (x + x^3/3 + x^5/(3 5) + ...), all terms of one sign.
// REQUIRES: |x| <= 6.
double NormalCdf(double x);

// Phi^-1(p) by bisection: within 1e-12 for 1e-4 <= p <= 1 - 1e-4, the range that attacks use;
// limited to [-6, 6] beyond Phi(+-6). REQUIRES: 0 <= p <= 1.
double NormalQuantile(double p);

}  // namespace ostraka::aggregation
