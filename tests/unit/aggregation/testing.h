// Shared by the tests of aggregation: rows that own their memory, a threaded Executor, slow and
// obvious references, and families of hostile inputs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "aggregation/kernels/simd.h"
#include "node/base/rng.h"

namespace ostraka::aggregation::testing {

template <typename T>
using BasicMatrix = std::vector<std::vector<T>>;
using Matrix = BasicMatrix<float>;

// REQUIRES: `matrix` is not empty and outlives the result.
template <typename T>
BasicRows<T> RowsOf(const BasicMatrix<T>& matrix) {
  BasicRows<T> rows;
  for (const auto& row : matrix) rows.row.push_back(row.data());
  rows.dimension = matrix.front().size();
  return rows;
}
inline Rows RowsOf(const Matrix& matrix) { return RowsOf<float>(matrix); }

// Takes work off a shared counter, highest index first, so that neither order nor thread equals the
// serial one.
class ThreadedExecutor final : public Executor {
 public:
  explicit ThreadedExecutor(int threads) : threads_(threads) {}
  void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body) const override {
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> pool;
    for (int i = 0; i < threads_; ++i) {
      pool.emplace_back([&] {
        for (std::size_t k = next++; k < count; k = next++) body(count - 1 - k);
      });
    }
  }

 private:
  int threads_;
};

inline std::vector<simd::Level> SupportedLevels() {
  std::vector<simd::Level> levels;
  for (const simd::Level level : simd::kAllLevels) {
    if (simd::IsSupported(level)) levels.push_back(level);
  }
  return levels;
}

template <typename T>
bool SameBits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}
inline bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return SameBits(std::span<const float>(a), std::span<const float>(b));
}

// FNV-1a over the bytes: a number by which compilers compare bits.
inline std::uint64_t BitsDigest(std::span<const float> values) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ ((bits >> shift) & 0xff)) * 0x100000001b3ULL;
    }
  }
  return hash;
}

inline Matrix NormalRows(base::Rng& rng, std::size_t n, std::size_t d) {
  Matrix rows(n, std::vector<float>(d));
  for (auto& row : rows) {
    for (float& value : row) value = static_cast<float>(rng.Normal());
  }
  return rows;
}

inline double PowerOfTen(int exponent) { return std::pow(10.0, exponent); }

// Rows that rules find hard, each family named by what it attacks.
enum class Family {
  kPlain,         // Gaussian about an offset
  kHugeMinority,  // fewer than half multiplied by 1e6..1e30
  kOneHuge,       // the first row multiplied by 1..1e30
  kOpposite,      // two rows that cancel, far away
  kDuplicates,    // rows repeated
  kCollinear,     // all rows on one line: the minimum is flat or a point on it
  kHiddenOffset,  // half of the rows differ in a single coordinate only, far away
};
inline constexpr Family kAllFamilies[] = {
    Family::kPlain,      Family::kHugeMinority, Family::kOneHuge,     Family::kOpposite,
    Family::kDuplicates, Family::kCollinear,    Family::kHiddenOffset};

inline void Multiply(std::vector<float>& row, double factor) {
  for (float& value : row) value = static_cast<float>(value * factor);
}

inline Matrix HostileRows(base::Rng& rng, Family family, std::size_t n, std::size_t d) {
  const double scale = PowerOfTen(static_cast<int>(rng.Between(-6, 6)));
  const double offset = rng.Chance(1, 2) ? 0 : PowerOfTen(static_cast<int>(rng.Between(-3, 6)));
  Matrix rows = NormalRows(rng, n, d);
  const std::vector<float> line = rows[0];
  for (auto& row : rows) {
    const double along = rng.Normal();
    for (std::size_t c = 0; c < d; ++c) {
      row[c] = static_cast<float>(
          offset + scale * (family == Family::kCollinear ? along * line[c] : row[c]));
    }
  }
  const auto huge = [&](int low) { return PowerOfTen(static_cast<int>(rng.Between(low, 30))); };
  if (family == Family::kHugeMinority) {
    for (std::size_t i = 0; i < (n - 1) / 2; ++i) Multiply(rows[i], huge(6));
  }
  if (family == Family::kOneHuge) Multiply(rows[0], huge(0));
  if (family == Family::kOpposite && n > 1) {
    Multiply(rows[0], huge(0));
    rows[1] = rows[0];
    Multiply(rows[1], -1);
  }
  if (family == Family::kDuplicates) {
    for (std::size_t i = 1; i < n; ++i) {
      if (rng.Chance(1, 2)) rows[i] = rows[rng.Below(i)];
    }
  }
  if (family == Family::kHiddenOffset) {
    for (std::size_t i = 0; i < n / 2; ++i) rows[i][d - 1] += static_cast<float>(huge(0));
  }
  return rows;
}

// values| and distances in long double, in no particular order.
inline long double SlowNorm(std::span<const float> values) {
  long double squares = 0;
  for (const float value : values) squares += static_cast<long double>(value) * value;
  return std::sqrt(squares);
}

template <typename T, typename Center>
long double SlowDistance(const std::vector<T>& row, const Center& center) {
  long double squares = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const long double difference = static_cast<long double>(row[c]) - center[c];
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

// sum_i clip(row_i - center, tau), straight from the definition.
template <typename T, typename Center>
std::vector<long double> SlowClippedSum(const BasicMatrix<T>& rows, const Center& center,
                                        long double tau) {
  std::vector<long double> sum(rows.front().size(), 0.0L);
  for (const auto& row : rows) {
    const long double distance = SlowDistance(row, center);
    const long double weight = distance <= tau ? 1.0L : tau / distance;
    for (std::size_t c = 0; c < row.size(); ++c) {
      sum[c] += weight * (static_cast<long double>(row[c]) - center[c]);
    }
  }
  return sum;
}

template <typename T>
long double SlowNorm(const std::vector<T>& values) {
  long double squares = 0;
  for (const long double value : values) squares += value * value;
  return std::sqrt(squares);
}

template <typename T, typename Center>
long double SlowResidual(const BasicMatrix<T>& rows, const Center& center, long double tau) {
  return SlowNorm(SlowClippedSum(rows, center, tau));
}

// sum_i Huber_tau(|row_i - center|).
template <typename Center>
long double SlowObjective(const Matrix& rows, const Center& center, long double tau) {
  long double sum = 0;
  for (const auto& row : rows) {
    const long double r = SlowDistance(row, center);
    sum += r <= tau ? r * r / 2 : tau * (r - tau / 2);
  }
  return sum;
}

struct SlowResult {
  std::vector<double> center;
  std::size_t iterations = 0;
};

// v <- v + (1/n) sum_i clip(row_i - v, tau) from the first row, until |sum| <= tolerance.
inline SlowResult SlowCenteredClip(const Matrix& rows, double tau, double tolerance,
                                   std::size_t max_iterations) {
  SlowResult result{std::vector<double>(rows[0].begin(), rows[0].end()), 0};
  for (; result.iterations < max_iterations; ++result.iterations) {
    const auto sum = SlowClippedSum(rows, result.center, tau);
    if (SlowNorm(sum) <= tolerance) break;
    for (std::size_t c = 0; c < sum.size(); ++c) {
      result.center[c] += static_cast<double>(sum[c] / static_cast<long double>(rows.size()));
    }
  }
  return result;
}

}  // namespace ostraka::aggregation::testing
