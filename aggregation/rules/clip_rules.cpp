// Rules that pull rows towards a point: geometric median, iterated centered clipping, clipping
// about a worker's own row and about zero.
//
// Every iterate lies in the affine span of the rows and the start, so steps run on coefficients:
// one pass for the inner products, any number of steps, one pass for the result.
#include <algorithm>
#include <cmath>

#include "aggregation/kernels/clip_factor.h"
#include "aggregation/kernels/passes.h"
#include "aggregation/rules/centered_clip.h"
#include "aggregation/rules/column_rules.h"
#include "aggregation/rules/entries.h"
#include "aggregation/shared/majority_center.h"
#include "aggregation/shared/selection.h"
#include "aggregation/shared/typed_rule.h"

namespace ostraka::aggregation {
namespace {

// A point sum_j a_j row_j with sum_j a_j = 1 over the rows and the start, which is the last.
class SpanPoint {
 public:
  // Begins at the start.
  explicit SpanPoint(const SymmetricMatrix& gram) : gram_(gram), a_(gram.size(), 0.0) {
    a_.back() = 1;
  }

  std::size_t row_count() const { return a_.size() - 1; }
  const std::vector<double>& coefficients() const { return a_; }

  // |row_i - v| for every row except the start.
  std::vector<double> Distances() const {
    const std::size_t size = a_.size();
    std::vector<double> inner(size, 0.0);
    double squared = 0;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) inner[i] += gram_(i, j) * a_[j];
      squared += a_[i] * inner[i];
    }
    std::vector<double> distances(row_count());
    for (std::size_t i = 0; i < row_count(); ++i) {
      distances[i] = std::sqrt(std::max(0.0, gram_(i, i) - 2 * inner[i] + squared));
    }
    return distances;
  }

  // v = sum_i w_i row_i / sum_i w_i.
  void MoveToMean(const std::vector<double>& weights) {
    double sum = 0;
    for (const double w : weights) sum += w;
    for (std::size_t i = 0; i < row_count(); ++i) a_[i] = weights[i] / sum;
    a_.back() = 0;
  }

  // v += (1/n) sum_i w_i (row_i - v).
  void MoveBy(const std::vector<double>& weights) {
    const auto n = static_cast<double>(row_count());
    double sum = 0;
    for (const double w : weights) sum += w;
    for (double& a : a_) a *= 1 - sum / n;
    for (std::size_t i = 0; i < row_count(); ++i) a_[i] += weights[i] / n;
  }

 private:
  const SymmetricMatrix& gram_;
  std::vector<double> a_;
};

enum class StepKind { kWeiszfeld, kClip };

struct StepOptions {
  StepKind kind = StepKind::kClip;
  double radius = 1;  // tau, or the smoothing nu
  std::size_t steps = 1;
};

void TakeStep(const StepOptions& options, SpanPoint& point) {
  std::vector<double> weights = point.Distances();
  for (double& w : weights) {
    if (options.kind == StepKind::kWeiszfeld) {
      w = 1 / std::max(options.radius, w);
    } else {
      w = ClipFactor(w, options.radius);
    }
  }
  if (options.kind == StepKind::kWeiszfeld) {
    point.MoveToMean(weights);
  } else {
    point.MoveBy(weights);
  }
}

// REQUIRES: `start` points to d values.
template <typename T>
base::Status RunSteps(const StepOptions& options, const BasicRows<T>& rows, const T* start,
                      const Call& call, std::span<T> out) {
  BasicRows<T> all = rows;
  all.row.push_back(start);
  const T* center = rows.row[MajorityCenter(rows)];
  ASSIGN_OR_RETURN(const SymmetricMatrix gram, GramOf(all, center, call.executor));
  SpanPoint point(gram);
  for (std::size_t k = 0; k < options.steps; ++k) TakeStep(options, point);
  const std::vector<double> no_weights(all.count(), 0.0);
  const BasicPasses<T> passes(all, call.executor, simd::BestKernels());
  passes.CombineAndMeasure(center, point.coefficients(), no_weights, out.data());
  if (call.report != nullptr) call.report->iterations = options.steps;
  return base::OkStatus();
}

// The first center as values that outlive the call.
template <typename T>
base::StatusOr<std::vector<T>> StartOf(std::string_view start, const BasicRows<T>& rows,
                                       const Executor& executor) {
  std::vector<T> values(rows.dimension, T{0});
  if (start == "median") {
    const ColumnWork work = PlanColumns(simd::ColumnRule::kMedian, rows.count());
    RETURN_IF_ERROR(RunColumns<T>(rows, executor, work, values));
  } else if (start == "mean") {
    const BasicPasses<T> passes(rows, executor, simd::BestKernels());
    if (!passes.Mean(values.data())) RETURN_IF_ERROR(CheckRows(rows, executor));
  } else if (rows.reference != nullptr) {
    values.assign(rows.reference, rows.reference + rows.dimension);
  }
  return values;
}

