#include "aggregation/shared/scaling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "aggregation/kernels/passes.h"

namespace ostraka::aggregation {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Products: the fourth power of 2^220, times the numbers of rows and coordinates, is finite.
constexpr int kScaledExponent = 220;
constexpr double kLargestFactor = 0x1p220;
// The fourth power of 2^-180 times 2^-70, the difference of two middle rows, is a normal number.
constexpr double kLeastMiddle = 0x1p-180;
// The square is a normal number.
constexpr double kLeastRow = 0x1p-480;
constexpr int kFarExponent = 400;

// Sums: 2^24 values of 2^1000 are finite.
constexpr double kLargestTerm = 0x1p1000;
constexpr int kSumExponent = -30;

// The largest magnitude; infinite if a value is not finite. Patterns of bits without the sign are
// ordered as magnitudes are, and NaN is above all.
double LargestOf(const double* values, std::size_t count) {
  constexpr std::uint64_t kMagnitude = ~std::uint64_t{0} >> 1;
  std::uint64_t largest = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(values[c]) & kMagnitude;
    largest = bits > largest ? bits : largest;
  }
  const auto magnitude = std::bit_cast<double>(largest);
  return std::isfinite(magnitude) ? magnitude : kInfinity;
}

std::vector<double> LargestOfRows(const DoubleRows& rows, const Executor& executor) {
  std::vector<double> largest(rows.count());
  executor.ParallelFor(rows.count(),
                       [&](std::size_t i) { largest[i] = LargestOf(rows.row[i], rows.dimension); });
  return largest;
}

// The magnitude by which others are too large: of the middle row, or if that is zero, of the next
// row that is not. Fewer than half of the rows cannot move it beyond the others.
struct Middle {
  std::size_t row = 0;
  double largest = 0;
};
Middle MiddleOf(const std::vector<double>& largest) {
  std::vector<std::size_t> order(largest.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return largest[a] < largest[b]; });
  std::size_t at = (order.size() - 1) / 2;
  while (at + 1 < order.size() && largest[order[at]] == 0) ++at;
  return {order[at], largest[order[at]]};
}

bool TooLarge(double largest, const Middle& middle) {
  return middle.largest > 0 && largest > std::ldexp(middle.largest, kFarExponent);
}

base::Status CheckFar(const std::string& name, double largest, const Middle& middle,
                      const std::string& remedy) {
  if (!TooLarge(largest, middle)) return base::OkStatus();
  return base::InvalidArgument(
      name + " has values more than 2^400 times as large as row " + std::to_string(middle.row) +
      ", the middle one, and their distances do not fit into float64: " + remedy);
}

double LargestOfState(const State* state, bool numbers) {
  double largest = 0;
  if (state == nullptr) return largest;
  for (const std::vector<double>& vector : state->vectors) {
    largest = std::max(largest, LargestOf(vector.data(), vector.size()));
  }
  if (numbers) {
    largest = std::max(largest, LargestOf(state->numbers.data(), state->numbers.size()));
  }
  return largest;
}

double Times(double value, int exponent) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  return std::clamp(std::ldexp(value, exponent), -kLargest, kLargest) + 0.0;
}

}  // namespace

template <typename T>
std::vector<std::size_t> UnfitRows(Arithmetic arithmetic, const BasicRows<T>& rows,
                                   const Executor& executor) {
  std::vector<char> unfit(rows.count(), 0);
  executor.ParallelFor(rows.count(), [&](std::size_t i) {
    BasicRows<T> one;
    one.row = {rows.row[i]};
    one.dimension = rows.dimension;
    unfit[i] = !CheckRows(one, SerialExecutor()).ok();
  });
  if constexpr (std::is_same_v<T, double>) {
    if (arithmetic == Arithmetic::kMultiplies) {
      const std::vector<double> largest = LargestOfRows(rows, executor);
      const Middle middle = MiddleOf(largest);
      for (std::size_t i = 0; i < unfit.size(); ++i) {
        if (TooLarge(largest[i], middle)) unfit[i] = 1;
      }
    }
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < unfit.size(); ++i) {
    if (unfit[i]) found.push_back(i);
  }
  return found;
}

