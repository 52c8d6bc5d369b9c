// Attacks do not depend on the scale of the gradients: a multiple by a power of two of gradients
// and of parameters in their unit gives that multiple of the vector, to the bit; and at every scale
// the vectors are those of slow references in long double: for usual rows, twins, zeros and huge
// rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "aggregation/attacks/attacks.h"
#include "aggregation/rules/mean.h"
#include "tests/property/scales/scale_draws.h"

namespace ostraka::aggregation::attack_scales_test {
namespace {

using testing::Kind;
using testing::Matrix;
using testing::RowsOf;
using testing::ScaledBy;
using testing::TextOf;
using testing::Vector;

constexpr std::size_t kByzantine = 2;
constexpr long double kLargest = std::numeric_limits<float>::max();

// What the attackers know, and 2^scale.
struct Given {
  Matrix honest;
  std::vector<float> own;
  long double unit = 1;

  std::size_t n() const { return honest.size(); }
  Vector Own() const { return {own.begin(), own.end()}; }
  Vector Mean() const {
    testing::Indices all(n());
    for (std::size_t i = 0; i < n(); ++i) all[i] = i;
    return testing::SlowMeanOf(honest, all);
  }
  Vector Deviation() const {
    const Vector mean = Mean();
    Vector deviation(mean.size(), 0.0L);
    for (const auto& row : honest) {
      for (std::size_t c = 0; c < mean.size(); ++c) {
        deviation[c] += std::pow(row[c] - mean[c], 2.0L) / static_cast<long double>(n());
      }
    }
    for (long double& value : deviation) value = std::sqrt(value);
    return deviation;
  }
};

Vector Along(const Vector& base, long double t, const Vector& direction) {
  Vector sum = base;
  for (std::size_t c = 0; c < base.size(); ++c) sum[c] += t * direction[c];
  return sum;
}

// The largest t >= 0 for which `fits`, which holds on an interval from 0 on.
long double LargestThatFits(long double begin, const std::function<bool(long double)>& fits) {
  long double low = 0, high = begin;
  while (fits(high) && high < begin * 0x1p600L) high *= 2;
  for (int k = 0; k < 120; ++k) {
    const long double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// What min_max and min_sum keep below a bound: the greatest distance, or the sum of squares. The
// end of the line in the direction of `sign`, by its definition.
Vector EndOfLine(const Given& g, bool sum, int sign) {
  const Vector direction = ScaledBy(g.Deviation(), sign);
  const Vector mean = g.Mean();
  const auto measure = [&](const Vector& from) {
    long double total = 0;
    for (const auto& row : g.honest) {
      const long double distance = testing::SlowDistance(row, from);
      total = sum ? total + distance * distance : std::max(total, distance);
    }
    return total;
  };
  long double bound = 0;
  for (std::size_t i = 0; i < g.n(); ++i) {
    const long double own = measure(testing::SlowRow(g.honest[i]));
    bound = i == 0 ? own : sum ? std::min(bound, own) : std::max(bound, own);
  }
  if (testing::SlowNorm(direction) == 0) return mean;
  const long double t = LargestThatFits(1e-3L, [&](long double at) {
    return measure(Along(mean, at, direction)) <= bound * (1 + 1e-15L);
  });
  return Along(mean, t, direction);
}

Vector AntiCge(const Given& g) {
  Vector lengths = testing::SlowNorms(g.honest);
  const std::size_t kept = g.n() - kByzantine;
  const testing::Indices shortest = testing::SlowSmallest(lengths, kept);
  Vector sum(g.own.size(), 0.0L);
  for (const std::size_t i : shortest) sum = Along(sum, 1, testing::SlowRow(g.honest[i]));
  std::sort(lengths.begin(), lengths.end());
  const long double length = testing::SlowNorm(sum);
  return ScaledBy(sum, length > 0 ? -(1 - 1e-6L) * lengths[kept] / length : 0);
}

// Krum among the honest rows and the copies of a vector: true if it selects a copy.
bool KrumTakes(const Given& g, const Vector& vector) {
  std::vector<Vector> rows;
  for (const auto& row : g.honest) rows.push_back(testing::SlowRow(row));
  rows.resize(g.n() + kByzantine, vector);
  const Vector scores = testing::SlowKrumScores(rows, g.n() - 2, 2);
  return testing::SlowSmallest(scores, 1)[0] >= g.n();
}

// Longer is not selected any more; or nothing is, and the shortest is sent.
bool IsLastThatKrumTakes(const Given& g, const std::vector<float>& sent) {
  const Vector vector = testing::SlowRow(sent);
  // The least floats have few digits, and the shortest vector may be less.
  const long double least = std::numeric_limits<float>::denorm_min();
  if (testing::SlowNorm(vector) == 0) {
    return testing::SlowNorm(g.Mean()) == 0 || 4e-5L * g.unit < least;
  }
  const long double slack = 1e-5L + 2 * least / testing::SlowNorm(vector);
  if (KrumTakes(g, ScaledBy(vector, 1 - slack))) {
    return !KrumTakes(g, ScaledBy(vector, 1 + slack));
  }
  for (long double by = 1; by < 1e12L; by *= 1.5L) {
    if (KrumTakes(g, ScaledBy(vector, by))) return false;
  }
  return true;
}

struct Case {
  std::function<Arguments(const Given&)> arguments;
  // Vectors of which one has to be sent, or what the vector has to be.
  std::function<std::vector<Vector>(const Given&)> expected = {};
  std::function<bool(const Given&, const std::vector<float>&)> holds = {};
};

std::string Of(const Given& given, double value) {
  return TextOf(static_cast<double>(value * given.unit));
}

Arguments None(const Given&) { return {}; }

std::map<std::string, std::vector<Case>, std::less<>> Cases() {
  using G = const Given&;
  using Sent = const std::vector<float>&;
  const auto own_times = [](long double by) {
    return [by](G g) { return std::vector<Vector>{ScaledBy(g.Own(), by)}; };
  };
  const auto ends = [](const auto& base, const auto& direction, long double t) {
    return [=](G g) {
      return std::vector<Vector>{Along(base(g), t, direction(g)), Along(base(g), -t, direction(g))};
    };
  };
  const auto mean = [](G g) { return g.Mean(); };
  const auto zero = [](G g) { return Vector(g.own.size(), 0.0L); };
  std::map<std::string, std::vector<Case>, std::less<>> cases;
  cases["none"] = {{None, own_times(1)}};
  cases["delayed"] = {{None, own_times(1)}};
  cases["sign_flip"] = {{None, own_times(-1000)}};
  cases["replacement"] = {{None, [](G g) {
                             return std::vector<Vector>{
                                 ScaledBy(g.Own(), static_cast<long double>(g.n() + kByzantine))};
                           }}};
  cases["ipm"] = {{None, [](G g) { return std::vector<Vector>{ScaledBy(g.Mean(), -0.6L)}; }}};
  cases["alie"] = {
      {[](G) {
         return Arguments{{"z", "1.5"}};
       },
       [](G g) { return std::vector<Vector>{Along(g.Mean(), -1.5L, g.Deviation())}; }}};
  cases["anti_cge"] = {{None, [](G g) { return std::vector<Vector>{AntiCge(g)}; }}};
  cases["mimic"] = {{None, [](G g) { return std::vector<Vector>{testing::SlowRow(g.honest[0])}; }}};
  cases["min_max"] = {{None, [](G g) { return std::vector<Vector>{EndOfLine(g, false, -1)}; }}};
  cases["min_sum"] = {{None, [](G g) { return std::vector<Vector>{EndOfLine(g, true, -1)}; }}};
  // A mean is damaged most at the ends of a line.
  cases["opt_min_max"] = {
      {None, [](G g) {
         return std::vector<Vector>{EndOfLine(g, false, -1), EndOfLine(g, false, 1)};
       }}};
  cases["opt_min_sum"] = {
      {None, [](G g) {
         return std::vector<Vector>{EndOfLine(g, true, -1), EndOfLine(g, true, 1)};
       }}};
  cases["opt_alie"] = {{None, ends(
                                  mean, [](G g) { return g.Deviation(); }, 100)}};
  cases["opt_ipm"] = {{None, ends(zero, mean, 100)}};
  cases["opt_coordinate"] = {
      {[](G g) {
         return Arguments{{"range", Of(g, 8)}};
       },
       [=](G g) {
         Vector axis = zero(g);
         axis[0] = 8 * g.unit;
         return std::vector<Vector>{Along(g.Mean(), 1, axis), Along(g.Mean(), -1, axis)};
       }}};
  cases["opt_fang"] = {{None, [](G g) {
                          Vector low = g.Mean(), high = g.Mean();
                          for (const auto& row : g.honest) {
                            for (std::size_t c = 0; c < low.size(); ++c) {
                              low[c] = std::min<long double>(low[c], row[c]);
                              high[c] = std::max<long double>(high[c], row[c]);
                            }
                          }
                          const Vector at = g.Mean();
                          Vector against = at, with = at;
                          for (std::size_t c = 0; c < at.size(); ++c) {
                            against[c] += 100 * ((at[c] > 0 ? low[c] : high[c]) - at[c]);
                            with[c] += 100 * ((at[c] > 0 ? high[c] : low[c]) - at[c]);
                          }
                          return std::vector<Vector>{against, with};
                        }}};
  cases["fang"] = {{None,
                    {},
                    [](G g, Sent sent) {
                      const Vector at = g.Mean();
                      for (std::size_t c = 0; c < sent.size(); ++c) {
                        long double extreme = g.honest[0][c];
                        for (const auto& row : g.honest) {
                          extreme = at[c] > 0 ? std::min<long double>(extreme, row[c])
                                              : std::max<long double>(extreme, row[c]);
                        }
                        const bool outwards = at[c] > 0 ? extreme < 0 : extreme > 0;
                        const long double end = outwards ? 2 * extreme : extreme / 2;
                        const long double slack =
                            std::abs(extreme) * 1e-6L + std::numeric_limits<float>::denorm_min();
                        if (sent[c] < std::max(-kLargest, std::min(extreme, end)) - slack ||
                            sent[c] > std::min(kLargest, std::max(extreme, end)) + slack) {
                          return false;
                        }
                      }
                      return true;
                    }},
                   {[](G) {
                      return Arguments{{"target", "krum"}};
                    },
                    {},
                    IsLastThatKrumTakes}};
  cases["rop"] = {{[](G g) {
                     return Arguments{{"z", Of(g, 2)}};
                   },
                   [](G g) {
                     const long double length = testing::SlowNorm(g.Mean());
                     return std::vector<Vector>{
                         ScaledBy(g.Mean(), 0.9L - (length > 0 ? 2 * g.unit / length : 0))};
                   }}};
  cases["random_direction"] = {{None, {}, [](G g, Sent sent) {
                                  // What is beyond float is cut.
                                  const long double length = 1000 * testing::SlowNorm(g.own);
                                  if (length > kLargest) return true;
                                  return std::abs(testing::SlowNorm(sent) - length) <=
                                         1e-6L * length + 8e-45L;
                                }}};
  cases["gaussian"] = {{[](G g) {
                          return Arguments{{"around", "own"}, {"sigma", Of(g, 2)}};
                        },
                        {},
                        [](G g, Sent sent) {
                          bool moved = false;
                          for (std::size_t c = 0; c < sent.size(); ++c) {
                            const long double way = std::abs(sent[c] - g.Own()[c]);
                            if (way > 12.5L * g.unit + 1e-6L * std::abs(g.Own()[c])) return false;
                            moved = moved || way > 0.01L * g.unit;
                          }
                          return moved;
                        }}};
  cases["uniform"] = {{[](G g) {
                         return Arguments{{"low", Of(g, 1)}, {"high", Of(g, 3)}};
                       },
                       {},
                       [](G g, Sent sent) {
                         return std::all_of(sent.begin(), sent.end(), [&](float value) {
                           return value >= g.unit * (1 - 1e-6L) && value <= 3 * g.unit;
                         });
                       }}};
  cases["bit_flip"] = {{None, [](G g) {
                          Vector flipped;
                          for (const float value : g.own) {
                            const auto bits = std::bit_cast<std::uint32_t>(value) ^ 0xe0200000U;
                            const auto found = std::bit_cast<float>(bits);
                            flipped.push_back(std::isfinite(found) ? static_cast<long double>(found)
                                              : (bits >> 31) != 0  ? -kLargest
                                                                   : kLargest);
                          }
                          return std::vector<Vector>{flipped};
                        }}};
  cases["sign_histogram"] = {{None, {}, [](G g, Sent sent) {
                                std::array<int, 3> wanted{}, found{};
                                for (const long double value : g.Mean()) {
                                  ++wanted[value > 0 ? 0 : value < 0 ? 1 : 2];
                                }
                                for (const float value : sent) {
                                  if (std::abs(value) > 1) return false;
                                  ++found[value > 0 ? 0 : value < 0 ? 1 : 2];
                                }
                                return wanted == found;
                              }}};
  cases["huge"] = {{None, [](G g) {
                      Vector sent;
                      for (const float value : g.own)
                        sent.push_back(value > 0 ? -kLargest : kLargest);
                      return std::vector<Vector>{sent};
                    }}};
  cases["inf"] = {{None, {}, [](G g, Sent sent) {
                     return sent == std::vector<float>(g.own.size(),
                                                       std::numeric_limits<float>::infinity());
                   }}};
  cases["nan"] = {{None, {}, [](G g, Sent sent) {
                     return sent.size() == g.own.size() &&
                            std::all_of(sent.begin(), sent.end(),
                                        [](float value) { return std::isnan(value); });
                   }}};
  cases["wrong_length"] = {{None, [](G g) {
                              Vector sent = g.Own();
                              sent.pop_back();
                              return std::vector<Vector>{sent};
                            }}};
  for (const char* on_work : {"label_flip", "ascent", "skip_inner"}) cases[on_work] = {};
  return cases;
}

const Victim kMean = [](const Rows& given, std::span<float> out) {
  const SerialExecutor serial;
  return Mean().Aggregate(given, serial, out);
};

base::StatusOr<std::vector<float>> Send(std::string_view name, const Arguments& arguments,
                                        const Given& given, AttackState* state = nullptr) {
  ASSIGN_OR_RETURN(const Attack attack, MakeAttack(name, arguments));
  AttackView view;
  view.own = given.own;
  view.honest = RowsOf(given.honest);
  view.byzantine_count = kByzantine;
  view.seed = 11;
  view.victim = &kMean;
  view.state = state;
  return ApplyAttack(attack, view);
}

// The mean of a huge row, its opposite and usual ones is what rounding of the huge left.
long double SizeOf(const Given& given) {
  long double size = 0;
  for (const auto& row : given.honest) size = std::max(size, testing::SlowNorm(row));
  return size;
}

bool IsNear(const Given& given, const std::vector<float>& sent, Vector expected) {
  if (sent.size() != expected.size()) return false;
  long double size = SizeOf(given);
  for (long double& value : expected) {
    value = std::clamp(value, -kLargest, kLargest);
    size = std::max(size, std::abs(value));
  }
  for (std::size_t c = 0; c < sent.size(); ++c) {
    const long double allowed = 2e-6L * size + 2 * std::numeric_limits<float>::denorm_min();
    if (!(std::abs(sent[c] - expected[c]) <= allowed)) return false;
  }
  return true;
}

TEST(AttackScales, AttacksAreTheirReferencesAtEveryScale) {
  const auto cases = Cases();
  EXPECT_EQ(cases.size(), Attacks().size());
  for (const AttackInfo* info : Attacks()) {
    const auto known = cases.find(info->name);
    ASSERT_NE(known, cases.end()) << info->name << " has no reference here";
    for (const Kind kind : testing::kKinds) {
      for (const int scale : testing::Scales<float>()) {
        base::Rng rng = base::Rng(3).Fork(info->name, static_cast<std::uint64_t>(kind));
        for (int trial = 0; trial < 3; ++trial) {
          Given given;
          given.honest = DrawMatrix<float>(rng, kind, 7, 2 + rng.Below(4), scale);
          given.own = DrawMatrix<float>(rng, Kind::kUsual, 1, given.honest[0].size(), scale)[0];
          given.unit = std::ldexp(1.0L, scale);
          for (const Case& one : known->second) {
            SCOPED_TRACE(std::string(info->name) + " at 2^" + std::to_string(scale) + ", kind " +
                         std::to_string(static_cast<int>(kind)) + ", trial " +
                         std::to_string(trial));
            const auto sent = Send(info->name, one.arguments(given), given);
            ASSERT_TRUE(sent.ok()) << sent.status();
            if (one.holds) {
              EXPECT_TRUE(one.holds(given, *sent));
              continue;
            }
            const std::vector<Vector> allowed = one.expected(given);
            EXPECT_TRUE(std::any_of(allowed.begin(), allowed.end(), [&](const Vector& vector) {
              return IsNear(given, *sent, vector);
            }));
          }
        }
      }
    }
  }
}

std::vector<float> Times(std::vector<float> values, int exponent) {
  for (float& value : values) value = std::ldexp(value, exponent);
  return values;
}

// The defaults, or one choice of a parameter, with every number in the gradients' unit times
// 2^exponent.
std::vector<Arguments> ArgumentsAt(const AttackInfo& info, int exponent) {
  Arguments units;
  for (const ParameterInfo& parameter : info.parameters) {
    if (!parameter.in_rows_unit) continue;
    const double value = std::stod(std::string(parameter.default_text));
    units.emplace_back(parameter.name, TextOf(std::ldexp(value, exponent)));
  }
  std::vector<Arguments> all = {units};
  for (const ParameterInfo& parameter : info.parameters) {
    for (const Choice& choice : parameter.choices) {
      all.push_back(units);
      all.back().emplace_back(parameter.name, choice.name);
    }
  }
  return all;
}

// Every attack of the table, also one that was added today, in three calls with one state. Values
// of few bits have all multiples in float32.
TEST(AttackScales, AMultipleOfTheGradientsGivesTheMultipleOfTheVector) {
  // Their vectors are not multiples of gradients, by definition.
  const std::set<std::string_view> others = {"bit_flip", "huge", "inf", "nan", "sign_histogram"};
  for (const AttackInfo* info : Attacks()) {
    if (info->knowledge == Knowledge::kWork || others.contains(info->name)) continue;
    for (const int exponent : {-100, -60, 40, 90}) {
      const auto here = ArgumentsAt(*info, 0);
      const auto there = ArgumentsAt(*info, exponent);
      for (std::size_t k = 0; k < here.size(); ++k) {
        base::Rng rng(9);
        AttackState state_a, state_b;
        for (int call = 0; call < 3; ++call) {
          SCOPED_TRACE(std::string(info->name) + " at 2^" + std::to_string(exponent) + ", choice " +
                       std::to_string(k));
          Given a;
          a.honest = DrawMatrix<float>(rng, Kind::kUsual, 7, 5, 0);
          a.own = a.honest[2];
          Given b;
          for (const auto& row : a.honest) b.honest.push_back(Times(row, exponent));
          b.own = b.honest[2];
          const auto one = Send(info->name, here[k], a, &state_a);
          const auto two = Send(info->name, there[k], b, &state_b);
          ASSERT_TRUE(one.ok() && two.ok()) << one.status() << two.status();
          EXPECT_EQ(*two, Times(*one, exponent));
        }
      }
    }
  }
}

// A direction that only rounding has is none: rows that cancel, and a mean along the last
// aggregate.
TEST(AttackScales, NoDirectionIsMadeOfRoundingNoise) {
  Given cancels;  // 2^40 + 2^-40 is 2^40 in a double, in the order of the lengths
  cancels.honest = {{0x1p40F, 0x1p50F},   {0x1p-40F, -0x2p50F}, {-0x1p40F, -0x3p50F},
                    {-0x1p-40F, 0x4p50F}, {0, 0x5p50F},         {0, 0x6p50F}};
  const auto anti = Send("anti_cge", {}, cancels);
  ASSERT_TRUE(anti.ok());
  EXPECT_EQ(*anti, (std::vector<float>{0, 0}));
  Given along;  // 49 (1 / 49) is less than 1 in doubles
  along.honest = Matrix(5, {1, 3, -5});
  AttackState state;
  state.aggregate = {49, 147, -245};
  const auto sent = Send("rop", {{"z", "1000"}, {"lambda", "1"}}, along, &state);
  ASSERT_TRUE(sent.ok());
  EXPECT_EQ(*sent, along.honest[0]);
}

}  // namespace
}  // namespace ostraka::aggregation::attack_scales_test
