// The numbers of a column (protocol.md 4): how they are computed, what range an honest peer's lie
// in, and the tolerances of the checks on them. Every peer must get the same bits.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>

#include "node/protocol/ground/jobs.h"

namespace ostraka::protocol {

// A blob's bytes as float32. REQUIRES: the size is a multiple of 4.
std::span<const float> AsFloats(const crypto::Blob& blob);

// True iff the blob holds exactly `count` finite float32 values. Any bytes are safe.
bool HoldsFiniteFloats(const crypto::Blob& blob, std::uint64_t count);

// Numbers of a part against the column's aggregate; `missing` but for its size if the aggregate is.
// REQUIRES: part.size() == column.range.size() >= 2; the result holds as many finite floats.
wire::ColumnNumbers NumbersOf(std::span<const float> part, const Column& column, double tau);

// V1: equal to the bit.
bool SameBits(const wire::ColumnNumbers& a, const wire::ColumnNumbers& b);

// False if an honest peer cannot have stated these numbers: non-finite or negative; a size beyond
// the largest float times sqrt(p), or a norm beyond twice that, as no part and no difference of two
// has; or |s| > min(1, 10/sqrt(p)) min(tau, norm). (By chance: probability 2e^-50 for p > 100.)
bool InHonestRange(const wire::ColumnNumbers& numbers, std::uint64_t part_length, double tau);

// V2's tolerance T = 8 |S_j| (eps + 2^-23 |ghat[j]|) / sqrt(p): false alarm probability 2e^-32.
double SumTolerance(std::size_t senders, double eps, double result_norm, std::uint64_t part_length);

// Largest deviation of `stated` from `recomputed` over the accusing thresholds of the tolerant
// profile: |ds| against 8 eps_g R / sqrt(p), |dnorm| and |dsize| against eps_g R, where
// R = max(|g'[j]|, tau). Only the size where either says `missing`. Accuse above 1, convict above
// 1/2.
double DeviationRatio(const wire::ColumnNumbers& stated, const wire::ColumnNumbers& recomputed,
                      double tau, double eps_g, std::uint64_t part_length);

}  // namespace ostraka::protocol
