// Defences that weigh or leave out rows by direction, length and history.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "aggregation/clusters.h"
#include "aggregation/entries.h"
#include "aggregation/natural_log.h"
#include "aggregation/passes.h"
#include "aggregation/selection.h"
#include "aggregation/typed_rule.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {
namespace {

std::vector<double> Lengths(const SymmetricMatrix& gram) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i < gram.size(); ++i) lengths.push_back(std::sqrt(gram(i, i)));
  return lengths;
}

// The factor that makes a row no longer than `limit`.
double ClipFactor(double length, double limit) { return length <= limit ? 1.0 : limit / length; }

// Weights of the mean over `kept` of rows clipped to `limit`; the others have weight 0.
std::vector<double> ClippedMeanWeights(const std::vector<double>& lengths,
                                       const std::vector<std::size_t>& kept, double limit) {
  std::vector<double> weights(lengths.size(), 0.0);
  for (const std::size_t i : kept) {
    weights[i] = ClipFactor(lengths[i], limit) / static_cast<double>(kept.size());
  }
  return weights;
}

base::Status ForeignState(std::string_view rule) {
  return base::InvalidArgument(std::string(rule) +
                               ": the state is of another rule, another n or another d");
}

// n rows of history in a State, as rows.
DoubleRows HistoryRows(const State& state, std::size_t first, std::size_t count, std::size_t d) {
  DoubleRows rows;
  rows.dimension = d;
  for (std::size_t i = 0; i < count; ++i) rows.row.push_back(state.vectors[first + i].data());
  return rows;
}

bool HoldsHistory(const State& state, std::size_t count, std::size_t d) {
  return state.vectors.size() == count &&
         std::all_of(state.vectors.begin(), state.vectors.end(),
                     [&](const auto& vector) { return vector.size() == d; });
}

// history_i = decay history_i + scale row_i, for `rows.count()` vectors from `first` on.
template <typename T>
void AddToHistory(const BasicRows<T>& rows, double decay, double scale, const Executor& executor,
                  State& state, std::size_t first) {
  executor.ParallelFor(rows.count(), [&](std::size_t i) {
    std::vector<double>& sum = state.vectors[first + i];
    for (std::size_t c = 0; c < rows.dimension; ++c) {
      sum[c] = decay * sum[c] + scale * static_cast<double>(rows.row[i][c]);
    }
  });
}

class SignGuard final : public TypedRule<SignGuard> {
 public:
  SignGuard(double low, double high) : low_(low), high_(high) {}
  std::string_view name() const override { return "signguard"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(std::vector<double> lengths, SquaredNormsOf<T>(rows, nullptr, call.executor));
    for (double& length : lengths) length = std::sqrt(length);
    const double middle = MedianOf(lengths);
    const std::vector<std::size_t> alike = LargerOfTwoMeans(SignShares(rows, call.executor));
    std::vector<std::size_t> kept;
    for (const std::size_t i : alike) {
      if (lengths[i] >= low_ * middle && lengths[i] <= high_ * middle) kept.push_back(i);
    }
    if (kept.empty()) kept = alike;
    return WeightedSum<T>(rows, ClippedMeanWeights(lengths, kept, middle), call, out);
  }

 private:
  // The shares of positive, negative and zero coordinates of each row.
  template <typename T>
  static std::vector<std::array<double, 3>> SignShares(const BasicRows<T>& rows,
                                                       const Executor& executor) {
    std::vector<std::array<double, 3>> shares(rows.count());
    const auto d = static_cast<double>(rows.dimension);
    executor.ParallelFor(rows.count(), [&](std::size_t i) {
      std::size_t positive = 0, negative = 0;
      for (std::size_t c = 0; c < rows.dimension; ++c) {
        positive += rows.row[i][c] > 0 ? 1 : 0;
        negative += rows.row[i][c] < 0 ? 1 : 0;
      }
      const std::size_t zero = rows.dimension - positive - negative;
      shares[i] = {static_cast<double>(positive) / d, static_cast<double>(negative) / d,
                   static_cast<double>(zero) / d};
    });
    return shares;
  }

