// Attacks that go along a line from the honest rows, as far as something allows: min-max and
// min-sum (an inequality of distances), Fang's attack on Krum (its selection), anti-CGE (a norm).
// The lines are also what attack_search.h searches against a rule.
//
// Internal to aggregation, but for tests. Thread safety: pure functions. REQUIRES, everywhere: rows
// are finite and there is one at least.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {

// Where an attack may put its vector: base + t forward for t >= 0 and base + |t| backward for
// t < 0, with t in [low, high].
struct Line {
  std::vector<double> base;
  std::vector<double> forward;
  std::vector<double> backward;  // empty: -forward
  double low = 0;
  double high = 0;

  std::vector<float> At(double t) const;
};

// |row_i - row_j|^2 at [i * n + j].
std::vector<double> SquaredDistances(const Rows& rows);

// What min-max and min-sum add to the mean: its deviation ("std"), sign ("sign"), or the mean over
// its own length ("unit").
std::vector<double> Perturbation(const Rows& honest, std::string_view kind);

// Shejwalkar and Houmansadr, NDSS 2021: mean + t perturbation, so near that no honest row is
// further from it than the two honest rows that are furthest apart (min-max), or that its squared
// distances add up to no more than those of the honest row in the middle (min-sum: the minimum over
// the rows, as the authors' code has it). Both bounds are roots of quadratics and exact.
Line MinMaxLine(const Rows& honest, std::string_view perturbation);
Line MinSumLine(const Rows& honest, std::string_view perturbation);

// mean + t (extreme - mean), where extreme is, coordinate by coordinate, the honest value furthest
// from zero's side of the mean's sign: the minimum where the mean is positive, else the maximum.
// For t < 0 the other extreme. Limits are left to the caller.
Line FangLine(const Rows& honest);

// Fang, Cao, Jia, Gong, USENIX Security 2020, 4.3: beyond the extreme of FangLine by a factor drawn
// for every coordinate from [1, factor].
std::vector<float> FangBeyondExtremes(const Rows& honest, double factor, base::Rng rng);

// The same, 4.2: -lambda sign(mean) with the largest lambda at which Krum (n - m - 2 nearest,
// squared distances, ties to the honest) still selects it, found to a relative 1e-6; the smallest
// that is tried, 1e-5, if none is selected. REQUIRES: m > 0.
std::vector<float> FangKrum(const Rows& honest, std::size_t byzantine_count);

// Against rules that keep the n - m smallest norms (CGE): opposite to the sum of the rows that
// would be kept, as long as the first that then falls out, less a little.
std::vector<float> AntiCge(const Rows& honest, std::size_t byzantine_count);

// Ozfatura, Ozfatura, Kupcu, Gunduz 2023: the part of the honest mean that is orthogonal to
// `reference` (the last aggregate), as a unit vector turned towards the reference by an angle whose
// cosine is given and whose sine is negative, of length z, from the point that divides the way from
// the reference to the mean as `lambda` says. Without a reference, it is zero.
std::vector<float> RelocatedOrthogonal(const Rows& honest, std::span<const float> reference,
                                       double z, double lambda, double cosine);

}  // namespace ostraka::aggregation
