// The terms of CenteredClip in plain double precision. Checkers compare the aggregation library
// with these, so they share no code with it (docs/protocol/numbers.md).
//
// Thread safety: pure functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace ostraka::sim {

// Allows for rounding of sums in another order than the protocol's.
inline constexpr double kRoundingSlack = 1 + 1e-6;

template <typename Value>
double NormOf(std::span<const Value> values) {
  double squares = 0;
  for (const Value value : values) squares += double{value} * double{value};
  return std::sqrt(squares);
}

// Adds D = (row - center) min(1, tau / |row - center|) to `sum`.
// REQUIRES: all three have one size.
inline void AddClipped(std::span<const float> row, std::span<const float> center, double tau,
                       std::span<double> sum) {
  double squares = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double difference = double{row[c]} - double{center[c]};
    squares += difference * difference;
  }
  const double distance = std::sqrt(squares);
  const double scale = distance > tau ? tau / distance : 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    sum[c] += scale * (double{row[c]} - double{center[c]});
  }
}

// Bound of |sum of D| at an aggregate of norm `norm`: |S| (eps + 2^-23 |ghat| + quantum).
inline double ClipBound(std::size_t senders, double eps, double norm, double quantum) {
  return static_cast<double>(senders) * (eps + 0x1.0p-23 * norm + quantum) * kRoundingSlack;
}

}  // namespace ostraka::sim
