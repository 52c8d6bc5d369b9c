// Pre-aggregations. All except momentum are linear maps of the rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "aggregation/kernels/clip_factor.h"
#include "aggregation/kernels/passes.h"
#include "aggregation/rules/entries.h"
#include "aggregation/shared/history.h"
#include "aggregation/shared/selection.h"
#include "aggregation/shared/typed_rule.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {
namespace {

LinearMap::OutputRow MeanOf(const std::vector<std::size_t>& rows) {
  LinearMap::OutputRow mean;
  for (const std::size_t i : rows) {
    mean.index.push_back(static_cast<std::uint32_t>(i));
    mean.weight.push_back(1.0 / static_cast<double>(rows.size()));
  }
  return mean;
}

// Multiplies row i by factor i.
LinearMap Scaling(const std::vector<double>& factors) {
  LinearMap map;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    map.rows.push_back({{static_cast<std::uint32_t>(i)}, {factors[i]}});
  }
  return map;
}

template <typename T>
void ApplyMap(const LinearMap& map, const BasicRows<T>& rows, const Executor& executor,
              std::span<T> out) {
  BasicPasses<T>(rows, executor, simd::BestKernels()).Mix(map, out.data());
}

class Nnm final : public TypedPre<Nnm> {
 public:
  explicit Nnm(std::size_t f) : f_(f) {}
  std::string_view name() const override { return "nnm"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(const SymmetricMatrix squares, SquaredDistancesOf(rows, call.executor));
    LinearMap map;
    for (std::size_t i = 0; i < rows.count(); ++i) {
      map.rows.push_back(MeanOf(Smallest(squares.row(i), rows.count() - f_)));
    }
    ApplyMap<T>(map, rows, call.executor, out);
    return base::OkStatus();
  }

 private:
  std::size_t f_;
};

class Bucketing final : public TypedPre<Bucketing> {
 public:
  Bucketing(std::size_t size, bool shuffled, std::uint64_t seed)
      : size_(size), shuffled_(shuffled), seed_(seed) {}
  std::string_view name() const override { return "bucketing"; }
  std::size_t OutputRows(std::size_t n) const override { return (n + size_ - 1) / size_; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    RETURN_IF_ERROR(CheckRows(rows, call.executor));
    const std::vector<std::size_t> order = Order(rows.count());
    LinearMap map;
    for (std::size_t begin = 0; begin < order.size(); begin += size_) {
      const std::size_t end = std::min(order.size(), begin + size_);
      std::vector<std::size_t> bucket(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                      order.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(bucket.begin(), bucket.end());
      map.rows.push_back(MeanOf(bucket));
    }
    ApplyMap<T>(map, rows, call.executor, out);
    return base::OkStatus();
  }

 private:
  std::vector<std::size_t> Order(std::size_t n) const {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!shuffled_) return order;
    base::Rng rng = base::Rng(seed_).Fork("bucketing");
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    return order;
  }

  std::size_t size_;
  bool shuffled_;
  std::uint64_t seed_;
};

// Clipping to a given length, or to one that depends on the lengths (ARC).
class Clipping final : public TypedPre<Clipping> {
 public:
  Clipping(std::string_view name, double limit, bool adaptive, std::size_t f)
      : name_(name), limit_(limit), adaptive_(adaptive), f_(f) {}
  std::string_view name() const override { return name_; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(std::vector<double> factors, SquaredNormsOf<T>(rows, nullptr, call.executor));
    for (double& value : factors) value = std::sqrt(value);
    const double limit = adaptive_ ? AdaptiveLimit(factors) : limit_;
    for (double& value : factors) value = ClipFactor(value, limit);
    ApplyMap<T>(Scaling(factors), rows, call.executor, out);
    return base::OkStatus();
  }

 private:
  double AdaptiveLimit(std::vector<double> lengths) const {
    const std::size_t n = lengths.size();
    const std::size_t clipped = 2 * f_ * (n - f_) / n;
    std::sort(lengths.begin(), lengths.end());
    return lengths[n - clipped - 1];
  }

  std::string_view name_;
  double limit_;
  bool adaptive_;
  std::size_t f_;
};

class WorkerMomentum final : public TypedPre<WorkerMomentum> {
 public:
  explicit WorkerMomentum(double beta) : beta_(beta) {}
  std::string_view name() const override { return "worker_momentum"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    RETURN_IF_ERROR(CheckRows(rows, call.executor));
    const std::size_t n = rows.count();
    const std::size_t d = rows.dimension;
    ASSIGN_OR_RETURN(State next, ResumeHistory(name(), call.state, n, d));
    AddToHistory(rows, beta_, 1 - beta_, call.executor, next, 0);
    call.executor.ParallelFor(n, [&](std::size_t i) {
      std::transform(next.vectors[i].begin(), next.vectors[i].end(), &out[i * d],
                     [](double momentum) { return static_cast<T>(momentum) + T{0}; });
    });
    ++next.calls;
    if (call.state != nullptr) *call.state = std::move(next);
    return base::OkStatus();
  }

 private:
  double beta_;
};

constexpr Choice kOrders[] = {{"random", "shuffled by the seed"},
                              {"given", "rows 0..s-1, s..2s-1 and so on"}};
