// Rules that choose rows by distances or norms.
#include <algorithm>
#include <cmath>

#include "aggregation/rules/column_rules.h"
#include "aggregation/rules/entries.h"
#include "aggregation/shared/krum_scores.h"
#include "aggregation/shared/selection.h"
#include "aggregation/shared/subset_search.h"
#include "aggregation/shared/typed_rule.h"

namespace ostraka::aggregation {
namespace {

void ReportScores(const Call& call, std::vector<double> scores, int power = 2) {
  if (call.report == nullptr) return;
  call.report->scores = std::move(scores);
  call.report->scores_power = power;
}

// krum and multi_krum: the mean of the `count` rows with the least scores; nullopt: the variant's
// count.
class Krum final : public TypedRule<Krum> {
 public:
  Krum(std::string_view name, KrumScore score, std::size_t f, std::size_t count)
      : name_(name), score_(score), f_(f), count_(count) {}
  std::string_view name() const override { return name_; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    const std::size_t n = rows.count();
    const std::size_t count = count_ == kVariantCount ? DefaultCount(n) : count_;
    if (count > n) {
      return base::InvalidArgument("multi_krum needs m <= n, not m = " + std::to_string(count) +
                                   " with n = " + std::to_string(n) + " rows");
    }
    ASSIGN_OR_RETURN(const SymmetricMatrix squares, SquaredDistancesOf(rows, call.executor));
    std::vector<double> scores = KrumScores(squares, {}, score_.NeighbourCount(n, f_), score_);
    std::vector<std::size_t> selected = Smallest(scores, count);
    RETURN_IF_ERROR(MeanOfSelected(rows, std::move(selected), call, out));
    ReportScores(call, std::move(scores), score_.power);
    return base::OkStatus();
  }

  static constexpr std::size_t kVariantCount = 0;

 private:
  std::size_t DefaultCount(std::size_t n) const {
    if (score_.multi_count == KrumScore::MultiCount::kOne) return 1;
    if (score_.multi_count == KrumScore::MultiCount::kAllButF) return n - f_;
    return n > f_ + 2 ? n - f_ - 2 : 1;
  }

  std::string_view name_;
  KrumScore score_;
  std::size_t f_;
  std::size_t count_;
};

class Bulyan final : public TypedRule<Bulyan> {
 public:
  Bulyan(bool one_shot, std::size_t f) : one_shot_(one_shot), f_(f) {}
  std::string_view name() const override { return "bulyan"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(const SymmetricMatrix squares, SquaredDistancesOf(rows, call.executor));
    const std::size_t theta = rows.count() - 2 * f_;
    const std::vector<std::size_t> selected =
        one_shot_ ? OneShot(squares, theta) : Repeated(squares, theta);
    BasicRows<T> chosen;
    chosen.dimension = rows.dimension;
    for (const std::size_t i : selected) chosen.row.push_back(rows.row[i]);
    const ColumnWork work = PlanColumns(simd::ColumnRule::kNearMedian, theta, 2 * f_);
    RETURN_IF_ERROR(RunColumns<T>(chosen, call.executor, work, out));
    if (call.report != nullptr) call.report->selected = selected;
    return base::OkStatus();
  }

 private:
  std::vector<std::size_t> OneShot(const SymmetricMatrix& squares, std::size_t theta) const {
    const KrumScore score;
    return Smallest(KrumScores(squares, {}, score.NeighbourCount(squares.size(), f_), score),
                    theta);
  }

  // Selects by Krum repeatedly, removing each selected row.
  std::vector<std::size_t> Repeated(const SymmetricMatrix& squares, std::size_t theta) const {
    const KrumScore score;
    std::vector<char> removed(squares.size(), 0);
    std::vector<std::size_t> selected;
    while (selected.size() < theta) {
      const std::size_t left = squares.size() - selected.size();
      const std::vector<double> scores =
          KrumScores(squares, removed, score.NeighbourCount(left, f_), score);
      std::size_t best = squares.size();
      for (std::size_t i = 0; i < squares.size(); ++i) {
        if (!removed[i] && (best == squares.size() || scores[i] < scores[best])) best = i;
      }
      removed[best] = 1;
      selected.push_back(best);
    }
    std::sort(selected.begin(), selected.end());
    return selected;
  }

  bool one_shot_;
  std::size_t f_;
};

class MinimumDiameter final : public TypedRule<MinimumDiameter> {
 public:
  explicit MinimumDiameter(std::size_t f) : f_(f) {}
  std::string_view name() const override { return "mda"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(const SymmetricMatrix squares, SquaredDistancesOf(rows, call.executor));
    ASSIGN_OR_RETURN(std::vector<std::size_t> selected,
                     LeastDiameterSubset(squares, rows.count() - f_));
    return MeanOfSelected(rows, std::move(selected), call, out);
  }

 private:
  std::size_t f_;
};

class Cge final : public TypedRule<Cge> {
 public:
  explicit Cge(std::size_t f) : f_(f) {}
  std::string_view name() const override { return "cge"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    ASSIGN_OR_RETURN(std::vector<double> squares, SquaredNormsOf<T>(rows, nullptr, call.executor));
    RETURN_IF_ERROR(MeanOfSelected(rows, Smallest(squares, rows.count() - f_), call, out));
    ReportScores(call, std::move(squares));
    return base::OkStatus();
  }