template std::vector<std::size_t> UnfitRows(Arithmetic, const Rows&, const Executor&);
template std::vector<std::size_t> UnfitRows(Arithmetic, const DoubleRows&, const Executor&);

base::StatusOr<int> ExponentFor(Arithmetic arithmetic, const DoubleRows& rows, const State* state,
                                bool numbers, const Executor& executor) {
  if (arithmetic == Arithmetic::kCompares) return 0;
  const std::vector<double> of_rows = LargestOfRows(rows, executor);
  const double of_reference =
      rows.reference == nullptr ? 0.0 : LargestOf(rows.reference, rows.dimension);
  const double of_state = LargestOfState(state, numbers);
  const double largest =
      std::max({*std::max_element(of_rows.begin(), of_rows.end()), of_reference, of_state});
  if (arithmetic == Arithmetic::kAdds) return largest > kLargestTerm ? kSumExponent : 0;
  const Middle middle = MiddleOf(of_rows);
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    RETURN_IF_ERROR(CheckFar("row " + std::to_string(i), of_rows[i], middle,
                             "leave it out, as drop_invalid does"));
  }
  RETURN_IF_ERROR(CheckFar("the reference", of_reference, middle, "give one of the rows' size"));
  RETURN_IF_ERROR(CheckFar("the state", of_state, middle, "begin with an empty one"));
  double least = kInfinity;  // of those that are not zero
  for (const double value : of_rows) least = value > 0 ? std::min(least, value) : least;
  if (of_reference > 0) least = std::min(least, of_reference);
  const bool fits = largest <= kLargestFactor && least >= kLeastRow &&
                    (middle.largest >= kLeastMiddle || middle.largest == 0);
  if (fits || largest == 0) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return kScaledExponent - exponent;
}

ScaledRows::ScaledRows(Arithmetic arithmetic, const DoubleRows& rows, int exponent,
                       const Executor& executor) {
  const std::size_t d = rows.dimension;
  std::vector<const double*> sources = rows.row;
  if (rows.reference != nullptr) sources.push_back(rows.reference);
  values_.resize(sources.size() * d);
  executor.ParallelFor(sources.size(), [&](std::size_t i) {
    const std::span<double> row = std::span<double>(values_).subspan(i * d, d);
    std::transform(sources[i], sources[i] + d, row.begin(),
                   [&](double value) { return Times(value, exponent); });
    // Its square would have too few digits.
    if (arithmetic == Arithmetic::kMultiplies && LargestOf(row.data(), d) < kLeastRow) {
      std::fill(row.begin(), row.end(), 0.0);
    }
  });
  rows_.dimension = d;
  for (std::size_t i = 0; i < rows.count(); ++i) rows_.row.push_back(&values_[i * d]);
  if (rows.reference != nullptr) rows_.reference = &values_[rows.count() * d];
}

void Scale(std::span<double> values, int exponent, const Executor& executor) {
  const Chunks chunks = CutChunks(values.size());
  executor.ParallelFor(chunks.count, [&](std::size_t chunk) {
    const std::size_t end = std::min(values.size(), (chunk + 1) * chunks.length);
    for (std::size_t c = chunk * chunks.length; c < end; ++c) {
      values[c] = Times(values[c], exponent);
    }
  });
}

void ScaleState(State& state, bool numbers, int exponent, const Executor& executor) {
  for (std::vector<double>& vector : state.vectors) Scale(vector, exponent, executor);
  if (numbers) Scale(state.numbers, exponent, executor);
}

void ScaleReport(Report& report, int exponent) {
  for (double& score : report.scores) score = Times(score, exponent * report.scores_power);
  report.residual = Times(report.residual, exponent * report.residual_power);
}

Parameters ScaledParameters(const Parameters& parameters, std::span<const ParameterInfo> infos,
                            int exponent) {
  // Beyond every distance of scaled rows, and below.
  constexpr double kLeast = 0x1p-1000;
  constexpr double kMost = 0x1p600;
  Parameters scaled = parameters;
  for (const ParameterInfo& info : infos) {
    if (!info.in_rows_unit || !parameters.Has(info.name)) continue;
    scaled.Set(info.name,
               std::clamp(std::ldexp(parameters.Real(info.name), exponent), kLeast, kMost));
  }
  return scaled;
}

}  // namespace ostraka::aggregation