constexpr ParameterInfo kBucketingParameters[] = {
    {.name = "s",
     .type = ValueType::kInteger,
     .meaning = "rows of a bucket; the last may hold fewer",
     .default_kind = Default::kValue,
     .default_text = "2",
     .low = 1},
    {.name = "order",
     .type = ValueType::kChoice,
     .meaning = "which rows share a bucket",
     .default_kind = Default::kValue,
     .default_text = "random",
     .choices = kOrders},
    {.name = "seed",
     .type = ValueType::kInteger,
     .meaning = "of the shuffle; give another for each call",
     .default_kind = Default::kValue,
     .default_text = "0"}};
constexpr ParameterInfo kClippingParameters[] = {{.name = "c",
                                                  .meaning = "largest length, in the rows' unit",
                                                  .default_kind = Default::kValue,
                                                  .default_text = "2",
                                                  .low_open = true,
                                                  .in_rows_unit = true}};
constexpr ParameterInfo kMomentumParameters[] = {{.name = "beta",
                                                  .meaning = "share of the past that is kept",
                                                  .default_kind = Default::kValue,
                                                  .default_text = "0.9",
                                                  .high = 1}};

}  // namespace

const PreInfo kNnmInfo = {
    .about = {.name = "nnm",
              .summary = "nearest neighbour mixing: each row becomes the mean of the n - f nearest",
              .definition = "y_i = the mean of the n - f rows nearest to row_i, itself included; "
                            "of equal distances the lower index",
              .source = "Allouah, Farhadkhani, Guerraoui, Gupta, Pinot, Stephan, AISTATS 2023, "
                        "algorithm 1",
              .parameters = kOnlyFaults,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2",
              .passes = 2,
              .writes = 1},
    .make = [](const Parameters& given) -> std::unique_ptr<PreAggregation> {
      return std::make_unique<Nnm>(given.Integer("f"));
    }};

const PreInfo kBucketingInfo = {
    .about = {.name = "bucketing",
              .summary = "rows become the means of random buckets of s",
              .definition = "rows are shuffled and cut into ceil(n / s) buckets; y_k = the mean of "
                            "bucket k; f stays, so that the rule needs f to fit ceil(n / s)",
              .source = "Karimireddy, He, Jaggi, ICLR 2022, algorithm 1",
              .parameters = kBucketingParameters,
              .requirement = "f < n",
              .largest_f = AnyLimit,
              .breakdown = "that of the rule that follows, at ceil(n / s) rows",
              .arithmetic = Arithmetic::kAdds,
              .passes = 1,
              .writes = 1,
              .exchangeable = false},
    .make = [](const Parameters& given) -> std::unique_ptr<PreAggregation> {
      return std::make_unique<Bucketing>(given.Integer("s"), given.Choice("order") == "random",
                                         given.Integer("seed"));
    }};

const PreInfo kClippingInfo = {
    .about = {.name = "clipping",
              .summary = "no row stays longer than c",
              .definition = "y_i = row_i min(1, c / |row_i|)",
              .source = "static clipping, as in Allouah et al., ICLR 2025 (ARC)",
              .parameters = kClippingParameters,
              .requirement = "f < n",
              .largest_f = AnyLimit,
              .breakdown = "that of the rule that follows",
              .passes = 2,
              .writes = 1},
    .make = [](const Parameters& given) -> std::unique_ptr<PreAggregation> {
      return std::make_unique<Clipping>("clipping", given.Real("c"), false, 0);
    }};

const PreInfo kArcInfo = {
    .about = {.name = "arc",
              .summary = "adaptive robust clipping: the longest rows become as long as the next",
              .definition = "the k = floor(2 f (n - f) / n) longest rows are clipped to the "
                            "length of the longest other row",
              .source = "Allouah, Guerraoui, Gupta, Jellouli, Rizk, Stephan, ICLR 2025, "
                        "algorithm 2",
              .parameters = kOnlyFaults,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "that of the rule that follows",
              .passes = 2,
              .writes = 1},
    .make = [](const Parameters& given) -> std::unique_ptr<PreAggregation> {
      return std::make_unique<Clipping>("arc", 0, true, given.Integer("f"));
    }};

const PreInfo kWorkerMomentumInfo = {
    .about = {.name = "worker_momentum",
              .summary = "each row becomes the moving average of its past",
              .definition = "y_i = beta y_i + (1 - beta) row_i, from zero",
              .source = "El Mhamdi, Guerraoui, Rouault, ICLR 2021; Karimireddy, He, Jaggi, ICML "
                        "2021",
              .parameters = kMomentumParameters,
              .requirement = "f < n",
              .largest_f = AnyLimit,
              .breakdown = "that of the rule that follows",
              .arithmetic = Arithmetic::kAdds,
              .passes = 1,
              .writes = 1,
              .blockwise = false,
              .stateful = true,
              .per_row_state = true},
    .make = [](const Parameters& given) -> std::unique_ptr<PreAggregation> {
      return std::make_unique<WorkerMomentum>(given.Real("beta"));
    }};

}  // namespace ostraka::aggregation
