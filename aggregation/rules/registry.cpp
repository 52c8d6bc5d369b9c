#include "aggregation/rules/registry.h"

#include <algorithm>
#include <utility>

#include "aggregation/kernels/checks.h"
#include "aggregation/rules/entries.h"
#include "aggregation/shared/byzfl_names.h"
#include "aggregation/shared/scaling.h"
#include "node/base/check.h"
#include "node/base/suggest.h"

namespace ostraka::aggregation {
namespace {

// For entries whose formula does not use f: a given f is only checked.
constexpr ParameterInfo kUnusedFaults = {
    .name = "f",
    .type = ValueType::kInteger,
    .meaning = "Byzantine rows to tolerate; only checked, the formula does not use it",
    .default_kind = Default::kValue,
    .default_text = "0"};

bool UsesFaults(const Description& about) {
  return !about.parameters.empty() && about.parameters.front().name == "f";
}

template <typename Info>
base::StatusOr<const Info*> Find(std::span<const Info* const> all, std::string_view kind,
                                 std::string_view name) {
  std::vector<std::string> known;
  for (const Info* info : all) {
    if (info->about.name == name) return info;
    known.emplace_back(info->about.name);
  }
  const std::string hint = ByzflHint(name);
  return base::InvalidArgument("unknown " + std::string(kind) + " '" + std::string(name) + "'" +
                               (hint.empty() ? base::SuggestionFor(name, known) : hint));
}

template <typename T>
base::Status CheckReference(const Description& about, std::string_view kind, const T* reference,
                            std::size_t dimension) {
  if (reference != nullptr) return CheckReferenceValues(reference, dimension);
  if (about.reference != ReferenceUse::kRequired) return base::OkStatus();
  return base::InvalidArgument(
      std::string(kind) + " " + std::string(about.name) +
      " needs a reference vector: " + std::string(about.reference_meaning));
}

template <typename T>
base::Status CheckInput(const Description& about, std::string_view kind, const BasicRows<T>& rows,
                        const Parameters& parameters, const Executor& executor) {
  RETURN_IF_ERROR(CheckShape(rows));
  // The passes that read float32 rows detect non-finite values anyway. float64 rows need a separate
  // check, because their sums and products need not be finite.
  if constexpr (std::is_same_v<T, double>) RETURN_IF_ERROR(CheckRows(rows, executor));
  RETURN_IF_ERROR(CheckFaults(about, kind, rows.count(), parameters));
  return CheckReference(about, kind, rows.reference, rows.dimension);
}

// Runs an entry's code on rows as they stand, or times a power of two where their values leave the
// range that it needs. `run` calls an entry.
template <typename Entry, typename Info, typename T, typename RunEntry>
base::Status RunInRange(const Info& info, const Entry& entry, const Parameters& parameters,
                        const BasicRows<T>& rows, const Call& call, std::span<T> out,
                        const RunEntry& run) {
  if constexpr (std::is_same_v<T, double>) {
    const Description& about = info.about;
    const bool numbers = about.numbers_in_rows_unit;
    ASSIGN_OR_RETURN(const int exponent,
                     ExponentFor(about.arithmetic, rows, call.state, numbers, call.executor));
    if (exponent != 0) {
      const ScaledRows scaled(about.arithmetic, rows, exponent, call.executor);
      State state = call.state == nullptr ? State() : *call.state;
      ScaleState(state, numbers, exponent, call.executor);
      const auto made = info.make(ScaledParameters(parameters, about.parameters, exponent));
      RETURN_IF_ERROR(run(*made, scaled.rows(), Call(call.executor, &state, call.report), out));
      Scale(out, -exponent, call.executor);
      ScaleState(state, numbers, -exponent, call.executor);
      if (call.report != nullptr) ScaleReport(*call.report, -exponent);
      if (call.state != nullptr) *call.state = std::move(state);
      return base::OkStatus();
    }
  }
  return run(entry, rows, call, out);
}

// The common part of every rule: its limits, an empty report, every row selected.
class CheckedRule final : public Rule {
 public:
  CheckedRule(const RuleInfo& info, Parameters parameters)
      : info_(info), parameters_(std::move(parameters)), rule_(info.make(parameters_)) {}

  std::string_view name() const override { return info_.about.name; }
  base::Status Aggregate(const Rows& rows, const Call& call, std::span<float> out) const override {
    return Run(rows, call, out);
  }
  base::Status Aggregate(const DoubleRows& rows, const Call& call,
                         std::span<double> out) const override {
    return Run(rows, call, out);
  }

 private:
  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    OSTRAKA_CHECK(out.size() == rows.dimension);
    RETURN_IF_ERROR(CheckInput(info_.about, "rule", rows, parameters_, call.executor));
    if (call.report != nullptr) *call.report = Report();
    RETURN_IF_ERROR(RunInRange(
        info_, *rule_, parameters_, rows, call, out,
        [](const Rule& rule, const auto&... given) { return rule.Aggregate(given...); }));
    if (call.report != nullptr && call.report->selected.empty()) {
      for (std::size_t i = 0; i < rows.count(); ++i) call.report->selected.push_back(i);
    }
    return base::OkStatus();
  }