  double low_;
  double high_;
};

class ClippedClustering final : public TypedRule<ClippedClustering> {
 public:
  explicit ClippedClustering(double largest) : largest_(largest) {}
  std::string_view name() const override { return "clipped_clustering"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(const SymmetricMatrix gram, GramOf<T>(rows, nullptr, call.executor));
    const std::vector<double> lengths = Lengths(gram);
    std::vector<double> history;
    if (call.state != nullptr) history = call.state->numbers;
    history.insert(history.end(), lengths.begin(), lengths.end());
    const double limit = std::min(MedianOf(history), largest_);
    const auto kept = LargerByAverageLinkage(rows.count(), CosineDistances(gram));
    RETURN_IF_ERROR(WeightedSum<T>(rows, ClippedMeanWeights(lengths, kept, limit), call, out));
    if (call.state != nullptr) {
      ++call.state->calls;
      call.state->numbers = std::move(history);
    }
    return base::OkStatus();
  }

 private:
  double largest_;
};

// FoolsGold's weights from the cosines of what the rows have added up to.
std::vector<double> FoolsGoldWeights(const SymmetricMatrix& gram) {
  const std::size_t n = gram.size();
  std::vector<double> cosine = CosineDistances(gram);
  for (double& value : cosine) value = 1 - value;
  std::vector<double> alike(n, 0.0);  // with the other row that is most alike
  const auto most_alike = [&](std::size_t i) {
    double most = -1;
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) most = std::max(most, cosine[i * n + j]);
    }
    return most;
  };
  for (std::size_t i = 0; i < n; ++i) alike[i] = most_alike(i);
  // Pardoning: a row that is like a row which is more like others keeps some of its weight.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j && alike[i] < alike[j] && alike[j] > 0) cosine[i * n + j] *= alike[i] / alike[j];
    }
  }
  std::vector<double> weights(n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = std::clamp(1 - most_alike(i), 0.0, 1.0);
    largest = std::max(largest, weights[i]);
  }
  for (double& w : weights) {
    w = largest > 0 ? std::min(w / largest, 0.99) : 0.0;
    w = w > 0 ? std::clamp(NaturalLog(w / (1 - w)) + 0.5, 0.0, 1.0) : 0.0;
  }
  return weights;
}

class FoolsGold final : public TypedRule<FoolsGold> {
 public:
  std::string_view name() const override { return "foolsgold"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    RETURN_IF_ERROR(CheckRows(rows, call.executor));
    const std::size_t n = rows.count();
    State next;
    if (call.state != nullptr && call.state->calls > 0) next = *call.state;
    if (next.calls == 0) next.vectors.assign(n, std::vector<double>(rows.dimension, 0.0));
    if (!HoldsHistory(next, n, rows.dimension)) return ForeignState(name());
    AddToHistory(rows, 1, 1, call.executor, next, 0);
    ++next.calls;
    const DoubleRows history = HistoryRows(next, 0, n, rows.dimension);
    ASSIGN_OR_RETURN(const SymmetricMatrix gram, GramOf<double>(history, nullptr, call.executor));
    std::vector<double> weights = FoolsGoldWeights(gram);
    double sum = 0;
    for (const double w : weights) sum += w;
    if (sum > 0) {
      for (double& w : weights) w /= sum;
    }
    RETURN_IF_ERROR(WeightedSum<T>(rows, weights, call, out));
    if (call.state != nullptr) *call.state = std::move(next);
    return base::OkStatus();
  }
};

class FlTrust final : public TypedRule<FlTrust> {
 public:
  std::string_view name() const override { return "fltrust"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    const std::size_t n = rows.count();
    BasicRows<T> all = rows;
    all.row.push_back(rows.reference);
    ASSIGN_OR_RETURN(const SymmetricMatrix gram, GramOf<T>(all, nullptr, call.executor));
    const std::vector<double> lengths = Lengths(gram);
    std::vector<double> weights(n, 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!(lengths[i] > 0) || !(lengths[n] > 0)) continue;
      weights[i] = std::max(0.0, gram(i, n) / lengths[i] / lengths[n]);
      sum += weights[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (weights[i] > 0) weights[i] *= lengths[n] / lengths[i] / sum;
    }
    return WeightedSum<T>(rows, weights, call, out);
  }
};

