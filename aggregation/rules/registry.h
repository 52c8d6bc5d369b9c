// The registry of rules and pre-aggregations: names, parameters, limits, cost and sources, as data.
// `ostraka aggregate --list`, docs/aggregation.md, help texts and error messages are made from it.
//
// Every entry accepts f, the number of Byzantine rows to tolerate. If its formula does not use f, f
// is only checked against the entry's limit.
//
// Thread safety: immutable tables of pure functions.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/shared/parameters.h"
#include "aggregation/shared/rule.h"
#include "aggregation/shared/scaling.h"
#include "node/base/status.h"

namespace ostraka::aggregation {

// Whether an entry uses the vector that reference_meaning describes (BasicRows::reference).
enum class ReferenceUse { kNone, kOptional, kRequired };

// The common description of rules and pre-aggregations.
struct Description {
  std::string_view name = {};
  std::string_view summary = {};                   // one line, no full stop
  std::string_view definition = {};                // the formula with its ties and edge cases
  std::string_view source = {};                    // paper, and where in it
  std::span<const ParameterInfo> parameters = {};  // "f" first, where the formula uses it

  // The largest f that the definition allows at n rows; nullopt if it allows no such n.
  // `requirement` states this as an inequality.
  std::string_view requirement = {};
  std::optional<std::size_t> (*largest_f)(std::size_t n, const Parameters& parameters) = nullptr;
  std::string_view breakdown =
      {};  // the share of Byzantine rows that it tolerates, and in which sense

  // float64 rows are brought into the range that this needs before the entry's code sees them.
  Arithmetic arithmetic = Arithmetic::kMultiplies;
  bool numbers_in_rows_unit = false;  // those of its State

  // Cost: reads of the n x d input that the definition needs, and writes of n x d values.
  int passes = 1;
  int writes = 0;
  bool blockwise = false;  // each coordinate of the result depends only on that coordinate of the
                           // rows
  bool stateful = false;   // reads and writes a State
  bool per_row_state = false;  // the State identifies rows by index
  bool exchangeable = true;    // the order of the rows does not matter, except for ties
  ReferenceUse reference = ReferenceUse::kNone;
  std::string_view reference_meaning = {};
};

struct RuleInfo {
  Description about;
  std::unique_ptr<Rule> (*make)(const Parameters& parameters) = nullptr;
};

struct PreInfo {
  Description about;
  std::unique_ptr<PreAggregation> (*make)(const Parameters& parameters) = nullptr;
};

// All entries, in alphabetical order.
std::span<const RuleInfo* const> Rules();
std::span<const PreInfo* const> PreAggregations();

// InvalidArgument with a suggestion if the name is unknown.
base::StatusOr<const RuleInfo*> FindRule(std::string_view name);
base::StatusOr<const PreInfo*> FindPreAggregation(std::string_view name);

// The entry's parameters, including f ("f" is 0 if the formula does not use it and it was not
// given). `kind` is "rule" or "pre-aggregation". Errors as ParseParameters.
base::StatusOr<Parameters> ParametersOf(const Description& about, std::string_view kind,
                                        const Arguments& given);

// A rule from its name and key=value pairs. InvalidArgument as FindRule and ParseParameters.
// Aggregate checks f against n.
base::StatusOr<std::unique_ptr<Rule>> MakeRule(std::string_view name, const Arguments& given);
base::StatusOr<std::unique_ptr<PreAggregation>> MakePreAggregation(std::string_view name,
                                                                   const Arguments& given);

// InvalidArgument "rule krum needs n >= 2f + 3, not f = 4 with n = 8 rows; ..." unless f fits n.
base::Status CheckFaults(const Description& about, std::string_view kind, std::size_t n,
                         const Parameters& parameters);

}  // namespace ostraka::aggregation
