#include "aggregation/rules/pipeline.h"

#include <algorithm>
#include <utility>

#include "aggregation/kernels/checks.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

constexpr std::string_view kRule = "rule";
constexpr std::string_view kPre = "pre-aggregation";

const std::string* FindArgument(const Arguments& arguments, std::string_view name) {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const auto& argument) { return argument.first == name; });
  return found == arguments.end() ? nullptr : &found->second;
}

void SetFaults(Arguments& arguments, const std::string& text) {
  for (auto& [name, value] : arguments) {
    if (name == "f") {
      value = text;
      return;
    }
  }
  arguments.emplace_back("f", text);
}

// The arguments with f lowered by the number of dropped rows.
Arguments WithDropped(Arguments arguments, std::size_t f, std::size_t dropped) {
  if (FindArgument(arguments, "f") != nullptr) SetFaults(arguments, std::to_string(f - dropped));
  return arguments;
}

// The rows that every element takes, with their indices in `rows`.
template <typename T>
struct Valid {
  BasicRows<T> rows;
  std::vector<std::size_t> index;
  std::vector<std::size_t> dropped;
};

// What the element that does most with values does.
Arithmetic MostOf(const Pipeline& pipeline) {
  Arithmetic most = pipeline.rule().about.arithmetic;
  for (const PreInfo* info : pipeline.pre()) most = std::max(most, info->about.arithmetic);
  return most;
}

template <typename T>
Valid<T> KeepValid(const Pipeline& pipeline, const BasicRows<T>& rows, const Executor& executor) {
  Valid<T> valid;
  valid.dropped = UnfitRows(MostOf(pipeline), rows, executor);
  valid.rows.dimension = rows.dimension;
  valid.rows.reference = rows.reference;
  for (std::size_t i = 0; i < rows.count(); ++i) {
    if (std::binary_search(valid.dropped.begin(), valid.dropped.end(), i)) continue;
    valid.rows.row.push_back(rows.row[i]);
    valid.index.push_back(i);
  }
  return valid;
}

base::Status CheckDropped(const std::vector<std::size_t>& dropped, std::size_t f) {
  if (dropped.size() <= f) return base::OkStatus();
  return base::InvalidArgument(
      std::to_string(dropped.size()) + " rows are not finite or too large, more than f = " +
      std::to_string(f) + "; the first is row " + std::to_string(dropped.front()));
}

// Runs the elements of a pipeline in order; each replaces the rows for the next.
template <typename T>
class Run {
 public:
  Run(const Pipeline& pipeline, const Executor& executor, std::vector<State> states)
      : pipeline_(pipeline), executor_(executor), states_(std::move(states)) {}

  base::Status operator()(BasicRows<T> rows, std::size_t dropped, std::span<T> out,
                          Report* report) {
    const PipelineSpec& spec = pipeline_.spec();
    const std::size_t f = spec.f.value_or(0);
    for (std::size_t k = 0; k < spec.pre.size(); ++k) {
      ASSIGN_OR_RETURN(
          const auto pre,
          MakePreAggregation(spec.pre[k].name, WithDropped(spec.pre[k].arguments, f, dropped)));
      std::vector<T> mixed(pre->OutputRows(rows.count()) * rows.dimension);
      RETURN_IF_ERROR(pre->Apply(rows, Call(executor_, &states_[k]), mixed));
      rows.row.clear();
      for (std::size_t at = 0; at < mixed.size(); at += rows.dimension) {
        rows.row.push_back(mixed.data() + at);
      }
      held_ = std::move(mixed);  // the previous rows are no longer needed
    }
    ASSIGN_OR_RETURN(const auto rule,
                     MakeRule(spec.rule.name, WithDropped(spec.rule.arguments, f, dropped)));
    return rule->Aggregate(rows, Call(executor_, &states_.back(), report), out);
  }

  std::vector<State>& states() { return states_; }

 private:
  const Pipeline& pipeline_;
  const Executor& executor_;
  std::vector<State> states_;
  std::vector<T> held_;
};

