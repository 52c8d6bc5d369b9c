#include "aggregation/rules/centered_clip.h"

#include <algorithm>
#include <cmath>

#include "aggregation/kernels/checks.h"
#include "aggregation/kernels/huber_solver.h"
#include "aggregation/kernels/passes.h"
#include "aggregation/kernels/wide_passes.h"
#include "aggregation/shared/majority_center.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

// Maximum number of centrings in double, then in Wide. Ordinary rows needed at most two in tests;
// rows that mislead the choice of the first center need one or two more.
constexpr std::size_t kMaxCentrings = 6;
// The solver aims below eps, so that the bound is left for the rounding of the result.
constexpr double kSolverShare = 1.0 / 1024;
// Share of tau. A larger bound says little, because a sum of clipped differences can meet it far
// from the minimum; it is accepted only after another centring brought no gain.
constexpr double kTellingShare = 0.25;

// Weights at the measured distances, and bounds on the distance of |sum_i w_i (row_i - out)| from
// the measured residual: `slack` for the solver's weights, `rounding` for these.
template <typename Real>
struct Weighed {
  std::vector<Real> weights;
  double slack = 0;
  double rounding = 0;
};

template <typename Real>
Weighed<Real> Weigh(const Measurement<Real>& measured, std::span<const Real> assumed, double tau) {
  Weighed<Real> result;
  Real slack = 0;
  Real pull = 0;
  for (std::size_t i = 0; i < assumed.size(); ++i) {
    const Real distance = Sqrt(measured.squared_distances[i]);
    const Real weight = distance <= Real(tau) ? Real(1.0) : Real(tau) / distance;
    result.weights.push_back(weight);
    slack += Abs(weight - assumed[i]) * distance;
    pull += weight * distance;
  }
  // Sums over n rows and over the trees of simd.h and passes.h lose a few units in the last place
  // of each row's pull. That matters only if rows of enormous pull cancel each other.
  result.rounding =
      kRounding<Real> * static_cast<double>(assumed.size() + 64) * static_cast<double>(pull);
  result.slack = static_cast<double>(slack) + result.rounding;
  return result;
}

template <typename Real>
bool DiagonalIsFinite(std::span<const Real> gram, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(static_cast<double>(gram[simd::TriangleIndex(i, i)]))) return false;
  }
  return true;
}

base::Status CheckOptions(const CenteredClipOptions& options) {
  if (!(options.tau > 0) || !std::isfinite(options.tau)) {
    return base::InvalidArgument("tau must be positive and finite");
  }
  if (!(options.eps > 0) || !std::isfinite(options.eps)) {
    return base::InvalidArgument("eps must be positive and finite");
  }
  return base::OkStatus();
}

enum class Outcome { kSettled, kNotSettled, kNotFinite };

// The result with the smallest residual that meets its bound so far.
template <typename Value>
struct Candidate {
  std::vector<Value> values;  // empty: none meets it
  CenteredClipReport report;

  void Offer(std::span<const Value> out, const CenteredClipReport& offered) {
    if (offered.residual > offered.residual_bound) return;
    if (!values.empty() && offered.residual >= report.residual) return;
    values.assign(out.begin(), out.end());
    report = offered;
  }
  // Copies the result and its report to the output; keeps the counters of `taken`.
  void Take(std::span<Value> out, CenteredClipReport& taken) const {
    std::copy(values.begin(), values.end(), out.begin());
    taken.residual = report.residual;
    taken.residual_bound = report.residual_bound;
  }
};

