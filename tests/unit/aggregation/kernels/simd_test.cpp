#include "aggregation/kernels/simd.h"

#include <gtest/gtest.h>

#include <array>

#include "aggregation/kernels/sort_network.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::simd::simd_test {
namespace {

using testing::Matrix;
using testing::SameBits;
using testing::SupportedLevels;

constexpr std::size_t kLengths[] = {1, 7, 8, 9, 63, 64, 129, kBlock - 1, kBlock};

// Values over the whole range of float32: zeros of both signs, subnormals, the largest.
Matrix WildRows(std::size_t n, std::size_t d) {
  base::Rng rng(n * 1000 + d);
  constexpr float kSpecial[] = {0.0f, -0.0f, 1e-45f, -1e-40f, 3.4028235e38f, -3.4028235e38f, 1.0f};
  Matrix rows = testing::NormalRows(rng, n, d);
  for (auto& row : rows) {
    for (float& value : row) {
      const int exponent = static_cast<int>(rng.Between(-40, 37));
      value = static_cast<float>(value * testing::PowerOfTen(exponent));
      if (rng.Chance(1, 8)) value = kSpecial[rng.Below(std::size(kSpecial))];
    }
  }
  return rows;
}

// The order that simd.h promises, written out.
double PromisedSumOfSquares(const std::vector<float>& values) {
  std::array<double, 8> lane{};
  for (std::size_t c = 0; c < values.size(); ++c) {
    lane[c % 8] += static_cast<double>(values[c]) * static_cast<double>(values[c]);
  }
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

TEST(Simd, ScalarAlwaysExistsAndNamesAreDistinct) {
  EXPECT_TRUE(IsSupported(Level::kScalar));
  EXPECT_EQ(KernelsFor(Level::kScalar).level, Level::kScalar);
  EXPECT_EQ(LevelName(Level::kScalar), "scalar");
  EXPECT_EQ(LevelName(Level::kAvx2), "avx2");
  EXPECT_EQ(LevelName(Level::kAvx512), "avx512");
  EXPECT_EQ(BestKernels().level, SupportedLevels().back());
  for (const Level level : SupportedLevels()) EXPECT_EQ(KernelsFor(level).level, level);
}

TEST(Simd, SumsRunInThePromisedOrder) {
  base::Rng rng(7);
  for (const std::size_t length : kLengths) {
    const std::vector<float> values = testing::NormalRows(rng, 1, length)[0];
    for (const Level level : SupportedLevels()) {
      EXPECT_EQ(KernelsFor(level).squared_norm(values.data(), length), PromisedSumOfSquares(values))
          << LevelName(level) << " " << length;
    }
  }
}

// All outputs of the kernels for one input, compared between levels.
struct Outputs {
  std::vector<double> doubles;
  std::vector<float> floats;
  std::vector<bool> flags;
};

void RunRowKernels(const Kernels& kernels, const Matrix& rows, std::size_t offset, Outputs& out) {
  const std::size_t n = rows.size();
  const std::size_t length = rows[0].size() - offset;
  std::vector<const float*> pointers;
  for (const auto& row : rows) pointers.push_back(row.data());
  const BlockOfRows block{pointers.data(), n, offset, length};
  std::vector<double> weights;
  for (std::size_t i = 0; i < n; ++i) weights.push_back(1.0 / static_cast<double>(i + 3));

  std::vector<double> buffer(PaddedRows(n) * kBlock, 0.0);
  kernels.center(block, rows[0].data(), buffer.data());
  std::vector<double> gram(TriangleSize(n), 0.5);
  kernels.gram(buffer.data(), length, block, gram.data());
  std::vector<double> squared(n, 0.25);
  double residual = 0.125;
  kernels.measure(block, rows[0].data(), weights.data(), squared.data(), &residual);
  for (const auto& part : {buffer, gram, squared}) {
    out.doubles.insert(out.doubles.end(), part.begin(), part.end());
  }
  out.doubles.push_back(residual);

  std::vector<float> combined(rows[0].size(), 9.0f), mean(rows[0].size(), 9.0f);
  kernels.combine(block, rows[0].data(), weights.data(), combined.data());
  out.flags.push_back(kernels.mean(block, mean.data()));
  out.floats.insert(out.floats.end(), combined.begin(), combined.end());
  out.floats.insert(out.floats.end(), mean.begin(), mean.end());
}

void RunVectorKernels(const Kernels& kernels, const Matrix& rows, Outputs& out) {
  const std::size_t length = rows[0].size();
  base::Rng rng(length);
  std::vector<std::uint8_t> bits(4 * kBlock);
  for (auto& byte : bits) byte = static_cast<std::uint8_t>(rng.Below(256));
  const std::uint8_t* planes[] = {&bits[0], &bits[kBlock], &bits[2 * kBlock], &bits[3 * kBlock]};
  std::array<double, 4> sums{1, 2, 3, 4};
  double squared = 5;
  kernels.project(rows[0].data(), rows[1].data(), length, planes, sums.data(), &squared);
  out.doubles.insert(out.doubles.end(), sums.begin(), sums.end());
  out.doubles.push_back(squared);
  out.doubles.push_back(kernels.squared_norm(rows[0].data(), length));
  out.flags.push_back(kernels.all_finite(rows[0].data(), length));
  std::vector<float> x = rows[1], v = rows[2];
  kernels.sgd(0.1f, 0.9f, 0.01f, rows[0].data(), x.data(), v.data(), length);
  kernels.nesterov(0.1f, 0.9f, 0.01f, rows[0].data(), x.data(), v.data(), length);
  out.floats.insert(out.floats.end(), x.begin(), x.end());
  out.floats.insert(out.floats.end(), v.begin(), v.end());
  for (float& square : v) square *= square;
  std::vector<float> m = rows[1];
  const AdamFactors by = {0.01f, 0.1f, 0.9f, 0.1f, 0.95f, 0.05f, 2.0f, 3.0f, 1e-8f};
  kernels.adamw(by, rows[0].data(), x.data(), m.data(), v.data(), length);
  kernels.adam_moments(by, rows[0].data(), m.data(), v.data(), length);
  std::vector<float> direction(length);
  kernels.lamb_direction(by, x.data(), m.data(), v.data(), direction.data(), length);
  kernels.lamb_move(by, x.data(), m.data(), v.data(), length);
  for (const auto* slot : {&x, &m, &v, &direction}) {
    out.floats.insert(out.floats.end(), slot->begin(), slot->end());
  }
}

// The kernels of rules that sort columns or look at pairs, for rows of type T.
template <typename T>
void RunTypedKernels(const Kernels& kernels, const std::vector<std::vector<T>>& rows,
                     std::vector<double>& out) {
  const std::size_t n = rows.size();
  const std::size_t length = rows[0].size();
  std::vector<const T*> pointers;
  for (const auto& row : rows) pointers.push_back(row.data());
  const BasicBlock<T> block{pointers.data(), n, 0, length};
  const TypedKernels<T>& typed = kernels.Of<T>();

  std::vector<double> buffer(PaddedRows(n) * kBlock, 0.0);
  typed.center(block, nullptr, buffer.data());
  std::vector<double> squares(TriangleSize(n), 0.0);
  typed.distances(buffer.data(), length, block, squares.data());
  out.insert(out.end(), squares.begin(), squares.end());

  std::vector<T> result(length, T{7});
  const std::vector<std::uint32_t> index = {0, static_cast<std::uint32_t>(n - 1)};
  const std::vector<double> weight = {0.3, 0.7};
  typed.mix(buffer.data(), {index.data(), weight.data(), 2}, length, result.data());
  out.insert(out.end(), result.begin(), result.end());

  std::vector<double> weights(4 * n, 0.0);
  for (std::size_t i = 0; i < 4 * n; i += 3) weights[i] = 1.0 / static_cast<double>(i + 2);
  std::vector<std::vector<T>> four(4, result);
  T* const rows_of_four[] = {four[0].data(), four[1].data(), four[2].data(), four[3].data()};
  typed.mix_four(buffer.data(), weights.data(), n, length, rows_of_four);
  for (std::size_t k = 0; k < 4; ++k) {
    std::vector<std::uint32_t> entries;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
      if (weights[k * n + i] == 0) continue;
      entries.push_back(static_cast<std::uint32_t>(i));
      values.push_back(weights[k * n + i]);
    }
    typed.mix(buffer.data(), {entries.data(), values.data(), entries.size()}, length,
              result.data());
    EXPECT_TRUE(SameBits(std::span<const T>(four[k]), std::span<const T>(result)));
    out.insert(out.end(), four[k].begin(), four[k].end());
  }

  const std::size_t trim = (n - 1) / 2;
  for (const ColumnRule rule :
       {ColumnRule::kMedian, ColumnRule::kLowerMedian, ColumnRule::kTrimmedMean,
        ColumnRule::kNearMedian, ColumnRule::kNearTrimmed, ColumnRule::kSign}) {
    const std::vector<Comparator> network = SortNetwork(n, 0, n);
    const ColumnPlan plan{network.data(), network.size(), rule, trim, trim};
    std::vector<T> scratch(n * kBlock, T{0});
    std::vector<double> flags((trim + 1) * kLanes);
    out.push_back(typed.columns(block, plan, scratch.data(), flags.data(), result.data()) ? 1 : 0);
    out.insert(out.end(), result.begin(), result.end());
  }
}

TEST(Simd, EveryLevelSortsAndComparesRowsToTheSameBits) {
  for (const std::size_t length : kLengths) {
    for (const std::size_t n : {1u, 2u, 5u, 16u}) {
      const Matrix rows = WildRows(n, length);
      std::vector<std::vector<double>> double_rows;
      for (const auto& row : rows) double_rows.emplace_back(row.begin(), row.end());
      std::vector<double> expected;
      RunTypedKernels<float>(KernelsFor(Level::kScalar), rows, expected);
      RunTypedKernels<double>(KernelsFor(Level::kScalar), double_rows, expected);
      for (const Level level : SupportedLevels()) {
        std::vector<double> found;
        RunTypedKernels<float>(KernelsFor(level), rows, found);
        RunTypedKernels<double>(KernelsFor(level), double_rows, found);
        EXPECT_TRUE(SameBits(std::span<const double>(found), std::span<const double>(expected)))
            << LevelName(level) << " n " << n << " length " << length;
      }
    }
  }
}

TEST(Simd, ColumnsReportNonFiniteValues) {
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity()};
  const std::vector<Comparator> network = SortNetwork(3, 1, 2);
  const ColumnPlan plan{network.data(), network.size(), ColumnRule::kMedian, 0, 0};
  for (const Level level : SupportedLevels()) {
    for (std::size_t at = 0; at < 37; ++at) {
      for (const float value : bad) {
        Matrix rows(3, std::vector<float>(37, 3.4e38f));
        rows[1][at] = value;
        const float* pointers[] = {rows[0].data(), rows[1].data(), rows[2].data()};
        std::vector<float> scratch(3 * kBlock), out(37);
        double flags[kLanes];
        EXPECT_FALSE(KernelsFor(level).columns({pointers, 3, 0, 37}, plan, scratch.data(), flags,
                                               out.data()));
        EXPECT_TRUE(KernelsFor(level).columns({pointers, 3, 0, at}, plan, scratch.data(), flags,
                                              out.data()));
      }
    }
  }
}

