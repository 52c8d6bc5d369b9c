#include "aggregation/rules/mean.h"

#include "aggregation/kernels/checks.h"
#include "aggregation/kernels/passes.h"
#include "aggregation/rules/entries.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

constexpr std::string_view kSource = "the sample mean; FedAvg without weights";

}  // namespace

const RuleInfo kMeanInfo = {
    .about = {.name = "mean",
              .summary = "the arithmetic mean: no robustness, the baseline that attacks break",
              .definition = "out = (sum_i row_i) / n, coordinate by coordinate, in row order",
              .source = kSource,
              .requirement = "f < n",
              .largest_f = AnyLimit,
              .breakdown = "none: one row can move the result anywhere",
              .arithmetic = Arithmetic::kAdds,
              .passes = 1,
              .blockwise = true},
    .make = [](const Parameters&) -> std::unique_ptr<Rule> { return std::make_unique<Mean>(); }};

template <typename T>
base::Status Mean::Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const {
  OSTRAKA_CHECK(out.size() == rows.dimension);
  RETURN_IF_ERROR(CheckShape(rows));
  // One pass if all values are finite; a second one only to name a bad value.
  if (BasicPasses<T>(rows, call.executor, kernels_).Mean(out.data())) return base::OkStatus();
  return CheckRows(rows, call.executor);
}

base::Status Mean::Aggregate(const Rows& rows, const Call& call, std::span<float> out) const {
  return Run(rows, call, out);
}

base::Status Mean::Aggregate(const DoubleRows& rows, const Call& call,
                             std::span<double> out) const {
  return Run(rows, call, out);
}

}  // namespace ostraka::aggregation
