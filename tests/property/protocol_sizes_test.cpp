// The size check (node/protocol/rules/sizes.h) against our own CenteredClip: for any rows, an
// honest owner of truthful senders passes, and no owner passes with a size above the bound.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "aggregation/kernels/projection.h"
#include "aggregation/rules/centered_clip.h"
#include "node/base/rng.h"
#include "node/protocol/rules/sizes.h"

namespace ostraka::protocol::protocol_sizes_test {
namespace {

using Row = std::vector<float>;
using wire::ColumnFate;

constexpr double kEps = 1e-6;

double PowerOfTen(int low, int high) { return std::pow(10.0, *rc::gen::inRange(low, high + 1)); }

Row RandomRow(base::Rng rng, std::size_t length, double scale, double offset) {
  Row row(length);
  for (float& value : row) value = static_cast<float>(offset + scale * rng.Normal());
  return row;
}

Row Clipped(const std::vector<Row>& rows, double tau) {
  aggregation::Rows view;
  view.dimension = rows.front().size();
  for (const Row& row : rows) view.row.push_back(row.data());
  Row out(view.dimension);
  const base::Status status = aggregation::CenteredClip({.tau = tau, .eps = kEps})
                                  .Aggregate(view, aggregation::SerialExecutor(), out);
  if (!status.ok()) RC_FAIL(base::MessageOf(status));
  return out;
}

std::vector<double> SizesOf(const std::vector<Row>& rows) {
  std::vector<double> sizes;
  for (const Row& row : rows) sizes.push_back(aggregation::Norm(row));
  return sizes;
}

SizeRule RuleOf(const Row& result, double tau) {
  return {.tau = tau, .eps = kEps, .result_norm = aggregation::Norm(result)};
}

// Rows of one kind: equal, spread about a center, each of a different size, or sparse and huge.
Row DrawnRow(int kind, base::Rng rng, const Row& center, double scale) {
  const std::size_t length = center.size();
  switch (kind) {
    case 0:
      return center;
    case 1: {
      Row row = RandomRow(rng, length, scale, 0);
      for (std::size_t c = 0; c < length; ++c) row[c] += center[c];
      return row;
    }
    case 2:
      return RandomRow(rng, length, std::min(1e37, scale * std::pow(10.0, 4 * rng.Normal())), 0);
    case 3: {  // like the others but for one coordinate
      Row row = center;
      row[rng.Below(length)] = static_cast<float>(rng.Below(2) == 0 ? 1e30 : -3e38);
      return row;
    }
    default: {  // opposite
      Row row = center;
      for (float& value : row) value = static_cast<float>(-value * std::min(1e30, 1 / scale));
      return row;
    }
  }
}

RC_GTEST_PROP(SizeCheckProperty, AnHonestOwnerOfTruthfulSendersPasses, ()) {
  const std::size_t rows_count = *rc::gen::inRange<std::size_t>(1, 18);
  const std::size_t length = *rc::gen::inRange<std::size_t>(2, 3000);
  const double center_scale = PowerOfTen(-6, 12);
  const double spread = center_scale * PowerOfTen(-6, 2);
  const double tau = std::max(8 * 18 * kEps, std::min(5e5, center_scale * PowerOfTen(-9, 3)));
  const base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const Row center = RandomRow(rng.Fork("center"), length, center_scale, 0);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < rows_count; ++i) {
    const int kind = *rc::gen::inRange(0, 5);
    rows.push_back(DrawnRow(kind, rng.Fork("row", i), center, spread));
  }
  const SizeRule rule = RuleOf(Clipped(rows, tau), tau);
  RC_TAG(IsBlind(rows_count, rule) ? "blind" : "not blind");
  RC_ASSERT(JudgeSizes(SizesOf(rows), rule) != ColumnFate::kSizeCheck);
}

// However few rows are large, and however far away: the loose bound of a huge result must not
// excuse an owner whose rows are small.
RC_GTEST_PROP(SizeCheckProperty, HonestMajorityIsNeverBlindBecauseOfOthers, ()) {
  const std::size_t others = *rc::gen::inRange<std::size_t>(1, 8);
  const std::size_t length = *rc::gen::inRange<std::size_t>(2, 5000);
  const base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const double tau = PowerOfTen(-3, 1);
  std::vector<Row> rows;
  for (std::size_t i = 0; i <= others; ++i) {
    rows.push_back(RandomRow(rng.Fork("honest", i), length, 1.0, 0.5));
  }
  const std::vector<double> sizes = SizesOf(rows);
  const double most = *std::max_element(sizes.begin(), sizes.end());
  Row mean(length, 0.0F);
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < length; ++c) mean[c] += row[c] / static_cast<float>(others + 1);
  }
  for (std::size_t i = 0; i < others; ++i) {
    rows.push_back(DrawnRow(*rc::gen::inRange(2, 5), rng.Fork("other", i), mean, 1e-30));
  }
  const SizeRule rule = RuleOf(Clipped(rows, tau), tau);
  RC_ASSERT(JudgeSizes(SizesOf(rows), rule) == ColumnFate::kApplied);
  RC_ASSERT(rule.result_norm <= LargestAggregate(others + 1, others, most, tau));
}

// b liars state any sizes, and their owner's result may be anything.
RC_GTEST_PROP(SizeCheckProperty, NoOwnerPassesAboveTheBound, ()) {
  const std::size_t lying = *rc::gen::inRange<std::size_t>(0, 128);
  const std::size_t honest = lying + 1 + *rc::gen::inRange<std::size_t>(0, 2);
  const double largest = PowerOfTen(-6, 12);
  const double tau = std::max(2048 * kEps, largest * PowerOfTen(-9, 3));
  const base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  base::Rng draw = rng.Fork("sizes");
  std::vector<double> sizes;
  for (std::size_t i = 0; i < honest; ++i) sizes.push_back(largest * draw.Unit());
  for (std::size_t i = 0; i < lying; ++i) sizes.push_back(std::pow(10.0, 76 * draw.Unit() - 38));
  const double bound = LargestAggregate(honest, lying, largest, tau);
  const double beyond = bound * (1 + PowerOfTen(-8, 30));
  const SizeRule rule{.tau = tau, .eps = kEps, .result_norm = beyond};
  const ColumnFate fate = JudgeSizes(sizes, rule);
  RC_ASSERT(fate != ColumnFate::kApplied);
  // A column is void without a culprit only if an honest row is of that order.
  if (fate == ColumnFate::kBlind) RC_ASSERT(beyond <= 16 * largest);
}

}  // namespace
}  // namespace ostraka::protocol::protocol_sizes_test
