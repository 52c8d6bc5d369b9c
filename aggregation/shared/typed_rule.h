// A Rule or PreAggregation written once for float32 and float64 rows: Derived has
//   template <typename T> base::Status Run(const BasicRows<T>&, const Call&, std::span<T>) const;
// Internal to aggregation: the registry makes it and has checked the shape, f against n, and
// float64 values. float32 values may be non-finite.
#pragma once

#include <memory>

#include "aggregation/shared/parameters.h"
#include "aggregation/shared/rule.h"

namespace ostraka::aggregation {

template <typename Derived>
class TypedRule : public Rule {
 public:
  base::Status Aggregate(const Rows& rows, const Call& call, std::span<float> out) const final {
    return self().template Run<float>(rows, call, out);
  }
  base::Status Aggregate(const DoubleRows& rows, const Call& call,
                         std::span<double> out) const final {
    return self().template Run<double>(rows, call, out);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

// RuleInfo::make for a rule whose only parameter is f.
template <typename Made>
std::unique_ptr<Rule> MakeOfFaults(const Parameters& given) {
  return std::make_unique<Made>(given.Integer("f"));
}

template <typename Derived>
class TypedPre : public PreAggregation {
 public:
  base::Status Apply(const Rows& rows, const Call& call, std::span<float> out) const final {
    return self().template Run<float>(rows, call, out);
  }
  base::Status Apply(const DoubleRows& rows, const Call& call, std::span<double> out) const final {
    return self().template Run<double>(rows, call, out);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace ostraka::aggregation
