#include "aggregation/rules/column_rules.h"

#include "aggregation/kernels/passes.h"
#include "aggregation/kernels/sort_network.h"
#include "aggregation/rules/entries.h"
#include "aggregation/shared/typed_rule.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

using simd::ColumnRule;

class ColumnRuleOf final : public TypedRule<ColumnRuleOf> {
 public:
  ColumnRuleOf(std::string_view name, ColumnRule rule, std::size_t f)
      : name_(name), rule_(rule), f_(f) {}
  std::string_view name() const override { return name_; }

  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    return RunColumns<T>(rows, call.executor, PlanColumns(rule_, rows.count(), f_, f_), out);
  }

 private:
  std::string_view name_;
  ColumnRule rule_;
  std::size_t f_;
};

template <ColumnRule kRule>
std::unique_ptr<Rule> Make(std::string_view name, const Parameters& parameters) {
  return std::make_unique<ColumnRuleOf>(name, kRule, parameters.Integer("f"));
}

constexpr std::string_view kBreakdown = "f < n/2, coordinate by coordinate";

constexpr ParameterInfo kMedianParameters[] = {MedianParameter("variant")};

// The description that all rules of this file share.
constexpr Description ByColumn(Description about) {
  about.requirement = "f < n/2";
  about.largest_f = MinorityLimit;
  about.passes = 1;
  about.blockwise = true;
  if (about.arithmetic == Arithmetic::kMultiplies) about.arithmetic = Arithmetic::kAdds;
  return about;
}

}  // namespace

const RuleInfo kMedianInfo = {
    .about = ByColumn({.name = "median",
                       .summary = "the median of each coordinate",
                       .definition =
                           "with x the coordinate's values in ascending order: x[(n-1)/2] if n is "
                           "odd, (x[n/2-1] + x[n/2]) / 2 if n is even (variant lower: x[n/2-1])",
                       .source = "Yin, Chen, Ramchandran, Bartlett, ICML 2018, definition 1",
                       .parameters = kMedianParameters,
                       .breakdown = kBreakdown}),
    .make = [](const Parameters& given) -> std::unique_ptr<Rule> {
      const bool lower = given.Choice("variant") == "lower";
      return std::make_unique<ColumnRuleOf>(
          "median", lower ? ColumnRule::kLowerMedian : ColumnRule::kMedian, 0);
    }};

const RuleInfo kTrimmedMeanInfo = {
    .about = ByColumn(
        {.name = "trimmed_mean",
         .summary = "the mean of each coordinate without its f largest and f smallest values",
         .definition = "with x the coordinate's values in ascending order: the mean of x[f] .. "
                       "x[n-1-f]",
         .source = "Yin, Chen, Ramchandran, Bartlett, ICML 2018, definition 2 (beta = f/n)",
         .parameters = kOnlyFaults,
         .breakdown = kBreakdown}),
    .make = [](const Parameters& given) {
      return Make<ColumnRule::kTrimmedMean>("trimmed_mean", given);
    }};

const RuleInfo kMeamedInfo = {
    .about = ByColumn(
        {.name = "meamed",
         .summary = "the mean of the n - f values of each coordinate nearest to its median",
         .definition = "coordinate by coordinate, with the midpoint median; of values equally "
                       "far the lower is kept",
         .source = "Xie, Koyejo, Gupta, Generalized Byzantine-tolerant SGD, 2018, "
                   "\"mean around median\"",
         .parameters = kOnlyFaults,
         .breakdown = kBreakdown}),
    .make = [](const Parameters& given) { return Make<ColumnRule::kNearMedian>("meamed", given); }};

const RuleInfo kPhocasInfo = {
    .about = ByColumn(
        {.name = "phocas",
         .summary = "the mean of the n - f values of each coordinate nearest to its trimmed mean",
         .definition = "coordinate by coordinate, around trimmed_mean with this f; of values "
                       "equally far the lower is kept",
         .source = "Xie, Koyejo, Gupta, Phocas, 2018, definition 7",
         .parameters = kOnlyFaults,
         .breakdown = kBreakdown}),
    .make = [](const Parameters& given) {
      return Make<ColumnRule::kNearTrimmed>("phocas", given);
    }};

const RuleInfo kSignMajorityInfo = {
    .about = ByColumn(
        {.name = "sign_majority",
         .summary = "the sign that most rows have, for each coordinate",
         .definition = "sign(sum_i sign(row_i)): -1, 0 or 1; zeros vote for neither",
         .source = "Bernstein, Zhao, Azizzadenesheli, Anandkumar, ICLR 2019, algorithm 1",
         .breakdown = "f < n/2 where the honest rows agree in sign; its length is always bounded",
         .arithmetic = Arithmetic::kCompares}),
    .make = [](const Parameters& given) {
      return Make<ColumnRule::kSign>("sign_majority", given);
    }};

ColumnWork PlanColumns(ColumnRule rule, std::size_t n, std::size_t trim, std::size_t center_trim) {
  ColumnWork work;
  work.plan.rule = rule;
  work.plan.trim = trim;
  work.plan.center_trim = center_trim;
  std::size_t begin = 0;
  std::size_t end = n;
  if (rule == ColumnRule::kMedian || rule == ColumnRule::kLowerMedian) {
    begin = (n - 1) / 2;
    end = rule == ColumnRule::kMedian ? n / 2 + 1 : begin + 1;
  } else if (rule == ColumnRule::kTrimmedMean) {
    OSTRAKA_CHECK(2 * trim < n);
    begin = trim;
    end = n - trim;
  } else {
    OSTRAKA_CHECK(trim < n && 2 * center_trim < n);
  }
  if (rule != ColumnRule::kSign) work.network = SortNetwork(n, begin, end);
  work.plan.comparators = work.network.data();
  work.plan.comparator_count = work.network.size();
  return work;
}

template <typename T>
base::Status RunColumns(const BasicRows<T>& rows, const Executor& executor, const ColumnWork& work,
                        std::span<T> out, std::vector<double>* squares) {
  const BasicPasses<T> passes(rows, executor, simd::BestKernels());
  if (passes.Columns(work.plan, out.data(), squares)) return base::OkStatus();
  return CheckRows(rows, executor);
}

template base::Status RunColumns(const Rows&, const Executor&, const ColumnWork&, std::span<float>,
                                 std::vector<double>*);
template base::Status RunColumns(const DoubleRows&, const Executor&, const ColumnWork&,
                                 std::span<double>, std::vector<double>*);

}  // namespace ostraka::aggregation