struct FlameOptions {
  double epsilon = 3000;
  double delta = 0.01;
  std::uint64_t seed = 0;
};

class Flame final : public TypedRule<Flame> {
 public:
  explicit Flame(FlameOptions options) : options_(options) {}
  std::string_view name() const override { return "flame"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(const SymmetricMatrix gram, GramOf<T>(rows, nullptr, call.executor));
    const std::vector<double> lengths = Lengths(gram);
    const double middle = MedianOf(lengths);
    const auto kept = DensestMajority(rows.count(), CosineDistances(gram));
    RETURN_IF_ERROR(WeightedSum<T>(rows, ClippedMeanWeights(lengths, kept, middle), call, out));
    if (options_.epsilon > 0) AddNoise(middle, call.executor, out);
    return base::OkStatus();
  }

 private:
  template <typename T>
  void AddNoise(double middle, const Executor& executor, std::span<T> out) const {
    const double deviation =
        middle * std::sqrt(2 * NaturalLog(1.25 / options_.delta)) / options_.epsilon;
    const base::Rng root(options_.seed);
    const Chunks chunks = CutChunks(out.size());
    executor.ParallelFor(chunks.count, [&](std::size_t chunk) {
      base::Rng rng = root.Fork("flame", chunk);
      const std::size_t end = std::min(out.size(), (chunk + 1) * chunks.length);
      for (std::size_t c = chunk * chunks.length; c < end; ++c) {
        constexpr double kLargest = std::numeric_limits<T>::max();
        const double noisy = static_cast<double>(out[c]) + deviation * rng.Normal();
        out[c] = static_cast<T>(std::clamp(noisy, -kLargest, kLargest)) + T{0};
      }
    });
  }

  FlameOptions options_;
};

struct SafeguardOptions {
  std::size_t short_window = 0;  // T0 calls
  std::size_t long_window = 0;   // T1 calls
  double short_threshold = 0;
  double long_threshold = 0;
};

// State: numbers hold 1 for each row that is still trusted; vectors the sums of the long window,
// then those of the short one.
class Safeguard final : public TypedRule<Safeguard> {
 public:
  explicit Safeguard(SafeguardOptions options) : options_(options) {}
  std::string_view name() const override { return "safeguard"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    RETURN_IF_ERROR(CheckRows(rows, call.executor));
    const std::size_t n = rows.count();
    const std::size_t d = rows.dimension;
    State next;
    if (call.state != nullptr && call.state->calls > 0) next = *call.state;
    if (next.calls == 0) {
      next.numbers.assign(n, 1.0);
      next.vectors.assign(2 * n, std::vector<double>(d, 0.0));
    }
    if (next.numbers.size() != n || !HoldsHistory(next, 2 * n, d)) return ForeignState(name());
    std::vector<std::size_t> good;
    for (std::size_t i = 0; i < n; ++i) {
      if (next.numbers[i] != 0) good.push_back(i);
    }
    RETURN_IF_ERROR(MeanOfSelected(rows, good, call, out));
    const double share = 1.0 / static_cast<double>(good.size());
    const auto keeps = [&](std::size_t window) { return next.calls % window == 0 ? 0.0 : 1.0; };
    AddToHistory(rows, keeps(options_.long_window), share, call.executor, next, 0);
    AddToHistory(rows, keeps(options_.short_window), share, call.executor, next, n);
    RETURN_IF_ERROR(Expel(next, 0, n, d, good, options_.long_threshold, call.executor));
    RETURN_IF_ERROR(Expel(next, n, n, d, good, options_.short_threshold, call.executor));
    ++next.calls;
    if (call.state != nullptr) *call.state = std::move(next);
    return base::OkStatus();
  }

