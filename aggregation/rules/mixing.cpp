#include "aggregation/rules/mixing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "node/base/check.h"

namespace ostraka::aggregation {

base::StatusOr<Mixing> Mixing::Make(std::vector<ElementSpec> elements,
                                    std::optional<std::size_t> f) {
  if (elements.empty()) return base::InvalidArgument("no pre-aggregation is named");
  Mixing mixing;
  for (ElementSpec& element : elements) {
    const bool has_f = std::any_of(element.arguments.begin(), element.arguments.end(),
                                   [](const auto& argument) { return argument.first == "f"; });
    if (f && !has_f) element.arguments.emplace_back("f", std::to_string(*f));
    ASSIGN_OR_RETURN(auto made, MakePreAggregation(element.name, element.arguments));
    mixing.elements_.push_back(std::move(made));
  }
  return mixing;
}

std::size_t Mixing::OutputRows(std::size_t n) const {
  for (const auto& element : elements_) n = element->OutputRows(n);
  return n;
}

template <typename T>
base::Status Mixing::Run(BasicRows<T> rows, const Executor& executor, std::vector<State>& states,
                         std::span<T> out) const {
  OSTRAKA_CHECK(out.size() == OutputRows(rows.count()) * rows.dimension);
  if (!states.empty() && states.size() != elements_.size()) {
    return base::InvalidArgument("the state is of " + std::to_string(states.size()) +
                                 " elements, and there are " + std::to_string(elements_.size()) +
                                 " pre-aggregations");
  }
  states.resize(elements_.size());
  std::vector<T> held;
  for (std::size_t k = 0; k < elements_.size(); ++k) {
    const std::size_t count = elements_[k]->OutputRows(rows.count());
    const bool last = k + 1 == elements_.size();
    std::vector<T> mixed(last ? 0 : count * rows.dimension);
    const std::span<T> target = last ? out : std::span<T>(mixed);
    RETURN_IF_ERROR(elements_[k]->Apply(rows, Call(executor, &states[k]), target));
    rows.row.clear();
    for (std::size_t i = 0; i < count; ++i) rows.row.push_back(target.data() + i * rows.dimension);
    held = std::move(mixed);  // the previous rows are no longer needed
  }
  return base::OkStatus();
}

base::Status Mixing::Apply(const Rows& rows, const Executor& executor, std::vector<State>& states,
                           std::span<float> out) const {
  return Run(rows, executor, states, out);
}
base::Status Mixing::Apply(const DoubleRows& rows, const Executor& executor,
                           std::vector<State>& states, std::span<double> out) const {
  return Run(rows, executor, states, out);
}

}  // namespace ostraka::aggregation