class Steps final : public TypedRule<Steps> {
 public:
  Steps(std::string_view name, StepOptions options, std::string_view start, bool remembers)
      : name_(name), options_(options), start_(start), remembers_(remembers) {}
  std::string_view name() const override { return name_; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    const bool resumes = remembers_ && call.state != nullptr && call.state->calls > 0;
    std::vector<T> start(rows.dimension);
    if (resumes) {
      if (call.state->vectors.size() != 1 || call.state->vectors[0].size() != rows.dimension) {
        return base::InvalidArgument(std::string(name_) + ": the state is of another rule or d");
      }
      std::transform(call.state->vectors[0].begin(), call.state->vectors[0].end(), start.begin(),
                     [](double value) { return static_cast<T>(value); });
    } else {
      ASSIGN_OR_RETURN(start, StartOf(start_, rows, call.executor));
    }
    RETURN_IF_ERROR(RunSteps<T>(options_, rows, start.data(), call, out));
    if (remembers_ && call.state != nullptr) {
      ++call.state->calls;
      call.state->vectors.assign(1, std::vector<double>(out.begin(), out.end()));
    }
    return base::OkStatus();
  }

 private:
  std::string_view name_;
  StepOptions options_;
  std::string_view start_;
  bool remembers_;
};

class SelfCenteredClip final : public TypedRule<SelfCenteredClip> {
 public:
  SelfCenteredClip(std::size_t f, std::optional<double> tau) : f_(f), tau_(tau) {}
  std::string_view name() const override { return "self_centered_clip"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    const std::size_t n = rows.count();
    ASSIGN_OR_RETURN(const std::vector<double> squares,
                     SquaredNormsOf(rows, rows.reference, call.executor));
    double tau = 0;
    if (tau_) {
      tau = *tau_;
    } else {
      std::vector<double> sorted = squares;
      std::sort(sorted.begin(), sorted.end());
      tau = std::sqrt(sorted[n - f_ - 1]);
    }
    std::vector<double> coefficients;
    for (const double square : squares) {
      coefficients.push_back(ClipFactor(std::sqrt(square), tau) / static_cast<double>(n));
    }
    const BasicPasses<T> passes(rows, call.executor, simd::BestKernels());
    passes.CombineAndMeasure(rows.reference, coefficients, std::vector<double>(n, 0.0), out.data());
    return base::OkStatus();
  }

 private:
  std::size_t f_;
  std::optional<double> tau_;
};

class NormClipping final : public TypedRule<NormClipping> {
 public:
  explicit NormClipping(double limit) : limit_(limit) {}
  std::string_view name() const override { return "norm_clipping"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(std::vector<double> weights, SquaredNormsOf<T>(rows, nullptr, call.executor));
    const auto n = static_cast<double>(rows.count());
    for (double& w : weights) w = ClipFactor(std::sqrt(w), limit_) / n;
    return WeightedSum<T>(rows, weights, call, out);
  }

 private:
  double limit_;
};

constexpr Choice kStarts[] = {{"reference", "the given reference vector, else zeros"},
                              {"mean", "the mean of the rows: one additional pass"},
                              {"median", "the coordinate-wise median: one additional pass"}};
constexpr ParameterInfo kStart = {.name = "start",
                                  .type = ValueType::kChoice,
                                  .meaning = "where steps start; not used at the fixed point",
                                  .default_kind = Default::kValue,
                                  .default_text = "reference",
                                  .choices = kStarts};

constexpr Choice kClipVariants[] = {
    {"fixed_point", "iterates to convergence; the result does not depend on a start"},
    {"steps", "L steps from a start: the last result if there is a state, else `start`"}};
constexpr ParameterInfo kClipParameters[] = {
    {.name = "variant",
     .type = ValueType::kChoice,
     .meaning = "when to stop",
     .default_kind = Default::kValue,
     .default_text = "fixed_point",
     .choices = kClipVariants},
    {.name = "tau",
     .meaning = "clipping radius, in the rows' unit",
     .default_kind = Default::kValue,
     .default_text = "1",
     .low_open = true,
     .in_rows_unit = true},
    {.name = "eps",
     .meaning = "residual per row at the fixed point, in the rows' unit",
     .default_kind = Default::kValue,
     .default_text = "1e-6",
     .low_open = true,
     .in_rows_unit = true},
    {.name = "L",
     .type = ValueType::kInteger,
     .meaning = "steps of the variant steps",
     .default_kind = Default::kValue,
     .default_text = "1",
     .low = 1,
     .high = 1e6},
    kStart};

constexpr Choice kMedianVariants[] = {
    {"converged", "the smoothed geometric median itself"},
    {"weiszfeld", "T steps from a start, as ByzFL and the RFA code take them"}};
