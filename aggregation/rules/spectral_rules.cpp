// Rules based on the directions of greatest variance of the rows. All work on n x n matrices of
// inner products: the eigenvectors of a covariance lie in the span of the rows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregation/kernels/eigen.h"
#include "aggregation/rules/entries.h"
#include "aggregation/shared/selection.h"
#include "aggregation/shared/subset_search.h"
#include "aggregation/shared/typed_rule.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {
namespace {

class Smea final : public TypedRule<Smea> {
 public:
  explicit Smea(std::size_t f) : f_(f) {}
  std::string_view name() const override { return "smea"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(const SymmetricMatrix squares, SquaredDistancesOf(rows, call.executor));
    ASSIGN_OR_RETURN(LeastVariance best, LeastVarianceSubset(squares, rows.count() - f_));
    RETURN_IF_ERROR(MeanOfSelected(rows, std::move(best.rows), call, out));
    if (call.report != nullptr) {
      call.report->residual = best.largest_eigenvalue;
      call.report->residual_power = 2;
    }
    return base::OkStatus();
  }

 private:
  std::size_t f_;
};

// The direction of greatest variance of weighted rows, in terms of the rows.
struct Spread {
  double eigenvalue = 0;
  std::vector<double> squares;  // ((row_i - mean) . v)^2, for every row
};

// Spread of rows with weights c >= 0, not all zero, about their weighted mean, from squared
// distances: <x_i - mu, x_j - mu> = -(D_ij - m_i - m_j + m) / 2 with weighted means m of D.
Spread SpreadOf(const SymmetricMatrix& squares, const std::vector<double>& weights) {
  const std::size_t n = squares.size();
  double sum = 0;
  for (const double c : weights) sum += c;
  std::vector<double> mean(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) mean[i] += weights[j] * squares(i, j);
    mean[i] /= sum;
  }
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += weights[i] * mean[i];
  total /= sum;
  const auto inner = [&](std::size_t i, std::size_t j) {
    return -0.5 * ((squares(i, j) - mean[i]) - (mean[j] - total));
  };
  // Rows of weight zero do not affect the covariance and may be far away. They are excluded from
  // the eigenproblem, so that they cannot cost it precision.
  std::vector<std::size_t> live;
  for (std::size_t i = 0; i < n; ++i) {
    if (weights[i] > 0) live.push_back(i);
  }
  const std::size_t m = live.size();
  std::vector<double> covariance(m * m);
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = 0; b < m; ++b) {
      covariance[a * m + b] =
          std::sqrt(weights[live[a]] * weights[live[b]]) * inner(live[a], live[b]) / sum;
    }
  }
  const TopEigen top = LargestEigen(m, std::move(covariance));
  Spread spread;
  spread.eigenvalue = std::max(0.0, top.value);
  spread.squares.assign(n, 0.0);
  if (spread.eigenvalue == 0) return spread;
  // v = sum_j sqrt(c_j) u_j (x_j - mu) / sqrt(lambda sum), of length 1.
  for (std::size_t i = 0; i < n; ++i) {
    double projection = 0;
    for (std::size_t b = 0; b < m; ++b) {
      projection += std::sqrt(weights[live[b]]) * top.vector[b] * inner(i, live[b]);
    }
    spread.squares[i] = projection * projection / (spread.eigenvalue * sum);
  }
  return spread;
}

class Caf final : public TypedRule<Caf> {
 public:
  explicit Caf(std::size_t f) : f_(f) {}
  std::string_view name() const override { return "caf"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(const SymmetricMatrix squares, SquaredDistancesOf(rows, call.executor));
    std::size_t iterations = 0;
    const std::vector<double> weights = Weights(squares, iterations);
    RETURN_IF_ERROR(WeightedSum<T>(rows, weights, call, out));
    if (call.report != nullptr) call.report->iterations = iterations;
    return base::OkStatus();
  }

 private:
  // Each round makes one row's weight zero, so there are at most n rounds.
  std::vector<double> Weights(const SymmetricMatrix& squares, std::size_t& iterations) const {
    const std::size_t n = squares.size();
    const auto enough = static_cast<double>(n - 2 * f_);
    std::vector<double> c(n, 1.0);
    std::vector<double> best = c;
    double best_value = 0;
    while (true) {
      const Spread spread = SpreadOf(squares, c);
      if (iterations++ == 0 || spread.eigenvalue < best_value) {
        best = c;
        best_value = spread.eigenvalue;
      }
      double largest = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (c[i] > 0) largest = std::max(largest, spread.squares[i]);
      }
      if (!(largest > 0)) break;  // the remaining rows do not vary
      for (std::size_t i = 0; i < n; ++i) {
        if (c[i] > 0) c[i] *= 1 - spread.squares[i] / largest;
      }
      if (!(std::accumulate(c.begin(), c.end(), 0.0) > enough)) break;
    }
    const double sum = std::accumulate(best.begin(), best.end(), 0.0);
    for (double& weight : best) weight /= sum;
    return best;
  }

  std::size_t f_;
};

struct DncOptions {
  std::size_t f = 0;
  std::size_t coordinates = 10'000;
  std::size_t iterations = 5;
  double filter = 1;
  std::uint64_t seed = 0;
};