 private:
  // Rows farther than twice the threshold from the vector median of one window lose their trust
  // for ever; the vector median itself never does, so one row at least is left.
  static base::Status Expel(State& state, std::size_t first, std::size_t n, std::size_t d,
                            const std::vector<std::size_t>& good, double threshold,
                            const Executor& executor) {
    const DoubleRows sums = HistoryRows(state, first, n, d);
    ASSIGN_OR_RETURN(const SymmetricMatrix squares, SquaredDistancesOf(sums, executor));
    std::size_t median = good.front();
    double radius = std::numeric_limits<double>::infinity();
    for (const std::size_t i : good) {
      std::vector<double> near;
      for (const std::size_t j : good) near.push_back(squares(i, j));
      std::sort(near.begin(), near.end());
      const double half = near[std::min(n / 2, near.size() - 1)];
      if (half < radius) {
        median = i;
        radius = half;
      }
    }
    for (const std::size_t i : good) {
      if (std::sqrt(squares(i, median)) > 2 * threshold) state.numbers[i] = 0;
    }
    return base::OkStatus();
  }

  SafeguardOptions options_;
};

constexpr ParameterInfo kSignGuardParameters[] = {
    {.name = "low",
     .meaning = "least length of a row that is kept, as a multiple of the median length",
     .default_kind = Default::kValue,
     .default_text = "0.1"},
    {.name = "high",
     .meaning = "largest length of a row that is kept, as a multiple of the median length",
     .default_kind = Default::kValue,
     .default_text = "3",
     .low_open = true}};
constexpr ParameterInfo kClusteringParameters[] = {
    {.name = "largest",
     .meaning = "rows are clipped to this length even if past lengths allow more",
     .default_kind = Default::kValue,
     .default_text = "1e5",
     .low_open = true}};
constexpr ParameterInfo kFlameParameters[] = {
    {.name = "epsilon",
     .meaning = "privacy budget: the noise falls with it; 0 adds none",
     .default_kind = Default::kValue,
     .default_text = "3000"},
    {.name = "delta",
     .meaning = "probability that the privacy promise fails",
     .default_kind = Default::kValue,
     .default_text = "0.01",
     .high = 1,
     .low_open = true},
    {.name = "seed",
     .type = ValueType::kInteger,
     .meaning = "of the noise; give another for each call",
     .default_kind = Default::kValue,
     .default_text = "0"}};
constexpr ParameterInfo kSafeguardParameters[] = {
    {.name = "T0",
     .type = ValueType::kInteger,
     .meaning = "calls of the short window",
     .default_kind = Default::kValue,
     .default_text = "100",
     .low = 1},
    {.name = "T1",
     .type = ValueType::kInteger,
     .meaning = "calls of the long window",
     .default_kind = Default::kValue,
     .default_text = "600",
     .low = 1},
    {.name = "th0",
     .meaning = "half the distance from the vector median that the short window allows",
     .low_open = true},
    {.name = "th1",
     .meaning = "half the distance from the vector median that the long window allows",
     .low_open = true}};

}  // namespace

const RuleInfo kSignGuardInfo = {
    .about = {.name = "signguard",
              .summary = "the clipped mean of rows of usual length whose signs are distributed "
                         "alike",
              .definition = "with M the median of the lengths: rows of low M <= |row_i| <= high M "
                            "that are in the larger of two clusters of (share of positive, "
                            "negative, zero coordinates); the mean of row_i min(1, M / |row_i|) "
                            "over them. 2-means from the two farthest points; of clusters of equal "
                            "size the one with the lowest index; if none is left, the cluster",
              .source = "Xu, Jiang, Mei, Zhang, Li, ICDCS 2022 (SignGuard), algorithm 2, with "
                        "2-means over all coordinates as in Blades",
              .parameters = kSignGuardParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2 if attackers' signs are distributed unlike the honest",
              .passes = 3},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<SignGuard>(given.Real("low"), given.Real("high"));
    }};

