#include "aggregation/attacks/attack_lines.h"

#include <gtest/gtest.h>

#include "aggregation/attacks/attack_vectors.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::attack_lines_test {
namespace {

using testing::Matrix;
using testing::RowsOf;
using testing::SlowDistance;

long double LargestDistance(const Matrix& rows) {
  long double largest = 0;
  for (const auto& a : rows) {
    for (const auto& b : rows) largest = std::max(largest, SlowDistance(a, b));
  }
  return largest;
}

template <typename Center>
long double FurthestFrom(const Matrix& rows, const Center& center) {
  long double largest = 0;
  for (const auto& row : rows) largest = std::max(largest, SlowDistance(row, center));
  return largest;
}

template <typename Center>
long double SquaresFrom(const Matrix& rows, const Center& center) {
  long double sum = 0;
  for (const auto& row : rows) sum += SlowDistance(row, center) * SlowDistance(row, center);
  return sum;
}

Matrix Shifted(base::Rng& rng, std::size_t n, std::size_t d) {
  Matrix rows = testing::NormalRows(rng, n, d);
  for (auto& row : rows) {
    for (std::size_t c = 0; c < d; ++c) row[c] += static_cast<float>(c % 5) - 1.5f;
  }
  return rows;
}

TEST(AttackLines, MinMaxReachesExactlyItsBound) {
  base::Rng rng(11);
  for (const std::string_view kind : {"std", "sign", "unit"}) {
    for (int trial = 0; trial < 20; ++trial) {
      const Matrix honest = Shifted(rng, 2 + rng.Below(8), 1 + rng.Below(30));
      const Line line = MinMaxLine(RowsOf(honest), kind);
      const long double bound = LargestDistance(honest);
      for (const double end : {line.low, line.high}) {
        EXPECT_NEAR(FurthestFrom(honest, line.At(end)), bound, 1e-5 * bound) << kind;
        EXPECT_GT(FurthestFrom(honest, line.At(end * 1.01)), bound) << kind;
      }
      EXPECT_LT(line.low, 0);
      EXPECT_GT(line.high, 0);
    }
  }
}

TEST(AttackLines, MinSumReachesExactlyItsBound) {
  base::Rng rng(12);
  for (const std::string_view kind : {"std", "sign", "unit"}) {
    for (int trial = 0; trial < 20; ++trial) {
      const Matrix honest = Shifted(rng, 2 + rng.Below(8), 1 + rng.Below(30));
      const Line line = MinSumLine(RowsOf(honest), kind);
      long double bound = std::numeric_limits<long double>::infinity();
      for (const auto& row : honest) bound = std::min(bound, SquaresFrom(honest, row));
      EXPECT_NEAR(SquaresFrom(honest, line.At(line.high)), bound, 1e-4 * bound) << kind;
      EXPECT_NEAR(SquaresFrom(honest, line.At(line.low)), bound, 1e-4 * bound) << kind;
    }
  }
}

TEST(AttackLines, IdenticalRowsLeaveNoRoom) {
  const Matrix honest(4, {1, 2, 3});
  for (const std::string_view kind : {"std", "sign", "unit"}) {
    EXPECT_EQ(MinMaxLine(RowsOf(honest), kind).high, 0) << kind;
    EXPECT_EQ(MinSumLine(RowsOf(honest), kind).high, 0) << kind;
  }
  EXPECT_EQ(MinMaxLine(RowsOf({{0, 0}, {0, 0}}), "unit").low, 0);
}

TEST(AttackLines, SquaredDistancesSurviveAnOffset) {
  base::Rng rng(13);
  Matrix rows = testing::NormalRows(rng, 6, 100);
  for (auto& row : rows) {
    for (float& value : row) value = std::round(value * 8) / 8 + 1e6f;
  }
  const std::vector<double> distances = SquaredDistances(RowsOf(rows));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(distances[i * 6 + i], 0);
    for (std::size_t j = 0; j < 6; ++j) {
      const long double slow = SlowDistance(rows[i], rows[j]);
      EXPECT_NEAR(distances[i * 6 + j], slow * slow, 1e-9 * slow * slow);
    }
  }
}