TEST(Simd, EveryLevelWritesTheSameBits) {
  for (const std::size_t length : kLengths) {
    for (const std::size_t n : {3u, 4u, 5u, 9u}) {
      const Matrix rows = WildRows(n, length);
      const std::size_t offset = length / 3;
      Outputs expected;
      RunRowKernels(KernelsFor(Level::kScalar), rows, offset, expected);
      RunVectorKernels(KernelsFor(Level::kScalar), rows, expected);
      for (const Level level : SupportedLevels()) {
        Outputs found;
        RunRowKernels(KernelsFor(level), rows, offset, found);
        RunVectorKernels(KernelsFor(level), rows, found);
        EXPECT_TRUE(SameBits(std::span<const double>(found.doubles),
                             std::span<const double>(expected.doubles)))
            << LevelName(level) << " n " << n << " length " << length;
        EXPECT_TRUE(SameBits(found.floats, expected.floats))
            << LevelName(level) << " n " << n << " length " << length;
        EXPECT_EQ(found.flags, expected.flags);
      }
    }
  }
}

TEST(Simd, KernelsWriteNothingBeyondTheirLength) {
  for (const Level level : SupportedLevels()) {
    const Kernels& kernels = KernelsFor(level);
    const std::vector<float> row(kBlock, 1.0f);
    const float* pointers[] = {row.data(), row.data()};
    for (const std::size_t length : {1u, 5u, 8u, 13u}) {
      std::vector<float> out(kBlock, 42.0f);
      const double coefficients[] = {0.5, 0.5};
      kernels.combine({pointers, 2, 3, length}, row.data(), coefficients, out.data());
      EXPECT_EQ(std::count(out.begin(), out.end(), 42.0f),
                static_cast<std::ptrdiff_t>(kBlock - length));
      std::fill(out.begin(), out.end(), 42.0f);
      EXPECT_TRUE(kernels.mean({pointers, 2, 3, length}, out.data()));
      EXPECT_EQ(std::count(out.begin(), out.end(), 42.0f),
                static_cast<std::ptrdiff_t>(kBlock - length));
    }
  }
}

TEST(Simd, FindsANonFiniteValueInAnyLane) {
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity()};
  for (const Level level : SupportedLevels()) {
    for (std::size_t at = 0; at < 21; ++at) {
      for (const float value : bad) {
        std::vector<float> values(21, 3.4e38f);
        EXPECT_TRUE(KernelsFor(level).all_finite(values.data(), values.size()));
        values[at] = value;
        EXPECT_FALSE(KernelsFor(level).all_finite(values.data(), values.size())) << at;
        // The value past the end must not be read.
        EXPECT_TRUE(KernelsFor(level).all_finite(values.data(), at));
      }
    }
  }
}

}  // namespace
}  // namespace ostraka::aggregation::simd::simd_test
