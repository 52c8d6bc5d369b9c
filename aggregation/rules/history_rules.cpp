// Defences based on each row's sum over many calls.
#include <algorithm>
#include <cmath>
#include <limits>

#include "aggregation/kernels/natural_log.h"
#include "aggregation/rules/entries.h"
#include "aggregation/shared/clusters.h"
#include "aggregation/shared/history.h"
#include "aggregation/shared/selection.h"
#include "aggregation/shared/typed_rule.h"

namespace ostraka::aggregation {
namespace {

// FoolsGold's weights from the cosines between the rows' sums.
std::vector<double> FoolsGoldWeights(const SymmetricMatrix& gram) {
  const std::size_t n = gram.size();
  std::vector<double> cosine = CosineDistances(gram);
  for (double& value : cosine) value = 1 - value;
  std::vector<double> alike(n, 0.0);  // cosine with the most similar other row
  const auto most_alike = [&](std::size_t i) {
    double most = -1;
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) most = std::max(most, cosine[i * n + j]);
    }
    return most;
  };
  for (std::size_t i = 0; i < n; ++i) alike[i] = most_alike(i);
  // Pardoning: a row keeps some weight if the row it resembles has an even closer match.
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
    ASSIGN_OR_RETURN(State next, ResumeHistory(name(), call.state, n, rows.dimension));
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

struct SafeguardOptions {
  std::size_t short_window = 0;  // T0 calls
  std::size_t long_window = 0;   // T1 calls
  double short_threshold = 0;
  double long_threshold = 0;
};

// State: numbers hold 1 for each row that is still trusted; vectors hold the sums of the long
// window, followed by those of the short window.
class Safeguard final : public TypedRule<Safeguard> {
 public:
  explicit Safeguard(SafeguardOptions options) : options_(options) {}
  std::string_view name() const override { return "safeguard"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    RETURN_IF_ERROR(CheckRows(rows, call.executor));
    const std::size_t n = rows.count();
    const std::size_t d = rows.dimension;
    ASSIGN_OR_RETURN(State next, ResumeHistory(name(), call.state, 2 * n, d));
    if (next.calls == 0) next.numbers.assign(n, 1.0);
    if (next.numbers.size() != n) return ForeignState(name());
    std::vector<std::size_t> good;
    for (std::size_t i = 0; i < n; ++i) {
      if (next.numbers[i] != 0) good.push_back(i);
    }
    // Each window keeps only its own median, so the two windows together may expel every row.
    if (good.empty()) {
      return base::FailedPrecondition(
          "safeguard: no row is trusted any more: raise th0 and th1, or begin anew");
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
  // Rows farther than twice the threshold from the vector median of one window lose their trust for
  // ever. The vector median of that window keeps it.
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
     .low_open = true,
     .in_rows_unit = true},
    {.name = "th1",
     .meaning = "half the distance from the vector median that the long window allows",
     .low_open = true,
     .in_rows_unit = true}};

}  // namespace

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
              .breakdown = "any number of attackers that are alike, but not a single attacker",
              .passes = 3,
              .writes = 0,
              .stateful = true,
              .per_row_state = true},
    .make = [](const Parameters&) -> std::unique_ptr<Rule> {
      return std::make_unique<FoolsGold>();
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
                        "median is the row with the least radius, which always exists",
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