class Dnc final : public TypedRule<Dnc> {
 public:
  explicit Dnc(DncOptions options) : options_(options) {}
  std::string_view name() const override { return "dnc"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    const std::size_t n = rows.count();
    RETURN_IF_ERROR(CheckRows(rows, call.executor));
    const auto dropped =
        static_cast<std::size_t>(options_.filter * static_cast<double>(options_.f));
    if (dropped >= n) {
      return base::InvalidArgument("dnc needs c f < n, not " + std::to_string(dropped) +
                                   " dropped of n = " + std::to_string(n) + " rows");
    }
    const base::Rng root(options_.seed);
    std::vector<std::size_t> kept(n, 0);
    for (std::size_t k = 0; k < options_.iterations; ++k) {
      base::Rng rng = root.Fork("dnc", k);
      const std::vector<double> scores = Scores(rows, rng, call.executor);
      for (const std::size_t i : Smallest(scores, n - dropped)) ++kept[i];
    }
    const std::size_t most = *std::max_element(kept.begin(), kept.end());
    std::vector<std::size_t> selected;
    for (std::size_t i = 0; i < n; ++i) {
      if (kept[i] == most) selected.push_back(i);
    }
    return MeanOfSelected(rows, std::move(selected), call, out);
  }

 private:
  // The squared projection of each row on the direction of greatest variance, on a sample of the
  // coordinates.
  template <typename T>
  std::vector<double> Scores(const BasicRows<T>& rows, base::Rng& rng,
                             const Executor& executor) const {
    const std::vector<std::size_t> at = Sample(rows.dimension, rng);
    std::vector<std::vector<T>> parts(rows.count());
    BasicRows<T> sample;
    sample.dimension = at.size();
    for (std::size_t i = 0; i < rows.count(); ++i) {
      for (const std::size_t c : at) parts[i].push_back(rows.row[i][c]);
      sample.row.push_back(parts[i].data());
    }
    const auto squares = SquaredDistancesOf(sample, executor);
    return SpreadOf(*squares, std::vector<double>(rows.count(), 1.0)).squares;
  }

  // Distinct coordinates in ascending order (Floyd's algorithm); all of them if they are few.
  std::vector<std::size_t> Sample(std::size_t dimension, base::Rng& rng) const {
    std::vector<std::size_t> at;
    if (dimension <= options_.coordinates) {
      at.resize(dimension);
      std::iota(at.begin(), at.end(), std::size_t{0});
      return at;
    }
    std::vector<char> taken(dimension, 0);
    for (std::size_t j = dimension - options_.coordinates; j < dimension; ++j) {
      const std::size_t drawn = rng.Below(j + 1);
      taken[taken[drawn] ? j : drawn] = 1;
    }
    for (std::size_t c = 0; c < dimension; ++c) {
      if (taken[c]) at.push_back(c);
    }
    return at;
  }

  DncOptions options_;
};

constexpr ParameterInfo kDncParameters[] = {
    kFaults,
    {.name = "b",
     .type = ValueType::kInteger,
     .meaning = "coordinates to look at in each iteration; all where d is smaller",
     .default_kind = Default::kValue,
     .default_text = "10000",
     .low = 1},
    {.name = "iterations",
     .type = ValueType::kInteger,
     .meaning = "samples of coordinates",
     .default_kind = Default::kValue,
     .default_text = "5",
     .low = 1,
     .high = 1000},
    {.name = "c",
     .meaning = "rows dropped in each iteration, as a multiple of f, rounded down",
     .default_kind = Default::kValue,
     .default_text = "1"},
    {.name = "seed",
     .type = ValueType::kInteger,
     .meaning = "of the samples",
     .default_kind = Default::kValue,
     .default_text = "0"}};

}  // namespace

const RuleInfo kSmeaInfo = {
    .about = {.name = "smea",
              .summary = "the mean of the n - f rows that vary least in any direction",
              .definition = "the mean of the n - f rows whose covariance has the least largest "
                            "eigenvalue; exact; of values within 2^-40 the lexicographically "
                            "first set",
              .source = "Allouah, Guerraoui, Gupta, Pinot, Stephan, ICML 2023 (privacy, "
                        "robustness, utility), smallest maximum eigenvalue averaging",
              .parameters = kOnlyFaults,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2",
              .passes = 2},
    .make = MakeOfFaults<Smea>};

const RuleInfo kCafInfo = {
    .about = {.name = "caf",
              .summary = "a weighted mean, with less weight for rows far out where the rows vary "
                         "most",
              .definition = "c = 1; with mu the weighted mean, v the direction of most weighted "
                            "variance and t_i = ((row_i - mu) . v)^2: c_i *= 1 - t_i / max{t_j : "
                            "c_j > 0}, until sum c <= n - 2f; the mu of least variance on the way",
              .source = "Allouah, Guerraoui, Stephan, ICML 2025, covariance bound agnostic filter; "
                        "the maximum runs over rows of positive weight, so that it ends",
              .parameters = kOnlyFaults,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2",
              .passes = 2},
    .make = MakeOfFaults<Caf>};

const RuleInfo kDncInfo = {
    .about = {.name = "dnc",
              .summary = "divide and conquer: the mean of the rows that are not far out where the "
                         "rows vary most",
              .definition = "in each iteration on a sample of b coordinates: the n - floor(c f) "
                            "rows of least ((row_i - mean) . v)^2, v the direction of most "
                            "variance; the mean of the rows kept in every iteration, or if there "
                            "is none, of those kept most often",
              .source = "Shejwalkar, Houmansadr, NDSS 2021, algorithm 2",
              .parameters = kDncParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2 if the attack shows in the directions of most variance",
              .passes = 2},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<Dnc>(DncOptions{given.Integer("f"), given.Integer("b"),
                                              given.Integer("iterations"), given.Real("c"),
                                              given.Integer("seed")});
    }};

}  // namespace ostraka::aggregation
