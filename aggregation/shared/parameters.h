// Parameters of rules, pre-aggregations and attacks: described once as data, read from text,
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

// What a value that nobody gives becomes.
enum class Default {
  kValue,     // `default_text`, read as if it had been given
  kDerived,   // computed from n and f; `default_text` is the formula, for people
  kRequired,  // nothing: it must be given
};

struct ParameterInfo {
  std::string_view name = {};
  ValueType type = ValueType::kReal;
  std::string_view meaning = {};  // with its unit, if it has one
  Default default_kind = Default::kRequired;
  std::string_view default_text = {};
  double low = 0;  // numbers lie in [low, high], or in (low, high] where low_open
  double high = std::numeric_limits<double>::infinity();  // an infinite value is never accepted
  bool low_open = false;
  std::span<const Choice> choices = {};  // of a kChoice
};

// "integer >= 1", "real in (0, 1]", "one of paper, byzfl".
std::string RangeText(const ParameterInfo& info);

// name=value pairs as a user writes them. A name given twice is an error.
using Arguments = std::vector<std::pair<std::string, std::string>>;

// "key=value" into its halves. InvalidArgument without '=' or with nothing before it.
base::StatusOr<std::pair<std::string, std::string>> ParseArgument(std::string_view text);

// Values by name, each within its description. Reading a name or a type that the description does
// not have is a bug of ours and fails a CHECK.
class Parameters {
 public:
  using Value = std::variant<std::uint64_t, double, std::string_view>;

  // False for a derived value that nobody gave.
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

// Reads `given` as `infos` say. `owner` ("rule krum") begins every message.
// InvalidArgument for an unknown name (with a suggestion), a name given twice, a value that is not
// of its type or outside its range, or a required value that is missing.
base::StatusOr<Parameters> ParseParameters(std::string_view owner,
                                           std::span<const ParameterInfo> infos,
                                           const Arguments& given);

}  // namespace ostraka::aggregation
