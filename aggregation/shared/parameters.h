// Parameters of rules, pre-aggregations and attacks: described once as data, read from text and
// checked against their ranges. Help, docs and error messages are made from the descriptions.
//
// Thread safety: immutable values.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "node/base/status.h"

namespace ostraka::aggregation {

enum class ValueType { kInteger, kReal, kChoice };

struct Choice {
  std::string_view name = {};
  std::string_view meaning = {};
};

// The value of a parameter that is not given.
enum class Default {
  kValue,     // `default_text`, parsed like a given value
  kDerived,   // computed from n and f; `default_text` is the formula, for people
  kRequired,  // none: the parameter must be given
};

struct ParameterInfo {
  std::string_view name = {};
  ValueType type = ValueType::kReal;
  std::string_view meaning = {};  // with its unit, if it has one
  Default default_kind = Default::kRequired;
  std::string_view default_text = {};
  double low = 0;  // numbers lie in [low, high], or in (low, high] if low_open
  double high = std::numeric_limits<double>::infinity();  // an infinite value is never accepted
  bool low_open = false;
  bool in_rows_unit = false;             // a multiple of the rows wants the same multiple of it
  std::span<const Choice> choices = {};  // for kChoice
};

// "integer >= 1", "real in (0, 1]", "one of paper, byzfl".
std::string RangeText(const ParameterInfo& info);

// name=value pairs as a user writes them. A repeated name is an error.
using Arguments = std::vector<std::pair<std::string, std::string>>;

// Splits "key=value". InvalidArgument without '=' or with an empty key.
base::StatusOr<std::pair<std::string, std::string>> ParseArgument(std::string_view text);

// Values by name, each within its description. Reading a name or type that the description lacks is
// a local bug and fails a CHECK.
class Parameters {
 public:
  using Value = std::variant<std::uint64_t, double, std::string_view>;

  // False for a derived value that was not given.
  bool Has(std::string_view name) const { return values_.find(name) != values_.end(); }
  std::uint64_t Integer(std::string_view name) const;
  double Real(std::string_view name) const;
  std::string_view Choice(std::string_view name) const;
  std::uint64_t IntegerOr(std::string_view name, std::uint64_t derived) const;
  double RealOr(std::string_view name, double derived) const;

  void Set(std::string_view name, Value value) { values_.insert_or_assign(name, value); }

 private:
  std::map<std::string_view, Value> values_;  // keys and choices view the descriptions' text
};

// Parses `given` by the descriptions `infos`. `owner` ("rule krum") begins every message.
// InvalidArgument for an unknown name (with a suggestion), a repeated name, a value of another type
// or outside its range, or a missing required value.
base::StatusOr<Parameters> ParseParameters(std::string_view owner,
                                           std::span<const ParameterInfo> infos,
                                           const Arguments& given);

}  // namespace ostraka::aggregation
