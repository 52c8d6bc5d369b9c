// Rules, pre-aggregations and attacks do not depend on the scale of their rows. A multiple by a
// power of two of rows, state and parameters in the rows' unit gives that multiple of the result,
// to the bit in float64; and at every scale results are those of slow references in long double,
// whose exponents reach far beyond float64's: for usual rows, twins, zeros, and one huge row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include "aggregation/rules/pipeline.h"
#include "tests/property/scales/scale_draws.h"
#include "tests/unit/aggregation/history_references.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::scales_test {
namespace {

using testing::BasicMatrix;
using testing::Indices;
using testing::RowsOf;
using testing::Vector;

using testing::Kind;
using testing::kIsDouble;
using testing::kKinds;
using testing::Median;
using testing::ScaledBy;
using testing::Scales;
using testing::TextOf;

// What a rule gets: rows, f, a reference vector, and the unit 2^scale.
template <typename T>
struct Given {
  BasicMatrix<T> rows;
  std::size_t f = 0;
  std::vector<T> reference;
  long double unit = 1;

  std::size_t n() const { return rows.size(); }
  Vector start() const { return {reference.begin(), reference.end()}; }
  Vector Lengths() const { return testing::SlowNorms(rows); }
};

template <typename T>
std::string In(const Given<T>& given, const char* name, double value) {
  return std::string(name) + "=" + TextOf(static_cast<double>(value * given.unit));
}

long double Sum(const Vector& values) {
  return std::accumulate(values.begin(), values.end(), 0.0L);
}

template <typename T>
Vector ClippedMean(const Given<T>& given, const Indices& kept, long double limit) {
  const Vector lengths = given.Lengths();
  Vector weights(given.n(), 0.0L);
  for (const std::size_t i : kept) {
    weights[i] = testing::ClipFactor(lengths[i], limit) / static_cast<long double>(kept.size());
  }
  return testing::SlowWeightedSum(given.rows, weights);
}

template <typename T>
Vector MeanOfNearest(const Given<T>& given, const Vector& keys, std::size_t count) {
  return testing::SlowMeanOf(given.rows, testing::SlowSmallest(keys, count));
}

template <typename T>
Vector Normalized(const Given<T>& given, Vector weights) {
  const long double sum = Sum(weights);
  if (sum > 0) weights = ScaledBy(weights, 1 / sum);
  return testing::SlowWeightedSum(given.rows, weights);
}

// The subset of n - f rows with the least `measure`, of those within 2^-40 the first.
template <typename T, typename Measure>
Vector MeanOfBestSubset(const Given<T>& given, const Measure& measure) {
  Indices best;
  long double least = 0;
  for (const Indices& subset : testing::SubsetsOf(given.n(), given.n() - given.f)) {
    const long double value = measure(given.rows, subset);
    if (!best.empty() && !(value < least * (1 - 0x1p-40L))) continue;
    best = subset;
    least = value;
  }
  return testing::SlowMeanOf(given.rows, best);
}

template <typename T>
double Unit(const Given<T>& given) {
  return static_cast<double>(given.unit);
}

// No residual can be asked for that is less than what T's least numbers leave.
template <typename T>
double Residual(double eps) {
  return std::max<double>(eps, 16 * std::numeric_limits<T>::denorm_min());
}

// sum_i clip(row_i - v, tau), which a result shall bring to zero.
template <typename T>
bool IsFixedPoint(const Given<T>& given, const std::vector<T>& out, long double tau,
                  long double eps) {
  const auto n = static_cast<long double>(given.n());
  return testing::SlowResidual(given.rows, out, tau) <=
         n * (eps + 0x1p-23L * testing::SlowNorm(out));
}

// An entry's text, and either its result or what the result has to be.
template <typename T>
struct Case {
  std::function<std::string(const Given<T>&)> text;
  std::function<Vector(const Given<T>&)> expected = {};
  std::function<bool(const Given<T>&, const std::vector<T>&)> holds = {};
};

template <typename T>
using Cases = std::map<std::string, std::vector<Case<T>>, std::less<>>;

template <typename T>
std::string F(const Given<T>& given) {
  return "f=" + std::to_string(given.f);
}

template <typename T>
Case<T> Krum(const char* variant, bool many) {
  const std::string name = variant;
  return {[=](const Given<T>& g) { return F(g) + ",variant=" + name; },
          [=](const Given<T>& g) {
            const std::size_t few = g.n() > g.f + 2 ? g.n() - g.f - 2 : 1;
            const bool wide = name == "byzfl" || name == "byzmom";
            const Vector scores = testing::SlowKrumScores(g.rows, wide ? g.n() - g.f - 1 : few,
                                                          name == "epfl"     ? 4
                                                          : name == "byzmom" ? 1
                                                                             : 2);
            const std::size_t count = name == "epfl" ? 1 : name == "byzfl" ? g.n() - g.f : few;
            return MeanOfNearest(g, scores, many ? count : 1);
          }};
}

template <typename T>
Vector SlowDnc(const Given<T>& g) {
  Vector mean;
  const Vector v =
      testing::SlowTopEigen(testing::SlowCovariance(g.rows, Vector(g.n(), 1.0L), mean)).second;
  Vector scores;
  for (const auto& row : g.rows) {
    Vector difference = testing::SlowRow(row);
    for (std::size_t c = 0; c < mean.size(); ++c) difference[c] -= mean[c];
    scores.push_back(std::pow(testing::Dot(difference, v), 2.0L));
  }
  return MeanOfNearest(g, scores, g.n() - g.f);
}

// One case or more for every rule.
template <typename T>
Cases<T> CasesOfRules() {
  using G = const Given<T>&;
  const auto only_f = [](G g) { return F(g); };
  const auto all = [](G g) {
    Indices every(g.n());
    std::iota(every.begin(), every.end(), std::size_t{0});
    return every;
  };
  Cases<T> cases;
  cases["mean"] = {{only_f, [=](G g) { return testing::SlowMeanOf(g.rows, all(g)); }}};
  cases["median"] = {{only_f, [](G g) { return testing::SlowMedian(g.rows); }},
                     {[](G) { return std::string("variant=lower"); },
                      [](G g) { return testing::SlowLowerMedian(g.rows); }}};
  cases["trimmed_mean"] = {{only_f, [](G g) { return testing::SlowTrimmedMean(g.rows, g.f); }}};
  cases["meamed"] = {{only_f, [](G g) { return testing::SlowMeamed(g.rows, g.f); }}};
  cases["phocas"] = {{only_f, [](G g) { return testing::SlowPhocas(g.rows, g.f); }}};
  cases["sign_majority"] = {{only_f, [](G g) { return testing::SlowSignMajority(g.rows); }}};
  for (const char* variant : {"paper", "byzfl", "epfl", "byzmom"}) {
    cases["krum"].push_back(Krum<T>(variant, false));
    cases["multi_krum"].push_back(Krum<T>(variant, true));
  }
  cases["bulyan"] = {{only_f, [](G g) {
                        BasicMatrix<T> kept;
                        for (const std::size_t i : testing::SlowBulyanSet(g.rows, g.f)) {
                          kept.push_back(g.rows[i]);
                        }
                        const std::size_t beta = kept.size() - 2 * g.f;
                        return testing::ByColumn(kept, [&](const Vector& x) {
                          return testing::MeanOfNearestTo(x, testing::MedianOfSorted(x), beta);
                        });
                      }}};
  cases["mda"] = {{only_f, [](G g) { return MeanOfBestSubset(g, testing::DiameterOf<T>); }}};
  cases["smea"] = {{only_f, [](G g) { return MeanOfBestSubset(g, testing::VarianceOf<T>); }}};
  cases["caf"] = {{only_f, [](G g) { return testing::SlowCaf(g.rows, g.f, false); }}};
  cases["dnc"] = {{only_f, SlowDnc<T>}};
  cases["cge"] = {{only_f, [](G g) { return MeanOfNearest(g, g.Lengths(), g.n() - g.f); }}};
  cases["monna"] = {{[](G g) { return F(g) + ",idx=1"; },
                     [](G g) {
                       const Vector own = testing::SlowRow(g.rows[1]);
                       return MeanOfNearest(g, testing::SlowDistancesTo(g.rows, own), g.n() - g.f);
                     }}};
  cases["aksel"] = {{only_f, [](G g) {
                       const Vector median = testing::SlowMedian(g.rows);
                       return MeanOfNearest(g, testing::SlowDistancesTo(g.rows, median),
                                            (g.n() + 1) / 2);
                     }}};
  cases["centered_clip"] = {
      {[](G g) { return In(g, "tau", 1) + ",eps=" + TextOf(Residual<T>(1e-6 * Unit(g))); },
       {},
       [](G g, const auto& out) {
         return IsFixedPoint(g, out, g.unit, Residual<T>(1e-6 * Unit(g)));
       }},
      {[](G g) { return "variant=steps,L=3," + In(g, "tau", 1.5); },
       [](G g) { return testing::SlowClipSteps(g.rows, g.start(), 1.5L * g.unit, 3); }}};
  cases["geometric_median"] = {
      {[](G g) { return "nu=" + TextOf(1e7 * Residual<T>(1e-8 * Unit(g))); },
       {},
       [](G g, const auto& out) {
         const double eps = Residual<T>(1e-8 * Unit(g));
         return IsFixedPoint(g, out, 1e7 * eps, 1.001 * eps);
       }},
      {[](G g) { return "variant=weiszfeld,T=4," + In(g, "nu", 0.125); },
       [](G g) { return testing::SlowWeiszfeld(g.rows, g.start(), 0.125L * g.unit, 4); }}};
  cases["self_centered_clip"] = {
      {[](G g) { return F(g) + "," + In(g, "tau", 2); },
       [](G g) { return testing::SlowClipSteps(g.rows, g.start(), 2 * g.unit, 1); }},
      {only_f, [](G g) {
         Vector distances = testing::SlowDistancesTo(g.rows, g.start());
         std::sort(distances.begin(), distances.end());
         return testing::SlowClipSteps(g.rows, g.start(), distances[g.n() - g.f - 1], 1);
       }}};
  cases["norm_clipping"] = {
      {[](G g) { return In(g, "c", 2); }, [=](G g) { return ClippedMean(g, all(g), 2 * g.unit); }}};
  cases["signguard"] = {{[](G) { return std::string("low=0.5,high=2"); },
                         [](G g) { return testing::SlowSignGuard(g.rows, 0.5L, 2.0L); }}};
  cases["clipped_clustering"] = {
      {[](G g) { return In(g, "largest", 1.25); },
       [](G g) {
         const long double limit = std::min(Median(g.Lengths()), 1.25L * g.unit);
         return ClippedMean(g, testing::SlowLargerCluster(g.rows), limit);
       }}};
  cases["flame"] = {{[](G) { return std::string("epsilon=0"); },
                     [](G g) {
                       return ClippedMean(g, testing::SlowDensestMajority(g.rows),
                                          Median(g.Lengths()));
                     }}};
  cases["foolsgold"] = {
      {only_f, [](G g) { return Normalized(g, testing::SlowFoolsGold(g.rows)); }}};
  cases["fltrust"] = {{only_f, [](G g) {
                         Vector trust;
                         for (const auto& row : g.rows) {
                           trust.push_back(
                               std::max(0.0L, testing::Cosine(testing::SlowRow(row), g.start())));
                         }
                         const long double sum = Sum(trust);
                         for (std::size_t i = 0; i < g.n(); ++i) {
                           if (trust[i] == 0) continue;
                           trust[i] *= testing::SlowNorm(g.start()) / g.Lengths()[i] / sum;
                         }
                         return testing::SlowWeightedSum(g.rows, trust);
                       }}};
  cases["safeguard"] = {{[](G g) { return In(g, "th0", 5) + "," + In(g, "th1", 5); },
                         [=](G g) { return testing::SlowMeanOf(g.rows, all(g)); }}};
  return cases;
}

template <typename T>
Vector Flat(const std::vector<Vector>& rows) {
  Vector flat;
  for (const Vector& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

template <typename T>
Vector Clipped(const Given<T>& given, long double limit) {
  std::vector<Vector> rows;
  for (const auto& row : given.rows) {
    const Vector values = testing::SlowRow(row);
    rows.push_back(ScaledBy(values, testing::ClipFactor(testing::SlowNorm(values), limit)));
  }
  return Flat<T>(rows);
}

template <typename T>
Cases<T> CasesOfPre() {
  using G = const Given<T>&;
  const auto only_f = [](G g) { return F(g); };
  Cases<T> cases;
  cases["nnm"] = {{only_f, [](G g) {
                     std::vector<Vector> rows;
                     for (const auto& row : g.rows) {
                       const Vector own = testing::SlowRow(row);
                       rows.push_back(
                           MeanOfNearest(g, testing::SlowDistancesTo(g.rows, own), g.n() - g.f));
                     }
                     return Flat<T>(rows);
                   }}};
  cases["bucketing"] = {{[](G) { return std::string("s=2,order=given"); },
                         [](G g) {
                           std::vector<Vector> rows;
                           for (std::size_t i = 0; i < g.n(); i += 2) {
                             Indices bucket = {i};
                             if (i + 1 < g.n()) bucket.push_back(i + 1);
                             rows.push_back(testing::SlowMeanOf(g.rows, bucket));
                           }
                           return Flat<T>(rows);
                         }}};
  cases["clipping"] = {
      {[](G g) { return In(g, "c", 1.5); }, [](G g) { return Clipped(g, 1.5L * g.unit); }}};
  cases["arc"] = {{only_f, [](G g) {
                     Vector lengths = g.Lengths();
                     std::sort(lengths.begin(), lengths.end());
                     return Clipped(g, lengths[g.n() - 2 * g.f * (g.n() - g.f) / g.n() - 1]);
                   }}};
  cases["worker_momentum"] = {{[](G) { return std::string("beta=0.75"); },
                               [](G g) {
                                 std::vector<Vector> rows;
                                 for (const auto& row : g.rows) {
                                   rows.push_back(ScaledBy(testing::SlowRow(row), 0.25L));
                                 }
                                 return Flat<T>(rows);
                               }}};
  return cases;
}

template <typename T>
base::StatusOr<std::vector<T>> RunRule(const std::string& text, const BasicRows<T>& rows,
                                       State* state = nullptr, Report* report = nullptr) {
  ASSIGN_OR_RETURN(const ElementSpec element, ParseElement(text));
  ASSIGN_OR_RETURN(const auto rule, MakeRule(element.name, element.arguments));
  const SerialExecutor serial;
  std::vector<T> out(rows.dimension);
  RETURN_IF_ERROR(rule->Aggregate(rows, Call(serial, state, report), out));
  return out;
}
template <typename T>
base::StatusOr<std::vector<T>> RunPre(const std::string& text, const BasicRows<T>& rows,
                                      State* state = nullptr) {
  ASSIGN_OR_RETURN(const ElementSpec element, ParseElement(text));
  ASSIGN_OR_RETURN(const auto pre, MakePreAggregation(element.name, element.arguments));
  const SerialExecutor serial;
  std::vector<T> out(pre->OutputRows(rows.count()) * rows.dimension);
  RETURN_IF_ERROR(pre->Apply(rows, Call(serial, state, nullptr), out));
  return out;
}

// Within T's rounding of values and of the arithmetic, at the size of the middle row and the
// result: a huge row that does not belong into the result may not blur it.
template <typename T>
::testing::AssertionResult IsNear(const Given<T>& given, const std::vector<T>& found,
                                  const Vector& expected) {
  if (found.size() != expected.size()) return ::testing::AssertionFailure() << "another length";
  const long double size = std::max(Median(given.Lengths()), testing::SlowNorm(expected));
  const long double rounding = kIsDouble<T> ? 1e-9L : 1e-6L;
  const long double least = std::numeric_limits<T>::denorm_min();
  for (std::size_t c = 0; c < found.size(); ++c) {
    const long double difference = std::abs(found[c] - expected[c]);
    if (!(difference <= rounding * size + 2 * least)) {
      return ::testing::AssertionFailure()
             << "coordinate " << c << " is " << static_cast<double>(found[c] / given.unit)
             << " and not " << static_cast<double>(expected[c] / given.unit) << " units";
    }
  }
  return ::testing::AssertionSuccess();
}

template <typename T, typename Info, typename Run>
void ExpectReferences(std::span<const Info* const> infos, const Cases<T>& cases, const Run& run) {
  EXPECT_EQ(cases.size(), infos.size());
  for (const Info* info : infos) {
    const std::string name(info->about.name);
    const auto known = cases.find(name);
    ASSERT_NE(known, cases.end()) << name << " has no reference here";
    for (const Kind kind : kKinds) {
      for (const int scale : Scales<T>()) {
        base::Rng rng = base::Rng(7).Fork(name, static_cast<std::uint64_t>(kind));
        for (int trial = 0; trial < 4; ++trial) {
          Given<T> given;
          given.rows = DrawMatrix<T>(rng, kind, 7 + rng.Below(3), 2 + rng.Below(4), scale);
          given.f = name == "bulyan" ? 1 : 2;
          given.reference = DrawMatrix<T>(rng, Kind::kUsual, 1, given.rows[0].size(), scale)[0];
          given.unit = std::ldexp(1.0L, scale);
          BasicRows<T> rows = RowsOf(given.rows);
          rows.reference = given.reference.data();
          for (const Case<T>& one : known->second) {
            const std::string text = name + ":" + one.text(given);
            SCOPED_TRACE(text + " at 2^" + std::to_string(scale) + ", kind " +
                         std::to_string(static_cast<int>(kind)) + ", trial " +
                         std::to_string(trial));
            const base::StatusOr<std::vector<T>> out = run(text, rows);
            ASSERT_TRUE(out.ok()) << out.status();
            if (one.expected) {
              EXPECT_TRUE(IsNear(given, *out, one.expected(given)));
            } else {
              EXPECT_TRUE(one.holds(given, *out));
            }
          }
        }
      }
    }
  }
}

TEST(Scales, Float64RulesAreTheirReferences) {
  ExpectReferences<double>(Rules(), CasesOfRules<double>(),
                           [](const auto& text, const auto& rows) { return RunRule(text, rows); });
}
TEST(Scales, Float32RulesAreTheirReferences) {
  ExpectReferences<float>(Rules(), CasesOfRules<float>(),
                          [](const auto& text, const auto& rows) { return RunRule(text, rows); });
}
TEST(Scales, Float64PreAggregationsAreTheirReferences) {
  ExpectReferences<double>(PreAggregations(), CasesOfPre<double>(),
                           [](const auto& text, const auto& rows) { return RunPre(text, rows); });
}
TEST(Scales, Float32PreAggregationsAreTheirReferences) {
  ExpectReferences<float>(PreAggregations(), CasesOfPre<float>(),
                          [](const auto& text, const auto& rows) { return RunPre(text, rows); });
}

// An entry at its defaults, with every parameter in the rows' unit times 2^exponent.
std::string TextAt(const Description& about, int exponent) {
  std::string text = std::string(about.name) + ":f=" + (about.name == "bulyan" ? "1" : "2");
  for (const ParameterInfo& parameter : about.parameters) {
    const bool required = parameter.default_kind == Default::kRequired && parameter.name != "f";
    if (!required && !(parameter.in_rows_unit && parameter.default_kind == Default::kValue)) {
      continue;
    }
    const double value = required ? 5 : std::stod(std::string(parameter.default_text));
    text += "," + std::string(parameter.name) + "=" +
            TextOf(parameter.in_rows_unit ? std::ldexp(value, exponent) : value);
  }
  return text;
}

std::vector<double> Times(std::vector<double> values, int exponent) {
  for (double& value : values) value = std::ldexp(value, exponent) + 0.0;
  return values;
}

BasicMatrix<double> Times(BasicMatrix<double> rows, int exponent) {
  for (auto& row : rows) row = Times(row, exponent);
  return rows;
}

// Every entry of the registry, also one that was added today: three calls with one state.
TEST(Scales, AMultipleOfTheRowsGivesTheMultipleOfTheResult) {
  for (const int exponent : {-1000, -700, -300, -200, 200, 250, 260, 300, 481, 700, 1000}) {
    base::Rng rng(static_cast<std::uint64_t>(2000 + exponent));
    std::map<std::string, std::pair<State, State>, std::less<>> states;
    for (int call = 0; call < 3; ++call) {
      const BasicMatrix<double> here = DrawMatrix<double>(rng, Kind::kUsual, 9, 6, 0);
      const BasicMatrix<double> there = Times(here, exponent);
      DoubleRows a = RowsOf(here), b = RowsOf(there);
      a.reference = here[4].data();
      b.reference = there[4].data();
      for (const RuleInfo* info : Rules()) {
        SCOPED_TRACE(std::string(info->about.name) + " at 2^" + std::to_string(exponent));
        auto& [state_a, state_b] = states[std::string("rule ") + std::string(info->about.name)];
        Report report_a, report_b;
        const auto one = RunRule(TextAt(info->about, 0), a, &state_a, &report_a);
        const auto two = RunRule(TextAt(info->about, exponent), b, &state_b, &report_b);
        ASSERT_TRUE(one.ok()) << one.status();
        ASSERT_TRUE(two.ok()) << two.status();
        const int power = info->about.arithmetic == Arithmetic::kCompares ? 0 : exponent;
        EXPECT_EQ(*two, Times(*one, power));
        EXPECT_EQ(report_b.selected, report_a.selected);
        EXPECT_EQ(report_b.weights, report_a.weights);
        EXPECT_EQ(report_b.iterations, report_a.iterations);
        EXPECT_EQ(report_b.scores.size(), report_a.scores.size());
      }
      for (const PreInfo* info : PreAggregations()) {
        SCOPED_TRACE(std::string(info->about.name) + " at 2^" + std::to_string(exponent));
        auto& [state_a, state_b] = states[std::string("pre ") + std::string(info->about.name)];
        const auto one = RunPre(TextAt(info->about, 0), a, &state_a);
        const auto two = RunPre(TextAt(info->about, exponent), b, &state_b);
        ASSERT_TRUE(one.ok()) << one.status();
        ASSERT_TRUE(two.ok()) << two.status();
        EXPECT_EQ(*two, Times(*one, exponent));
      }
    }
    for (const auto& [name, pair] : states) {
      EXPECT_EQ(pair.first.calls, pair.second.calls);
      for (std::size_t k = 0; k < pair.first.vectors.size(); ++k) {
        EXPECT_EQ(pair.second.vectors[k], Times(pair.first.vectors[k], exponent)) << name;
      }
    }
  }
}

// Scores are in the rows' unit to a power, as far as float64 has them.
TEST(Scales, ScoresAreInTheRowsUnit) {
  base::Rng rng(5);
  const BasicMatrix<double> here = DrawMatrix<double>(rng, Kind::kUsual, 9, 6, 0);
  const BasicMatrix<double> there = Times(here, -240);
  for (const auto& [text, power] : std::map<std::string, int>{{"krum:f=2", 2},
                                                              {"krum:f=2,variant=epfl", 4},
                                                              {"krum:f=2,variant=byzmom", 1},
                                                              {"cge:f=2", 2},
                                                              {"monna:f=2", 2},
                                                              {"aksel:f=2", 2}}) {
    Report a, b;
    ASSERT_TRUE(RunRule(text, RowsOf(here), nullptr, &a).ok());
    ASSERT_TRUE(RunRule(text, RowsOf(there), nullptr, &b).ok());
    EXPECT_EQ(b.scores, Times(a.scores, -240 * power)) << text;
  }
  Report a, b;
  ASSERT_TRUE(RunRule("smea:f=2", RowsOf(here), nullptr, &a).ok());
  ASSERT_TRUE(RunRule("smea:f=2", RowsOf(there), nullptr, &b).ok());
  EXPECT_EQ(b.residual, std::ldexp(a.residual, -480));
}

// The ends of float64 itself: nothing overflows, nothing fails a CHECK.
TEST(Scales, TheLargestAndTheLeastFloat64GiveFiniteResults) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  for (const double size : {kLargest, kLeast}) {
    BasicMatrix<double> rows(9, {size, -size, 0, size});
    rows[3] = {-size, -size, size, 0};
    rows[6] = {0, 0, 0, 0};
    DoubleRows view = RowsOf(rows);
    view.reference = rows[0].data();
    const auto expect_inside = [&](const std::string& text,
                                   const base::StatusOr<std::vector<double>>& out) {
      ASSERT_TRUE(out.ok()) << text << ": " << out.status();
      for (const double value : *out) EXPECT_LE(std::abs(value), std::max(size, 1.0)) << text;
    };
    for (const RuleInfo* info : Rules()) {
      const std::string text = TextAt(info->about, 0);
      expect_inside(text, RunRule(text, view));
    }
    for (const PreInfo* info : PreAggregations()) {
      const std::string text = TextAt(info->about, 0);
      expect_inside(text, RunPre(text, view));
    }
  }
}

// The limit that stays, and its remedy.
TEST(Scales, ARowTooLargeBesideTheOthersIsNamedOrDropped) {
  BasicMatrix<double> rows(7, {1, 2});
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][0] += 0.125 * static_cast<double>(i);
  rows[4][1] = 0x1p450;
  std::vector<double> out(2);
  for (const RuleInfo* info : Rules()) {
    DoubleRows view = RowsOf(rows);
    view.reference = rows[0].data();
    const auto found = RunRule(TextAt(info->about, 0), view);
    if (info->about.arithmetic != Arithmetic::kMultiplies) {
      EXPECT_TRUE(found.ok()) << info->about.name;
      continue;
    }
    EXPECT_EQ(base::MessageOf(found.status()),
              "row 4 has values more than 2^400 times as large as row 3, the middle one, and their "
              "distances do not fit into float64: leave it out, as drop_invalid does")
        << info->about.name;
  }
  const auto pipeline = Pipeline::Make({{"krum", {}}, {{"nnm", {}}}, 2, true});
  ASSERT_TRUE(pipeline.ok());
  Report report;
  ASSERT_TRUE(pipeline->Aggregate(RowsOf(rows), SerialExecutor(), out, nullptr, &report).ok());
  EXPECT_EQ(report.dropped, (Indices{4}));
  EXPECT_EQ(out[1], 2);
  // What only adds takes it.
  const auto median = Pipeline::Make({{"median", {}}, {}, 2, true});
  ASSERT_TRUE(median->Aggregate(RowsOf(rows), SerialExecutor(), out, nullptr, &report).ok());
  EXPECT_TRUE(report.dropped.empty());
}

// Every parameter whose meaning names the unit scales with it.
TEST(Scales, ParametersInTheRowsUnitAreMarked) {
  const auto check = [](const Description& about) {
    for (const ParameterInfo& parameter : about.parameters) {
      if (parameter.meaning.find("rows' unit") == std::string_view::npos) continue;
      EXPECT_TRUE(parameter.in_rows_unit) << about.name << " " << parameter.name;
    }
  };
  for (const RuleInfo* info : Rules()) check(info->about);
  for (const PreInfo* info : PreAggregations()) check(info->about);
}

}  // namespace
}  // namespace ostraka::aggregation::scales_test
