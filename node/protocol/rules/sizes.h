// The largest aggregate that given rows can have (docs/protocol/numbers.md): the size check, and
// the aggregates at which no check has power. Functions of sealed sizes and of |ghat|, which every
// member holds; they are exact and use no coin.
//
// The size check. CenteredClip's result v satisfies |sum_i D_i| <= |S| (eps + 2^-23 |v|), D_i the
// difference g_i - v clipped to tau; encoding it moves v by a quantum at most, and each D_i by no
// more. With g = |v|, u = v/g and N_i = |g_i|, in the direction of u:
//  - N_i < g: -<D_i, u> >= min(g - N_i, tau sqrt(1 - (N_i/g)^2)). Unclipped it is g - <g_i, u>;
//    clipped, tau times the cosine of the angle at v between the centre and g_i, and the widest
//    angle is that of the tangent to the ball of radius N_i.
//  - N_i >= g: <D_i, u> <= min(N_i - g, tau).
// So the inward pull of the smaller rows is at most the outward push of the larger ones plus the
// residual. An honest owner whose senders state their true sizes always passes. If b senders lie
// and the other h > b have sizes up to R, an aggregate that passes has, up to the residual,
//   g <= max(R + tau, R / sqrt(1 - (b/h)^2)): 1.52 R for 3 of 7, 2.07 R for 7 of 15.
//
// Blind columns. If the residual that rounding of ghat may leave exceeds tau/4, neither this check
// nor V2 has power, so the column is void. Rows far larger than tau bring an honest owner there
// too, so it costs no member anything, unless more than half of the rows are below g/16. Honest
// rows cannot have made such an aggregate: m small rows pull in by m tau sqrt(1 - 1/256), and the
// others push out by less. (With 1/8 in place of 1/16, 128 of 255 small rows could be honest.) If
// at most half are below g/16, an honest row is larger than g/16, since b of 2b + 1 rows lie: tau
// is too small beside the gradients, and follows them (tau.h).
//
// Thread safety: pure functions.
#pragma once

#include <span>

#include "node/wire/block.h"

namespace ostraka::protocol {

struct SizeRule {
  double tau = 0;
  double eps = 0;
  double result_norm = 0;  // |ghat|
  double quantum = 0;      // of its codec (node/protocol/ground/codec.h)
};

// |S| (eps + 2^-23 |ghat| + quantum): the largest |sum_i D_i| at an honest owner's result.
double ResidualBound(std::size_t senders, const SizeRule& rule);

// True iff the residual bound is more than tau / 4.
bool IsBlind(std::size_t senders, const SizeRule& rule);

// The least inward pull of the rows below |ghat|, less the largest outward push of the others. At
// an honest owner's result it is at most ResidualBound (and rounding). REQUIRES: sizes are finite
// and not negative.
double InwardPull(std::span<const double> sizes, const SizeRule& rule);

// kSizeCheck, kBlind or kApplied. REQUIRES: sizes are finite, not negative and not empty.
wire::ColumnFate JudgeSizes(std::span<const double> sizes, const SizeRule& rule);

// The largest |ghat| that JudgeSizes lets pass as applied, if `honest` senders have sizes up to
// `largest` and `lying` ones state any sizes. REQUIRES: honest > lying.
double LargestAggregate(std::size_t honest, std::size_t lying, double largest, double tau);

}  // namespace ostraka::protocol