constexpr ParameterInfo kGeometricMedianParameters[] = {
    {.name = "variant",
     .type = ValueType::kChoice,
     .meaning = "when to stop",
     .default_kind = Default::kValue,
     .default_text = "converged",
     .choices = kMedianVariants},
    {.name = "nu",
     .meaning = "smoothing: distances below it count as nu; in the rows' unit",
     .default_kind = Default::kValue,
     .default_text = "0.1",
     .low_open = true,
     .in_rows_unit = true},
    {.name = "T",
     .type = ValueType::kInteger,
     .meaning = "steps of the variant weiszfeld",
     .default_kind = Default::kValue,
     .default_text = "3",
     .low = 1,
     .high = 1e6},
    kStart};

constexpr ParameterInfo kSelfParameters[] = {
    kFaults,
    {.name = "tau",
     .meaning = "clipping radius, in the rows' unit",
     .default_kind = Default::kDerived,
     .default_text = "the (n - f)-th smallest distance to the own row",
     .low_open = true,
     .in_rows_unit = true}};
constexpr ParameterInfo kNormParameters[] = {{.name = "c",
                                              .meaning = "largest length, in the rows' unit",
                                              .default_kind = Default::kValue,
                                              .default_text = "1",
                                              .low_open = true,
                                              .in_rows_unit = true}};

// Residual of a converged geometric median, as a share of nu per row.
constexpr double kMedianResidual = 1e-7;

}  // namespace

const RuleInfo kCenteredClipInfo = {
    .about = {.name = "centered_clip",
              .summary = "the point whose clipped differences to the rows cancel",
              .definition = "the v with sum_i (row_i - v) min(1, tau / |row_i - v|) = 0, which "
                            "minimises sum_i Huber_tau(|row_i - v|); variant steps: v += (1/n) "
                            "sum_i (row_i - v) min(1, tau / |row_i - v|), L times",
              .source = "Karimireddy, He, Jaggi, ICML 2021, algorithm 2; at its fixed point as in "
                        "Gorbunov, Borzunov, Diskin, Ryabinin, ICML 2022",
              .parameters = kClipParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2; each Byzantine row pulls by at most tau",
              .passes = 3,
              .stateful = true,
              .reference = ReferenceUse::kOptional,
              .reference_meaning = "where the variant steps starts"},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      if (given.Choice("variant") == "fixed_point") {
        return std::make_unique<CenteredClip>(
            CenteredClipOptions{given.Real("tau"), given.Real("eps")});
      }
      const StepOptions options{StepKind::kClip, given.Real("tau"), given.Integer("L")};
      return std::make_unique<Steps>("centered_clip", options, given.Choice("start"), true);
    }};

const RuleInfo kGeometricMedianInfo = {
    .about = {.name = "geometric_median",
              .summary = "the point with the least sum of distances to the rows",
              .definition = "the v with sum_i (row_i - v) / max(nu, |row_i - v|) = 0, the smoothed "
                            "geometric median; variant weiszfeld: v = sum_i b_i row_i / sum_i b_i "
                            "with b_i = 1 / max(nu, |row_i - v|), T times",
              .source = "Pillutla, Kakade, Harchaoui, IEEE TSP 2022 (RFA), algorithm 2",
              .parameters = kGeometricMedianParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2",
              .passes = 2,
              .reference = ReferenceUse::kOptional,
              .reference_meaning = "where the variant weiszfeld starts"},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      const double nu = given.Real("nu");
      if (given.Choice("variant") == "converged") {
        // sum_i (row_i - v) / max(nu, |row_i - v|) is 1 / nu times the sum that centered_clip with
        // tau = nu brings to zero.
        return std::make_unique<CenteredClip>(CenteredClipOptions{nu, nu * kMedianResidual});
      }
      const StepOptions options{StepKind::kWeiszfeld, nu, given.Integer("T")};
      return std::make_unique<Steps>("geometric_median", options, given.Choice("start"), false);
    }};

const RuleInfo kSelfCenteredClipInfo = {
    .about = {.name = "self_centered_clip",
              .summary = "one's own vector moved by the clipped differences of the others",
              .definition = "x + (1/n) sum_i (row_i - x) min(1, tau / |row_i - x|), x the "
                            "reference",
              .source = "He, Karimireddy, Jaggi, Byzantine-robust decentralized learning via "
                        "ClippedGossip, 2022, with equal weights",
              .parameters = kSelfParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2; each Byzantine row pulls by at most tau / n",
              .passes = 2,
              .reference = ReferenceUse::kRequired,
              .reference_meaning = "the own vector, which is trusted"},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      std::optional<double> tau;
      if (given.Has("tau")) tau = given.Real("tau");
      return std::make_unique<SelfCenteredClip>(given.Integer("f"), tau);
    }};

const RuleInfo kNormClippingInfo = {
    .about = {.name = "norm_clipping",
              .summary = "the mean of the rows, none of them longer than c",
              .definition = "(1/n) sum_i row_i min(1, c / |row_i|)",
              .source = "Sun, Kairouz, Suresh, McMahan, Can you really backdoor federated "
                        "learning?, 2019, norm thresholding",
              .parameters = kNormParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f rows move it by at most 2 c f / n",
              .passes = 2},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<NormClipping>(given.Real("c"));
    }};

}  // namespace ostraka::aggregation
