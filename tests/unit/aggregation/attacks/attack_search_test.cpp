// The promise of the optimising attacks: 95 % of the damage of a dense grid, on every rule here and
// on rules that jump. The first test has a case that published searches miss, because they climb on
// one side.
#include "aggregation/attacks/attack_search.h"

#include <gtest/gtest.h>

#include "aggregation/attacks/attack_vectors.h"
#include "aggregation/rules/pipeline.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::attack_search_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

double DamageOf(const Line& line, double t, const Matrix& honest, std::size_t m,
                const Victim& victim) {
  const std::vector<float> vector = line.At(t);
  Rows rows = RowsOf(honest);
  rows.row.resize(honest.size() + m, vector.data());
  std::vector<float> out(rows.dimension);
  EXPECT_TRUE(victim(rows, out).ok());
  const std::vector<double> mean = MeanOf(RowsOf(honest));
  double squares = 0;
  for (std::size_t c = 0; c < out.size(); ++c) squares += (out[c] - mean[c]) * (out[c] - mean[c]);
  return std::sqrt(squares);
}

// 1,000 lengths a side, half of them even and half geometric, so that it also looks where the
// search does not.
double DenseGrid(const Line& line, const Matrix& honest, std::size_t m, const Victim& victim) {
  double worst = 0;
  for (const double end : {line.low, line.high}) {
    double share = 1;
    for (int k = 0; k < 500; ++k, share *= 0.9772) {
      worst = std::max(worst, DamageOf(line, end * share, honest, m, victim));
      worst = std::max(worst, DamageOf(line, end * (k + 1) / 500, honest, m, victim));
    }
  }
  return worst;
}

void ExpectNearTheWorst(const Line& line, const Matrix& honest, std::size_t m, const Victim& victim,
                        const std::string& what) {
  const auto found = MostDamaging(line, RowsOf(honest), m, victim);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_GE(found->damage, 0.95 * DenseGrid(line, honest, m, victim)) << what;
  EXPECT_EQ(found->vector, line.At(found->t));
  EXPECT_DOUBLE_EQ(found->damage, DamageOf(line, found->t, honest, m, victim));
}

Line Ranged(Line line, double range) {
  line.low = -range;
  line.high = range;
  return line;
}

// Every family of lines, as the attacks of the table make them.
std::vector<std::pair<std::string, Line>> LinesOf(const Matrix& honest) {
  const Rows rows = RowsOf(honest);
  Moments moments = MomentsOf(rows);
  const std::vector<double> zero(rows.dimension, 0.0);
  std::vector<double> unit = zero;
  unit[0] = 1;
  return {{"alie", Ranged({moments.mean, moments.deviation, {}, 0, 0}, 100)},
          {"ipm", Ranged({zero, moments.mean, {}, 0, 0}, 100)},
          {"fang", Ranged(FangLine(rows), 100)},
          {"min_max", MinMaxLine(rows, "std")},
          {"min_sum", MinSumLine(rows, "unit")},
          {"coordinate", Ranged({moments.mean, unit, {}, 0, 0}, 1000)}};
}

TEST(AttackSearch, FindsAWindowOnTheNegativeSide) {
  // Damage 1 at |t| = 5 on the one side; 3 in (-0.011, -0.0085) on the other.
  const Line line{{0.0}, {1.0}, {}, -100, 100};
  const Victim victim = [](const Rows& rows, std::span<float> out) {
    const double t = static_cast<double>(rows.row.back()[0]);
    out[0] = t > -0.011 && t < -0.0085 ? 3.0f : t > 4 && t < 6 ? 1.0f : 0.0f;
    return base::OkStatus();
  };
  const Matrix honest = {{0}, {0}};
  const auto found = MostDamaging(line, RowsOf(honest), 1, victim);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->damage, 3);
}

TEST(AttackSearch, FindsTheEdgeOfASelection) {
  // Like Krum: the attacker's row is selected up to t = 7.77, and not above.
  const Line line{{0.0}, {1.0}, {}, -100, 100};
  const Victim victim = [](const Rows& rows, std::span<float> out) {
    out[0] = std::abs(rows.row.back()[0]) <= 7.77f ? rows.row.back()[0] : 0.0f;
    return base::OkStatus();
  };
  const Matrix honest = {{0}, {0}};
  const auto found = MostDamaging(line, RowsOf(honest), 1, victim);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->damage, 7.77, 0.01);
}

TEST(AttackSearch, LineWithoutRoomIsTriedOnce) {
  int calls = 0;
  const Victim victim = [&calls](const Rows& rows, std::span<float> out) {
    ++calls;
    out[0] = rows.row.back()[0];
    return base::OkStatus();
  };
  const Matrix honest = {{2}, {2}};
  const auto found = MostDamaging({{2.0}, {0.0}, {}, 0, 0}, RowsOf(honest), 1, victim);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->vector, (std::vector<float>{2}));
  EXPECT_EQ(calls, 1);
}

// Every rule of the registry that runs on its defaults, alone and after mixing of rows.
TEST(AttackSearch, FindsTheWorstVectorOfEveryRule) {
  base::Rng rng(21);
  std::size_t rules = 0;
  for (const RuleInfo* rule : Rules()) {
    if (rule->about.stateful || rule->about.reference == ReferenceUse::kRequired) continue;
    const Matrix honest = [&] {
      Matrix rows = testing::NormalRows(rng, 9, 5);
      for (auto& row : rows) row[1] += 2;
      return rows;
    }();
    const auto pipeline =
        Pipeline::Make({.rule = {std::string(rule->about.name), {}}, .pre = {}, .f = 2});
    if (!pipeline.ok()) continue;  // a parameter without a default
    const Victim victim = [&](const Rows& rows, std::span<float> out) {
      const SerialExecutor serial;
      return pipeline->Aggregate(rows, serial, out);
    };
    ++rules;
    for (const auto& [name, line] : LinesOf(honest)) {
      ExpectNearTheWorst(line, honest, 2, victim, std::string(rule->about.name) + " " + name);
    }
  }
  EXPECT_GE(rules, 15u);
}

}  // namespace
}  // namespace ostraka::aggregation::attack_search_test