const RuleInfo kClippedClusteringInfo = {
    .about = {.name = "clipped_clustering",
              .summary = "the clipped mean of the larger of two clusters by angle",
              .definition = "rows clipped to the median of all lengths so far (these included) or "
                            "`largest`; two clusters by average linkage on 1 - cos; the mean of "
                            "the larger; of equal sizes the one with the lowest index",
              .source = "Li, Ngai, Voigt, An experimental study of Byzantine-robust aggregation "
                        "schemes in federated learning, IEEE TBD 2023",
              .parameters = kClusteringParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2 if attackers point elsewhere",
              .passes = 2,
              .stateful = true},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<ClippedClustering>(given.Real("largest"));
    }};

const RuleInfo kFoolsGoldInfo = {
    .about = {.name = "foolsgold",
              .summary = "a mean with less weight for rows whose histories are alike",
              .definition =
                  "with s_i the sum of row i over all calls, cs_ij = cos(s_i, s_j), m_i = "
                  "max_j cs_ij: cs_ij *= m_i / m_j where m_i < m_j; w_i = 1 - max_j "
                  "cs_ij, over its maximum, at most 0.99; w_i = ln(w_i / (1 - w_i)) + "
                  "0.5 within [0, 1]; sum w_i row_i / sum w_i, zero if no weight is left",
              .source = "Fung, Yoon, Beschastnikh, RAID 2020, algorithm 1",
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "against attackers that are alike: their number does not matter, but "
                           "a single one passes",
              .passes = 3,
              .writes = 0,
              .stateful = true,
              .per_row_state = true},
    .make = [](const Parameters&) -> std::unique_ptr<Rule> {
      return std::make_unique<FoolsGold>();
    }};

const RuleInfo kFlTrustInfo = {
    .about = {.name = "fltrust",
              .summary = "a mean weighted by how far rows agree with a trusted one",
              .definition =
                  "with g the reference and t_i = max(0, cos(row_i, g)): sum_i t_i (|g| / "
                  "|row_i|) row_i / sum_i t_i; zero if no row agrees",
              .source = "Cao, Fang, Liu, Gong, NDSS 2021, equations 2 to 4",
              .requirement = "f < n",
              .largest_f = AnyLimit,
              .breakdown = "any f < n if the reference is right",
              .passes = 2,
              .reference = ReferenceUse::kRequired,
              .reference_meaning = "the gradient of the server on data that it trusts"},
    .make = [](const Parameters&) -> std::unique_ptr<Rule> { return std::make_unique<FlTrust>(); }};

const RuleInfo kFlameInfo = {
    .about = {.name = "flame",
              .summary = "the clipped mean of the densest majority by angle, with noise",
              .definition = "the smallest set of more than n/2 rows that is connected by 1 - cos "
                            "up to some threshold (HDBSCAN with that least size); rows clipped to "
                            "the median S of all lengths; their mean; plus N(0, (S sqrt(2 "
                            "ln(1.25/delta)) / epsilon)^2) on each coordinate",
              .source = "Nguyen et al., USENIX Security 2022, algorithm 1",
              .parameters = kFlameParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2 if the honest rows are closer by angle",
              .passes = 2},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<Flame>(
          FlameOptions{given.Real("epsilon"), given.Real("delta"), given.Integer("seed")});
    }};

const RuleInfo kSafeguardInfo = {
    .about = {.name = "safeguard",
              .summary = "the mean of the rows whose sums over two windows never left the rest",
              .definition = "the mean over the rows still trusted; then A_i += row_i / |trusted| "
                            "(from zero every T1 calls), B_i the same every T0; trust ends where "
                            "|A_i - A_med| > 2 th1 or |B_i - B_med| > 2 th0; A_med is the trusted "
                            "A_i whose distance to its (n/2 + 1)-th nearest is least, lowest index "
                            "of equals",
              .source = "Allen-Zhu, Ebrahimianghazani, Li, Alistarh, ICLR 2021, algorithm 1; the "
                        "median is the one with the least radius, which exists always",
              .parameters = kSafeguardParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2 over time; a row is trusted until its sums leave the rest",
              .passes = 3,
              .stateful = true,
              .per_row_state = true,
              .exchangeable = false},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<Safeguard>(SafeguardOptions{given.Integer("T0"), given.Integer("T1"),
                                                          given.Real("th0"), given.Real("th1")});
    }};

}  // namespace ostraka::aggregation
