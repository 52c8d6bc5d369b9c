#include "node/protocol/rules/sizes.h"

#include <algorithm>
#include <cmath>

#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::protocol {
namespace {

using wire::ColumnFate;

// Sizes and norms are sums of doubles, wrong by less than 2^-36 of themselves. Both pulls change by
// no more than a size does, so this is ample.
constexpr double kRounding = 0x1.0p-30;

// Of tau: where the residual may be more, the column is blind.
constexpr double kBlindShare = 0.25;

// In a blind column a row is small below this share of the aggregate.
constexpr double kSmallShare = 1.0 / 16;

}  // namespace

double ResidualBound(std::size_t senders, const SizeRule& rule) {
  return static_cast<double>(senders) * ((rule.eps + 0x1.0p-23 * rule.result_norm) + rule.quantum);
}

bool IsBlind(std::size_t senders, const SizeRule& rule) {
  return ResidualBound(senders, rule) > kBlindShare * rule.tau;
}

double InwardPull(std::span<const double> sizes, const SizeRule& rule) {
  const double g = rule.result_norm;
  double pull = 0;
  for (const double size : sizes) {
    if (size < g) {
      const double cosine = std::sqrt((1 - size / g) * (1 + size / g));
      pull += std::min(g - size, rule.tau * cosine);
    } else {
      pull -= std::min(size - g, rule.tau);
    }
  }
  return pull;
}

ColumnFate JudgeSizes(std::span<const double> sizes, const SizeRule& rule) {
  if (base::Planted(base::Bug::kSizesUnchecked)) return ColumnFate::kApplied;
  const double slack = ResidualBound(sizes.size(), rule) + kRounding *
                                                               static_cast<double>(sizes.size()) *
                                                               (rule.result_norm + rule.tau);
  if (!(InwardPull(sizes, rule) <= slack)) return ColumnFate::kSizeCheck;
  if (!IsBlind(sizes.size(), rule)) return ColumnFate::kApplied;
  const auto small = std::count_if(sizes.begin(), sizes.end(), [&](double size) {
    return size < kSmallShare * rule.result_norm;
  });
  return 2 * static_cast<std::size_t>(small) > sizes.size() ? ColumnFate::kSizeCheck
                                                            : ColumnFate::kBlind;
}

double LargestAggregate(std::size_t honest, std::size_t lying, double largest, double tau) {
  OSTRAKA_CHECK(honest > lying);
  // What is applied is not blind, so that the residual is at most a quarter of tau.
  const double rows = static_cast<double>(honest);
  const double push = static_cast<double>(lying) + kBlindShare + 0x1.0p-20;
  if (push >= rows) return INFINITY;
  const double unclipped = largest + tau * push / rows;
  const double clipped = largest / std::sqrt((1 - push / rows) * (1 + push / rows));
  return std::max(unclipped, clipped);
}

}  // namespace ostraka::protocol
