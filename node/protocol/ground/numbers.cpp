#include "node/protocol/ground/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "aggregation/kernels/projection.h"
#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::protocol {

static_assert(wire::kDirections == aggregation::kProjectionCount);

ResultSize SizeOf(Codec codec, const crypto::Blob& result, std::uint64_t count) {
  return {aggregation::Norm(Values(codec, result, count)), Quantum(codec, result.data, count)};
}

Measure::Measure(const Column& column, double tau) : tau_(tau) {
  if (column.result == nullptr) return;
  result_ = Values(column.codec, *column.result, column.range.size());
  signs_.resize(aggregation::SignBytes(column.range.size()));
  crypto::Stream("signs", column.direction_seed).Fill(signs_);
}

wire::ColumnNumbers Measure::Of(std::span<const float> part) const {
  wire::ColumnNumbers numbers;
  numbers.size = aggregation::Norm(part);
  numbers.missing = result_.span().empty();
  if (numbers.missing) return numbers;
  OSTRAKA_CHECK(part.size() == result_.span().size());
  const aggregation::Projection projection =
      aggregation::ClippedProjection(part, result_, tau_, signs_);
  numbers.s = projection.s;
  numbers.norm = projection.norm;
  return numbers;
}

wire::ColumnNumbers NumbersOf(std::span<const float> part, const Column& column, double tau) {
  return Measure(column, tau).Of(part);
}

bool SameBits(const wire::ColumnNumbers& a, const wire::ColumnNumbers& b) {
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
  if (a.missing != b.missing || bits(a.norm) != bits(b.norm)) return false;
  if (bits(a.size) != bits(b.size)) return false;
  return std::equal(a.s.begin(), a.s.end(), b.s.begin(),
                    [&](double x, double y) { return bits(x) == bits(y); });
}

bool InHonestRange(const wire::ColumnNumbers& numbers, std::uint64_t part_length, double tau) {
  const double root = std::sqrt(static_cast<double>(part_length));
  // One part in 2^40 for the rounding of size, norm and s, which are sums of doubles.
  constexpr double kRounding = 1 + 0x1.0p-40;
  const double largest = double{std::numeric_limits<float>::max()} * root * kRounding;
  // Written so that NaN fails the comparison.
  if (!(numbers.size >= 0 && numbers.size <= largest)) return false;
  if (!(numbers.norm >= 0 && numbers.norm <= 2 * largest)) return false;
  const double bound = std::min(1.0, 10.0 / root) * std::min(tau, numbers.norm) * kRounding;
  return std::all_of(numbers.s.begin(), numbers.s.end(),
                     [&](double s) { return std::isfinite(s) && std::abs(s) <= bound; });
}

double SumTolerance(std::size_t senders, double eps, const ResultSize& result,
                    std::uint64_t part_length) {
  if (base::Planted(base::Bug::kToleranceHundredfold)) senders *= 100;
  return 8.0 * static_cast<double>(senders) * ((eps + 0x1.0p-23 * result.norm) + result.quantum) /
         std::sqrt(static_cast<double>(part_length));
}

double DeviationRatio(const wire::ColumnNumbers& stated, const wire::ColumnNumbers& recomputed,
                      double tau, double eps_g, std::uint64_t part_length) {
  const double norm_bound = eps_g * std::max(recomputed.size, tau);
  const double s_bound = 8.0 * norm_bound / std::sqrt(static_cast<double>(part_length));
  double worst = 0;
  const auto raise = [&worst](double ratio) {
    // std::max would ignore a NaN.
    worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(worst, ratio);
  };
  raise(std::abs(stated.size - recomputed.size) / norm_bound);
  if (stated.missing || recomputed.missing) return worst;
  for (std::size_t k = 0; k < wire::kDirections; ++k) {
    raise(std::abs(stated.s[k] - recomputed.s[k]) / s_bound);
  }
  raise(std::abs(stated.norm - recomputed.norm) / norm_bound);
  return worst;
}

bool AgreeToTheBit(const wire::ColumnNumbers& stated, const wire::ColumnNumbers& recomputed) {
  if (!stated.missing && !recomputed.missing) return SameBits(stated, recomputed);
  return std::bit_cast<std::uint64_t>(stated.size) == std::bit_cast<std::uint64_t>(recomputed.size);
}

}  // namespace ostraka::protocol
