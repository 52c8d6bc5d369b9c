// Attacks given by a formula of the attacker's own gradient, of a seed, or of the mean and the
// deviation of the honest rows. The table (attacks.cpp) has their sources.
//
// Internal to aggregation, except for tests. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "node/base/rng.h"
#include "node/base/tensor_layout.h"

namespace ostraka::aggregation {

// `value` as a float32 within the finite range. REQUIRES: not NaN.
float Saturate(double value);

// Mean and standard deviation of every coordinate; the deviation divides by n - ddof, and is 0 for
// n = ddof. REQUIRES: rows are finite, ddof <= n.
struct Moments {
  std::vector<double> mean;
  std::vector<double> deviation;
};
Moments MomentsOf(const Rows& honest, std::size_t ddof = 0);
// The mean alone, with bits equal to MomentsOf's.
std::vector<double> MeanOf(const Rows& honest);

// base + t direction, saturated.
std::vector<float> Along(std::span<const double> base, double t, std::span<const double> direction);

// -lambda own.
std::vector<float> SignFlip(std::span<const float> own, double lambda);

// For each tensor lambda |own| u, with a unit vector u drawn from `seed` alone, so that colluders
// share the direction without communication. REQUIRES: layout covers `own`.
std::vector<float> RandomDirection(std::span<const float> own, const base::TensorLayout& layout,
                                   double lambda, std::uint64_t seed);

// In each coordinate mu - z sigma over the honest rows.
std::vector<float> Alie(const Rows& honest, double z, std::size_t ddof = 0);

// The largest z that hides among the honest rows: Phi^-1((n-m-s) / (n-m)), where s = floor(n/2 + 1)
// - m honest peers are needed for a majority. The argument is kept half a peer away from 0 and 1,
// where the formula is undefined (a Byzantine majority). REQUIRES: n > m.
double AlieZ(std::size_t n, std::size_t m);

// -eps times the mean of the honest rows.
std::vector<float> InnerProductManipulation(const Rows& honest, double eps);

// `center` plus independent Gaussian noise; an empty center is zero. `rng` is near-normal with
// tails that end at 6 sigma.
std::vector<float> GaussianAround(std::span<const float> center, std::size_t dimension, double mean,
                                  double sigma, base::Rng rng);
// Independent and uniform in [low, high).
std::vector<float> Uniform(std::size_t dimension, double low, double high, base::Rng rng);

// Flips bit `bit` (counted from 1 at the lowest), or with 0 bits 22, 30, 31 and 32, of the first
// `coordinates` values. A result that is NaN or infinite becomes the largest float of its sign.
// REQUIRES: bit <= 32.
std::vector<float> FlipBits(std::span<const float> own, std::size_t coordinates, std::size_t bit);

// Has equally many positive, negative and zero coordinates as the mean, with magnitudes uniform in
// (0, 1], at random places. A histogram of signs cannot distinguish it from the mean.
std::vector<float> SignHistogram(std::span<const double> mean, base::Rng rng);

}  // namespace ostraka::aggregation