 private:
  std::size_t f_;
};

class Monna final : public TypedRule<Monna> {
 public:
  Monna(std::size_t f, std::size_t own) : f_(f), own_(own) {}
  std::string_view name() const override { return "monna"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    if (own_ >= rows.count()) {
      return base::InvalidArgument("monna needs idx < n, not idx = " + std::to_string(own_) +
                                   " with n = " + std::to_string(rows.count()) + " rows");
    }
    ASSIGN_OR_RETURN(std::vector<double> squares,
                     SquaredNormsOf<T>(rows, rows.row[own_], call.executor));
    RETURN_IF_ERROR(MeanOfSelected(rows, Smallest(squares, rows.count() - f_), call, out));
    ReportScores(call, std::move(squares));
    return base::OkStatus();
  }

 private:
  std::size_t f_;
  std::size_t own_;
};

class Aksel final : public TypedRule<Aksel> {
 public:
  Aksel(std::size_t f, bool half, bool lower) : f_(f), half_(half), lower_(lower) {}
  std::string_view name() const override { return "aksel"; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    const std::size_t n = rows.count();
    std::vector<double> squares;
    const ColumnWork work =
        PlanColumns(lower_ ? simd::ColumnRule::kLowerMedian : simd::ColumnRule::kMedian, n);
    RETURN_IF_ERROR(RunColumns<T>(rows, call.executor, work, out, &squares));
    const std::size_t count = half_ ? (n + 1) / 2 : n - f_;
    RETURN_IF_ERROR(MeanOfSelected(rows, Smallest(squares, count), call, out));
    ReportScores(call, std::move(squares));
    return base::OkStatus();
  }

 private:
  std::size_t f_;
  bool half_;
  bool lower_;
};

constexpr Choice kKrumVariants[] = {
    {"paper", "squared distances to the n - f - 2 nearest; multi_krum takes m = n - f - 2"},
    {"byzfl", "squared distances to the n - f - 1 nearest; m = n - f (ByzFL, ByzPy)"},
    {"epfl", "fourth powers of distances to the n - f - 2 nearest; m = 1 (Blades, EPFL-ML)"},
    {"byzmom",
     "distances, not squared, to the n - f - 1 nearest; m = n - f - 2 "
     "(ByzantineMomentum, Garfield, krum)"}};

constexpr ParameterInfo kKrumVariant = {.name = "variant",
                                        .type = ValueType::kChoice,
                                        .meaning = "which of the published definitions",
                                        .default_kind = Default::kValue,
                                        .default_text = "paper",
                                        .choices = kKrumVariants};
constexpr ParameterInfo kKrumParameters[] = {kFaults, kKrumVariant};
constexpr ParameterInfo kMultiKrumParameters[] = {
    kFaults,
    kKrumVariant,
    {.name = "m",
     .type = ValueType::kInteger,
     .meaning = "rows whose mean is taken",
     .default_kind = Default::kDerived,
     .default_text = "n - f - 2 at least 1 (byzfl: n - f, epfl: 1)",
     .low = 1}};

constexpr Choice kBulyanVariants[] = {
    {"paper", "Krum chooses one row after another from the remaining rows"},
    {"multi_krum", "the n - 2f rows of least score at once"}};
constexpr ParameterInfo kBulyanParameters[] = {kFaults,
                                               {.name = "variant",
                                                .type = ValueType::kChoice,
                                                .meaning = "how the n - 2f rows are chosen",
                                                .default_kind = Default::kValue,
                                                .default_text = "paper",
                                                .choices = kBulyanVariants}};

constexpr Choice kAkselVariants[] = {{"half", "the (n + 1) / 2 nearest rows, rounded down"},
                                     {"n-f", "the n - f nearest rows"}};
constexpr ParameterInfo kAkselParameters[] = {kFaults,
                                              {.name = "variant",
                                               .type = ValueType::kChoice,
                                               .meaning = "how many rows are kept",
                                               .default_kind = Default::kValue,
                                               .default_text = "half",
                                               .choices = kAkselVariants},
                                              MedianParameter("median")};
constexpr ParameterInfo kMonnaParameters[] = {
    kFaults,
    {.name = "idx",
     .type = ValueType::kInteger,
     .meaning = "index of the own row, which is trusted; counted from 0",
     .default_kind = Default::kValue,
     .default_text = "0"}};

std::optional<std::size_t> KrumLimit(std::size_t n, const Parameters& given) {
  const std::string_view variant = given.Choice("variant");
  if (variant == "byzfl" || variant == "byzmom") return MinorityLimit(n, given);
  if (n < 3) return std::nullopt;
  return (n - 3) / 2;
}

std::optional<std::size_t> BulyanLimit(std::size_t n, const Parameters&) {
  if (n < 3) return std::nullopt;
  return (n - 3) / 4;
}

constexpr std::string_view kKrumRequirement = "n >= 2f + 3 (n > 2f in variants byzfl and byzmom)";
constexpr std::string_view kKrumBreakdown =
    "2f + 2 < n: at an acute angle to the true gradient, if that is long enough";

}  // namespace

const RuleInfo kKrumInfo = {
    .about = {.name = "krum",
              .summary = "the row whose nearest rows are nearest",
              .definition = "the row i with the least sum of |row_i - row_j|^2 over its n - f - 2 "
                            "nearest other rows j; of equal scores the lower index",
              .source = "Blanchard, El Mhamdi, Guerraoui, Stainer, NIPS 2017, section 4",
              .parameters = kKrumParameters,
              .requirement = kKrumRequirement,
              .largest_f = KrumLimit,
              .breakdown = kKrumBreakdown,
              .passes = 1},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<Krum>("krum", KrumScoreOf(given.Choice("variant")),
                                    given.Integer("f"), 1);
    }};

