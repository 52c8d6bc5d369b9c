// Defences that weigh or drop rows by their lengths and directions.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "aggregation/kernels/clip_factor.h"
#include "aggregation/kernels/natural_log.h"
#include "aggregation/kernels/passes.h"
#include "aggregation/rules/entries.h"
#include "aggregation/shared/clusters.h"
#include "aggregation/shared/selection.h"
#include "aggregation/shared/typed_rule.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {
namespace {

std::vector<double> Lengths(const SymmetricMatrix& gram) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i < gram.size(); ++i) lengths.push_back(std::sqrt(gram(i, i)));
  return lengths;
}

// Weights of the mean over the rows in `kept`, clipped to `limit`; all other weights are 0.
std::vector<double> ClippedMeanWeights(const std::vector<double>& lengths,
                                       const std::vector<std::size_t>& kept, double limit) {
  std::vector<double> weights(lengths.size(), 0.0);
  for (const std::size_t i : kept) {
    weights[i] = ClipFactor(lengths[i], limit) / static_cast<double>(kept.size());
  }
  return weights;
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
    const std::vector<std::size_t> alike = LargerOfTwoMeans(SignCounts(rows, call.executor));
    std::vector<std::size_t> kept;
    for (const std::size_t i : alike) {
      if (lengths[i] >= low_ * middle && lengths[i] <= high_ * middle) kept.push_back(i);
    }
    if (kept.empty()) kept = alike;
    return WeightedSum<T>(rows, ClippedMeanWeights(lengths, kept, middle), call, out);
  }

 private:
  // Number of positive, negative and zero coordinates of each row. They give the same clusters as
  // their shares do, and integers keep ties exact.
  template <typename T>
  static std::vector<CountPoint> SignCounts(const BasicRows<T>& rows, const Executor& executor) {
    std::vector<CountPoint> counts(rows.count());
    executor.ParallelFor(rows.count(), [&](std::size_t i) {
      std::int64_t positive = 0, negative = 0;
      for (std::size_t c = 0; c < rows.dimension; ++c) {
        positive += rows.row[i][c] > 0 ? 1 : 0;
        negative += rows.row[i][c] < 0 ? 1 : 0;
      }
      counts[i] = {positive, negative,
                   static_cast<std::int64_t>(rows.dimension) - positive - negative};
    });
    return counts;
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
      weights[i] = std::max(0.0, Cosine(gram(i, n), lengths[i], lengths[n]));
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
     .low_open = true,
     .in_rows_unit = true}};
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
              .numbers_in_rows_unit = true,
              .passes = 2,
              .stateful = true},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<ClippedClustering>(given.Real("largest"));
    }};

const RuleInfo kFlTrustInfo = {
    .about = {.name = "fltrust",
              .summary = "a mean weighted by the agreement of rows with a trusted row",
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

}  // namespace ostraka::aggregation