template <typename T>
base::Status RunPipeline(const Pipeline& pipeline, const BasicRows<T>& rows,
                         const Executor& executor, std::span<T> out, std::vector<State>* states,
                         Report* report) {
  RETURN_IF_ERROR(CheckShape(rows));
  const PipelineSpec& spec = pipeline.spec();
  Valid<T> valid;
  if (spec.drop_invalid) {
    valid = KeepValid(pipeline, rows, executor);
    RETURN_IF_ERROR(CheckDropped(valid.dropped, spec.f.value_or(0)));
  }
  const bool dropped = !valid.dropped.empty();
  if (dropped && pipeline.per_row_state()) {
    return base::InvalidArgument(
        "row " + std::to_string(valid.dropped.front()) +
        " is not finite or too large, and this pipeline remembers rows by their "
        "place: none can be dropped");
  }
  const std::size_t elements = spec.pre.size() + 1;
  std::vector<State> working = states == nullptr ? std::vector<State>() : *states;
  if (working.empty()) working.resize(elements);
  if (working.size() != elements) {
    return base::InvalidArgument("the state is of " + std::to_string(working.size()) +
                                 " elements, the pipeline has " + std::to_string(elements));
  }
  Run<T> run(pipeline, executor, std::move(working));
  RETURN_IF_ERROR(run(dropped ? valid.rows : rows, valid.dropped.size(), out, report));
  if (report != nullptr && dropped) {
    for (std::size_t& i : report->selected) {
      if (i < valid.index.size()) i = valid.index[i];
    }
    report->dropped = valid.dropped;
  }
  if (states != nullptr) *states = std::move(run.states());
  return base::OkStatus();
}

}  // namespace

base::StatusOr<ElementSpec> ParseElement(std::string_view text) {
  const std::size_t colon = text.find(':');
  ElementSpec element{std::string(text.substr(0, colon)), {}};
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    ASSIGN_OR_RETURN(auto argument, ParseArgument(rest.substr(0, comma)));
    element.arguments.push_back(std::move(argument));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return element;
}

base::StatusOr<Pipeline> Pipeline::Make(PipelineSpec spec) {
  ASSIGN_OR_RETURN(const RuleInfo* rule, FindRule(spec.rule.name));
  std::vector<const PreInfo*> pre;
  for (const ElementSpec& element : spec.pre) {
    ASSIGN_OR_RETURN(const PreInfo* info, FindPreAggregation(element.name));
    pre.push_back(info);
  }
  if (const std::string* given = FindArgument(spec.rule.arguments, "f"); given != nullptr) {
    ASSIGN_OR_RETURN(const Parameters parameters,
                     ParametersOf(rule->about, kRule, spec.rule.arguments));
    if (spec.f && *spec.f != parameters.Integer("f")) {
      return base::InvalidArgument("f is given twice: " + std::to_string(*spec.f) + " and " +
                                   *given);
    }
    spec.f = parameters.Integer("f");
  }
  if (spec.f) {
    SetFaults(spec.rule.arguments, std::to_string(*spec.f));
    for (ElementSpec& element : spec.pre) SetFaults(element.arguments, std::to_string(*spec.f));
  }
  RETURN_IF_ERROR(ParametersOf(rule->about, kRule, spec.rule.arguments).status());
  for (std::size_t k = 0; k < pre.size(); ++k) {
    RETURN_IF_ERROR(ParametersOf(pre[k]->about, kPre, spec.pre[k].arguments).status());
  }
  return Pipeline(std::move(spec), rule, std::move(pre));
}

bool Pipeline::stateful() const {
  return rule_->about.stateful ||
         std::any_of(pre_.begin(), pre_.end(), [](auto* info) { return info->about.stateful; });
}

bool Pipeline::per_row_state() const {
  return rule_->about.per_row_state || std::any_of(pre_.begin(), pre_.end(), [](auto* info) {
           return info->about.per_row_state;
         });
}

bool Pipeline::blockwise() const {
  return rule_->about.blockwise &&
         std::all_of(pre_.begin(), pre_.end(), [](auto* info) { return info->about.blockwise; });
}

base::Status Pipeline::Aggregate(const Rows& rows, const Executor& executor, std::span<float> out,
                                 std::vector<State>* states, Report* report) const {
  OSTRAKA_CHECK(out.size() == rows.dimension);
  return RunPipeline(*this, rows, executor, out, states, report);
}

base::Status Pipeline::Aggregate(const DoubleRows& rows, const Executor& executor,
                                 std::span<double> out, std::vector<State>* states,
                                 Report* report) const {
  OSTRAKA_CHECK(out.size() == rows.dimension);
  return RunPipeline(*this, rows, executor, out, states, report);
}

}  // namespace ostraka::aggregation