  const RuleInfo& info_;
  Parameters parameters_;
  std::unique_ptr<Rule> rule_;
};

class CheckedPre final : public PreAggregation {
 public:
  CheckedPre(const PreInfo& info, Parameters parameters)
      : info_(info), parameters_(std::move(parameters)), pre_(info.make(parameters_)) {}

  std::string_view name() const override { return info_.about.name; }
  std::size_t OutputRows(std::size_t n) const override { return pre_->OutputRows(n); }
  base::Status Apply(const Rows& rows, const Call& call, std::span<float> out) const override {
    return Run(rows, call, out);
  }
  base::Status Apply(const DoubleRows& rows, const Call& call,
                     std::span<double> out) const override {
    return Run(rows, call, out);
  }

 private:
  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
    RETURN_IF_ERROR(CheckInput(info_.about, "pre-aggregation", rows, parameters_, call.executor));
    OSTRAKA_CHECK(out.size() == OutputRows(rows.count()) * rows.dimension);
    return RunInRange(
        info_, *pre_, parameters_, rows, call, out,
        [](const PreAggregation& pre, const auto&... given) { return pre.Apply(given...); });
  }

  const PreInfo& info_;
  Parameters parameters_;
  std::unique_ptr<PreAggregation> pre_;
};

// In alphabetical order.
constexpr const RuleInfo* kRules[] = {&kAkselInfo,
                                      &kBulyanInfo,
                                      &kCafInfo,
                                      &kCenteredClipInfo,
                                      &kCgeInfo,
                                      &kClippedClusteringInfo,
                                      &kDncInfo,
                                      &kFlameInfo,
                                      &kFlTrustInfo,
                                      &kFoolsGoldInfo,
                                      &kGeometricMedianInfo,
                                      &kKrumInfo,
                                      &kMdaInfo,
                                      &kMeamedInfo,
                                      &kMeanInfo,
                                      &kMedianInfo,
                                      &kMonnaInfo,
                                      &kMultiKrumInfo,
                                      &kNormClippingInfo,
                                      &kPhocasInfo,
                                      &kSafeguardInfo,
                                      &kSelfCenteredClipInfo,
                                      &kSignMajorityInfo,
                                      &kSignGuardInfo,
                                      &kSmeaInfo,
                                      &kTrimmedMeanInfo};
constexpr const PreInfo* kPreAggregations[] = {&kArcInfo, &kBucketingInfo, &kClippingInfo,
                                               &kNnmInfo, &kWorkerMomentumInfo};

}  // namespace

std::span<const RuleInfo* const> Rules() { return kRules; }
std::span<const PreInfo* const> PreAggregations() { return kPreAggregations; }

std::optional<std::size_t> MinorityLimit(std::size_t n, const Parameters&) {
  if (n == 0) return std::nullopt;
  return (n - 1) / 2;
}

std::optional<std::size_t> AnyLimit(std::size_t n, const Parameters&) {
  if (n == 0) return std::nullopt;
  return n - 1;
}

base::StatusOr<const RuleInfo*> FindRule(std::string_view name) {
  return Find(Rules(), "rule", name);
}

base::StatusOr<const PreInfo*> FindPreAggregation(std::string_view name) {
  return Find(PreAggregations(), "pre-aggregation", name);
}

base::StatusOr<Parameters> ParametersOf(const Description& about, std::string_view kind,
                                        const Arguments& given) {
  std::vector<ParameterInfo> infos(about.parameters.begin(), about.parameters.end());
  if (!UsesFaults(about)) infos.insert(infos.begin(), kUnusedFaults);
  return ParseParameters(std::string(kind) + " " + std::string(about.name), infos, given);
}

base::Status CheckFaults(const Description& about, std::string_view kind, std::size_t n,
                         const Parameters& parameters) {
  const std::uint64_t f = parameters.Integer("f");
  const std::optional<std::size_t> largest = about.largest_f(n, parameters);
  if (largest && f <= *largest) return base::OkStatus();
  std::string message = std::string(kind) + " " + std::string(about.name) + " needs " +
                        std::string(about.requirement) + ", not f = " + std::to_string(f) +
                        " with n = " + std::to_string(n) + " rows";
  if (largest) message += "; at most f = " + std::to_string(*largest) + " here";
  return base::InvalidArgument(message);
}

base::StatusOr<std::unique_ptr<Rule>> MakeRule(std::string_view name, const Arguments& given) {
  ASSIGN_OR_RETURN(const RuleInfo* info, FindRule(name));
  ASSIGN_OR_RETURN(Parameters parameters, ParametersOf(info->about, "rule", given));
  return std::unique_ptr<Rule>(std::make_unique<CheckedRule>(*info, std::move(parameters)));
}

base::StatusOr<std::unique_ptr<PreAggregation>> MakePreAggregation(std::string_view name,
                                                                   const Arguments& given) {
  ASSIGN_OR_RETURN(const PreInfo* info, FindPreAggregation(name));
  ASSIGN_OR_RETURN(Parameters parameters, ParametersOf(info->about, "pre-aggregation", given));
  return std::unique_ptr<PreAggregation>(
      std::make_unique<CheckedPre>(*info, std::move(parameters)));
}

}  // namespace ostraka::aggregation
