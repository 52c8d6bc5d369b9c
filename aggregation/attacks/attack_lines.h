// Attacks along a line from the honest rows, up to a limit: min-max and min-sum (an inequality of
// distances), Fang's attack on Krum (Krum's selection), anti-CGE (a norm). attack_search.h also
// searches along these lines against a rule.
//
// Internal to aggregation, except for tests. Thread safety: pure functions. REQUIRES, everywhere:
// at least one row, and finite rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {

// The possible vectors of an attack: base + t forward for t >= 0 and base + |t| backward for t < 0,
// with t in [low, high].
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

// The direction that min-max and min-sum add to the mean: the deviation ("std"), the mean's sign
// ("sign"), or the mean over its own length ("unit").
std::vector<double> Perturbation(const Rows& honest, std::string_view kind);

// Shejwalkar and Houmansadr, NDSS 2021: mean + t perturbation. Min-max keeps it so near that its
// distance to every honest row is at most the largest distance between two honest rows. Min-sum
// keeps the sum of its squared distances at most that of the central honest row (the minimum over
// the rows, as in the authors' code). Both bounds are roots of quadratics and exact.
Line MinMaxLine(const Rows& honest, std::string_view perturbation);
Line MinSumLine(const Rows& honest, std::string_view perturbation);

// mean + t (extreme - mean). In each coordinate, extreme is the smallest honest value where the
// mean is positive, else the largest; for t < 0 it is the other extreme. The caller sets the
// limits.
Line FangLine(const Rows& honest);

// Fang, Cao, Jia, Gong, USENIX Security 2020, 4.3: beyond the extreme of FangLine by a factor drawn
// for every coordinate from [1, factor].
std::vector<float> FangBeyondExtremes(const Rows& honest, double factor, base::Rng rng);

// Fang et al., 4.2: -lambda sign(mean) with the largest lambda at which Krum (n - m - 2 nearest,
// squared distances, ties to the honest) still selects it, to a relative accuracy of 1e-6. If Krum
// selects none, the smallest lambda that is tried: about 1e-5 of the largest value.
// REQUIRES: m > 0.
std::vector<float> FangKrum(const Rows& honest, std::size_t byzantine_count);

// Against rules that keep the n - m smallest norms (CGE): opposite to the sum of the rows that
// would be kept, and slightly shorter than the first row that then falls out.
std::vector<float> AntiCge(const Rows& honest, std::size_t byzantine_count);

// Ozfatura, Ozfatura, Kupcu, Gunduz 2023. The direction is the part of the honest mean orthogonal
// to `reference` (the last aggregate), as a unit vector, turned towards the reference by an angle
// with the given cosine and a negative sine. Its length is z. It starts at the point that divides
// the way from the reference to the mean by `lambda`. Without a reference, the reference is zero.
std::vector<float> RelocatedOrthogonal(const Rows& honest, std::span<const float> reference,
                                       double z, double lambda, double cosine);

}  // namespace ostraka::aggregation