TEST(AttackLines, FangGoesBeyondTheExtremesAgainstTheMean) {
  const Matrix honest = {{1, -1, 4, -4}, {2, -2, -1, 1}, {3, -3, 6, -6}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<float> sent = FangBeyondExtremes(RowsOf(honest), 2, base::Rng(seed));
    EXPECT_LE(sent[0], 1);  // mean 2 > 0, minimum 1 > 0: down towards zero
    EXPECT_GE(sent[0], 0.5);
    EXPECT_GE(sent[1], -1);  // mean -2 < 0, maximum -1 < 0: up towards zero
    EXPECT_LE(sent[1], -0.5);
    EXPECT_LE(sent[2], -1);  // mean 3 > 0, minimum -1 < 0: further out
    EXPECT_GE(sent[2], -2);
    EXPECT_GE(sent[3], 1);
    EXPECT_LE(sent[3], 2);
  }
}

// Krum as the paper defines it, computed from the rows alone.
std::size_t SlowKrum(const Matrix& rows, std::size_t f) {
  std::size_t best = 0;
  long double best_score = std::numeric_limits<long double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<long double> distances;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (j != i) distances.push_back(SlowDistance(rows[i], rows[j]));
    }
    std::sort(distances.begin(), distances.end());
    long double score = 0;
    for (std::size_t k = 0; k < rows.size() - f - 2; ++k) score += distances[k] * distances[k];
    if (score < best_score) {
      best = i;
      best_score = score;
    }
  }
  return best;
}

TEST(AttackLines, FangIsTheFarthestVectorThatKrumSelects) {
  base::Rng rng(14);
  int selected = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t m = 2 + rng.Below(3);
    const Matrix honest = testing::NormalRows(rng, 2 * m + 3 - m + rng.Below(4), 3);
    const auto with = [&](double factor) {
      Matrix rows = honest;
      std::vector<float> sent = FangKrum(RowsOf(honest), m);
      testing::Multiply(sent, factor);
      rows.insert(rows.end(), m, sent);
      return SlowKrum(rows, m) >= honest.size();
    };
    // No length is selected, so that the shortest is sent.
    if (std::abs(FangKrum(RowsOf(honest), m)[0]) < 1e-4f) continue;
    ++selected;
    EXPECT_TRUE(with(1 - 1e-5)) << trial;
    EXPECT_FALSE(with(1 + 1e-5)) << trial;
  }
  EXPECT_GT(selected, 20);
}

// Rows that stand together are told apart although the first row is far away.
TEST(AttackLines, DistancesAreThoseOfTheRowsHoweverFarTheFirstIs) {
  for (const float far : {1.0F, 1e9F, 1e30F}) {
    const Matrix rows = {{far, far}, {1, 1}, {1.25F, 1}, {1, 1.5F}, {1, 1}};
    const std::vector<double> squares = SquaredDistances(RowsOf(rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < rows.size(); ++j) {
        const auto expected = static_cast<double>(std::pow(SlowDistance(rows[i], rows[j]), 2));
        EXPECT_NEAR(squares[i * rows.size() + j], expected, 1e-12 * expected) << far;
      }
    }
  }
}

TEST(AttackLines, AntiCgeIsSelectedAndOpposesTheSelectedRows) {
  const Matrix honest = {{3, 0}, {1, 0}, {0, 2}, {0, 9}, {5, 0}};
  const std::vector<float> sent = AntiCge(RowsOf(honest), 2);
  // Norms 1, 2, 3 | 5, 9: three rows are kept besides the two attackers, and 5 is the first that is
  // not.
  EXPECT_NEAR(std::hypot(sent[0], sent[1]), 5, 1e-4);
  EXPECT_LT(std::hypot(sent[0], sent[1]), 5);
  EXPECT_FLOAT_EQ(sent[0] / sent[1], 4.0f / 2.0f);
  EXPECT_LT(sent[0], 0);
}

TEST(AttackLines, RelocatedOrthogonalMatchesItsDefinition) {
  const Matrix honest = {{3, 4}, {3, 4}};
  const std::vector<float> reference = {1, 0};
  // From the mean, a unit step against its component orthogonal to the reference.
  EXPECT_EQ(RelocatedOrthogonal(RowsOf(honest), reference, 1, 1, 0), (std::vector<float>{3, 3}));
  EXPECT_EQ(RelocatedOrthogonal(RowsOf(honest), reference, 1, 0, 0), (std::vector<float>{1, -1}));
  EXPECT_EQ(RelocatedOrthogonal(RowsOf(honest), reference, 2, 1, 1), (std::vector<float>{5, 4}));
  const auto sent = RelocatedOrthogonal(RowsOf(honest), {}, 1, 1, 0);
  EXPECT_FLOAT_EQ(sent[0], 3 - 0.6f);
  EXPECT_FLOAT_EQ(sent[1], 4 - 0.8f);
}

}  // namespace
}  // namespace ostraka::aggregation::attack_lines_test