const RuleInfo kMultiKrumInfo = {
    .about = {.name = "multi_krum",
              .summary = "the mean of the m rows whose nearest rows are nearest",
              .definition = "the mean of the m rows of least score, scores as in krum; of equal "
                            "scores the lower index",
              .source = "Blanchard, El Mhamdi, Guerraoui, Stainer, NIPS 2017, section 6",
              .parameters = kMultiKrumParameters,
              .requirement = kKrumRequirement,
              .largest_f = KrumLimit,
              .breakdown = kKrumBreakdown,
              .passes = 2},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<Krum>("multi_krum", KrumScoreOf(given.Choice("variant")),
                                    given.Integer("f"), given.IntegerOr("m", Krum::kVariantCount));
    }};

const RuleInfo kBulyanInfo = {
    .about = {.name = "bulyan",
              .summary = "krum chooses n - 2f rows, then each coordinate the values nearest to "
                         "their median",
              .definition = "of theta = n - 2f rows chosen by krum (paper variant, at least one "
                            "neighbour), the mean of each coordinate's theta - 2f values nearest "
                            "to its median, ties as in meamed",
              .source = "El Mhamdi, Guerraoui, Rouault, ICML 2018, section 4",
              .parameters = kBulyanParameters,
              .requirement = "n >= 4f + 3",
              .largest_f = BulyanLimit,
              .breakdown = "4f + 2 < n, each coordinate within O(1/sqrt(d)) of an honest one",
              .passes = 2},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<Bulyan>(given.Choice("variant") == "multi_krum", given.Integer("f"));
    }};

const RuleInfo kMdaInfo = {
    .about = {.name = "mda",
              .summary = "minimum diameter averaging: the mean of the n - f rows closest together",
              .definition = "the mean of the n - f rows whose largest distance to each other is "
                            "least; exact; of equal diameters the lexicographically first set",
              .source = "El Mhamdi, Guerraoui, Guirguis, Hoang, Rouault, Distributed Computing "
                        "2022; Rousseeuw 1985",
              .parameters = kOnlyFaults,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2",
              .passes = 2},
    .make = MakeOfFaults<MinimumDiameter>};

const RuleInfo kCgeInfo = {
    .about = {.name = "cge",
              .summary = "comparative gradient elimination: the mean of the n - f shortest rows",
              .definition = "the mean of the n - f rows of least |row_i|; of equal lengths the "
                            "lower index",
              .source = "Gupta, Liu, Vaidya, Byzantine fault-tolerant distributed machine learning "
                        "with norm-based comparative gradient elimination, 2021",
              .parameters = kOnlyFaults,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2 in length only: short rows in a wrong direction pass",
              .passes = 2},
    .make = MakeOfFaults<Cge>};

const RuleInfo kMonnaInfo = {
    .about = {.name = "monna",
              .summary = "the mean of the n - f rows nearest to one's own",
              .definition = "the mean of the n - f rows of least |row_i - row_idx|, row idx "
                            "included; of equal distances the lower index",
              .source = "Farhadkhani, Guerraoui, Gupta, Hoang, Pinot, Stephan, ICML 2023, "
                        "equation 2 (nearest neighbour averaging)",
              .parameters = kMonnaParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2 if row idx is honest",
              .passes = 2,
              .exchangeable = false},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<Monna>(given.Integer("f"), given.Integer("idx"));
    }};

const RuleInfo kAkselInfo = {
    .about = {.name = "aksel",
              .summary = "the mean of the rows nearest to the coordinate-wise median",
              .definition = "the mean of the (n + 1) / 2 rows of least |row_i - median|; of equal "
                            "distances the lower index",
              .source = "Boussetta, El Mhamdi, Guerraoui, Maurer, Rouault, AKSEL, OPODIS 2020",
              .parameters = kAkselParameters,
              .requirement = "f < n/2",
              .largest_f = MinorityLimit,
              .breakdown = "f < n/2",
              .passes = 2},
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      return std::make_unique<Aksel>(given.Integer("f"), given.Choice("variant") == "half",
                                     given.Choice("median") == "lower");
    }};

}  // namespace ostraka::aggregation
