// How large an aggregate can be beside the rows that it is of (protocol.md 5): the size check, and
// the aggregates beside which nothing can be checked. Functions of sealed sizes and of |ghat|,
// which everybody holds; no chance is in them, and no coin.
//
// The size check. CenteredClip's result v satisfies |sum_i D_i| <= |S| (eps + 2^-23 |v|), D_i the
// difference g_i - v clipped to tau. With g = |v|, u = v/g and N_i = |g_i|, in the direction of u:
//  - N_i < g: -<D_i, u> >= min(g - N_i, tau sqrt(1 - (N_i/g)^2)). Unclipped it is g - <g_i, u>;
//    clipped, tau times the cosine of the angle at v between the centre and g_i, and the widest
//    angle is that of the tangent to the ball of radius N_i.
//  - N_i >= g: <D_i, u> <= min(N_i - g, tau).
// So what the smaller rows pull in is at most what the larger ones can push out and the residual.
// An honest owner whose senders state their true sizes always passes. Where b senders lie and the
// other h > b have sizes up to R, whatever passes has, but for the residual,
//   g <= max(R + tau, R / sqrt(1 - (b/h)^2)): 1.52 R for 3 of 7, 2.07 R for 7 of 15.
//
// Blind. Beside tau/4 a residual that rounding of ghat may leave is so large that neither this
// check nor V2 has power, so such a column is void. Rows far larger than tau bring an honest owner
// there too, so it costs nobody anything, unless more than half of the rows are below g/16: then
// honest rows cannot have made it, for m small rows pull in by m tau sqrt(1 - 1/256) and the others
// push out by less. (With 1/8 in place of 1/16, 128 of 255 small rows could be honest.) If they are
// not, an honest row is larger than g/16, since of 2b + 1 rows b lie: tau is too small beside the
// gradients, and follows (tau.h).
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
};

// |S| (eps + 2^-23 |ghat|): what |sum of D| may be at an honest owner's result.
double ResidualBound(std::size_t senders, const SizeRule& rule);

// True iff the residual bound is more than tau / 4.
bool IsBlind(std::size_t senders, const SizeRule& rule);

// By how much the rows below |ghat| pull at least, less what the others push at most. An honest
// owner's is at most ResidualBound (and rounding). REQUIRES: sizes are finite and not negative.
double InwardPull(std::span<const double> sizes, const SizeRule& rule);

// kSizeCheck, kBlind, or else kApplied. REQUIRES: as InwardPull; sizes are not empty.
wire::ColumnFate JudgeSizes(std::span<const double> sizes, const SizeRule& rule);

// What an aggregate can measure that passes JudgeSizes as applied, if the honest of its senders
// have sizes up to `largest`, `honest` of them, and `lying` state what they like.
// REQUIRES: honest > lying.
double LargestAggregate(std::size_t honest, std::size_t lying, double largest, double tau);

}  // namespace ostraka::protocol