// Centres, solves, forms and measures until the bound holds. `start` is the first center. The
// result is in `out` even on failure. Pass is Passes (double) or WidePasses.
//
// Attack: a row that equals the others except for one huge coordinate, which the sample does not
// include, may become the first center. The result then keeps double's rounding error beside that
// coordinate, and is so large that its bound exceeds any sum of clipped differences. The solver may
// make no progress from there. So Run starts again at a center that is chosen by all coordinates.
template <typename Pass>
Outcome Settle(const Pass& passes, const CenteredClipOptions& options, std::size_t n,
               const typename Pass::Value* start, std::span<typename Pass::Value> out,
               CenteredClipReport& report) {
  using Real = typename Pass::Real;
  const double per_row = static_cast<double>(n);
  const double telling = kTellingShare * options.tau;
  const double tolerance = std::min(per_row * options.eps * kSolverShare, telling / 4);
  const typename Pass::Value* center = start;
  std::vector<typename Pass::Value>
      previous;  // the result that the rows are centred on, after the first round
  Candidate<typename Pass::Value> best;
  const auto settled = [&] {
    best.Offer(out, report);
    return report.residual <= std::min(report.residual_bound, telling);
  };
  for (std::size_t centring = 0; centring < kMaxCentrings; ++centring) {
    const std::vector<Real> gram = passes.Gram(center);
    if (!DiagonalIsFinite<Real>(gram, n)) return Outcome::kNotFinite;
    ++report.centrings;
    const HuberSolution<Real> solution =
        SolveHuber(HuberProblem<Real>{n, gram, options.tau, tolerance});
    report.iterations += solution.iterations;
    Measurement<Real> measured =
        passes.CombineAndMeasure(center, solution.coefficients, solution.weights, out.data());
    const Weighed<Real> weighed = Weigh<Real>(measured, solution.weights, options.tau);
    report.residual = static_cast<double>(Sqrt(measured.squared_residual)) + weighed.slack;
    report.residual_bound =
        per_row * (options.eps + 0x1p-23 * static_cast<double>(Sqrt(measured.squared_center)));
    if (settled()) return Outcome::kSettled;
    // The quick bound on the residual was too weak, or the residual is too large: measure exactly.
    measured = passes.Measure(out.data(), weighed.weights);
    report.residual = static_cast<double>(Sqrt(measured.squared_residual)) + weighed.rounding;
    if (settled()) return Outcome::kSettled;
    if (std::equal(out.begin(), out.end(), center)) break;
    previous.assign(out.begin(), out.end());
    center = previous.data();
    // Where rounding alone exceeds the bound, no further centring in this arithmetic can help.
    if (centring > 0 && weighed.rounding > report.residual_bound) break;
  }
  if (best.values.empty()) return Outcome::kNotSettled;
  best.Take(out, report);
  return Outcome::kSettled;
}

}  // namespace

template <typename T>
base::StatusOr<CenteredClipReport> CenteredClip::Run(const BasicRows<T>& rows,
                                                     const Executor& executor,
                                                     std::span<T> out) const {
  OSTRAKA_CHECK(out.size() == rows.dimension);
  RETURN_IF_ERROR(CheckOptions(options_));
  RETURN_IF_ERROR(CheckShape(rows));
  const std::size_t n = rows.count();
  CenteredClipReport report;
  const BasicPasses<T> passes(rows, executor, kernels_);
  const Outcome outcome = Settle(passes, options_, n, rows.row[MajorityCenter(rows)], out, report);
  if (outcome == Outcome::kSettled && report.residual <= kTellingShare * options_.tau) {
    return report;
  }
  if (outcome == Outcome::kSettled) {
    Candidate<T> best;
    best.Offer(out, report);
    const T* whole = rows.row[MajorityCenter(rows, Look::kAll)];
    if (Settle(passes, options_, n, whole, out, report) == Outcome::kSettled) {
      best.Offer(out, report);
    }
    best.Take(out, report);
    return report;
  }
  if (outcome == Outcome::kNotFinite) {
    RETURN_IF_ERROR(CheckRows(rows, executor));
    return base::InvalidArgument("squares of the rows' differences are beyond float64: scale them");
  }
  const std::vector<T> nearest(out.begin(), out.end());
  const BasicWidePasses<T> wide_passes(rows, executor);
  if (Settle(wide_passes, options_, n, nearest.data(), out, report) == Outcome::kSettled) {
    return report;
  }
  return base::FailedPrecondition(
      "the residual of CenteredClip cannot be brought below its bound: tau or the rows are too "
      "large against eps");
}

template <typename T>
base::Status CenteredClip::RunWithCall(const BasicRows<T>& rows, const Call& call,
                                       std::span<T> out) const {
  ASSIGN_OR_RETURN(const CenteredClipReport report, Run(rows, call.executor, out));
  if (call.report != nullptr) {
    call.report->iterations = report.iterations;
    call.report->residual = report.residual;
  }
  return base::OkStatus();
}

base::Status CenteredClip::Aggregate(const Rows& rows, const Call& call,
                                     std::span<float> out) const {
  return RunWithCall(rows, call, out);
}

base::Status CenteredClip::Aggregate(const DoubleRows& rows, const Call& call,
                                     std::span<double> out) const {
  return RunWithCall(rows, call, out);
}

base::StatusOr<CenteredClipReport> CenteredClip::AggregateWithReport(const Rows& rows,
                                                                     const Executor& executor,
                                                                     std::span<float> out) const {
  return Run(rows, executor, out);
}

}  // namespace ostraka::aggregation
