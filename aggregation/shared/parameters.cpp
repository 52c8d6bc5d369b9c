#include "aggregation/shared/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "aggregation/shared/byzfl_names.h"
#include "node/base/check.h"
#include "node/base/suggest.h"

namespace ostraka::aggregation {
namespace {

// The shortest text that reads back as `value`.
std::string NumberText(double value) {
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value);
  return {buffer, end.ptr};
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool InRange(const ParameterInfo& info, double value) {
  if (!std::isfinite(value) || value > info.high) return false;
  return info.low_open ? value > info.low : value >= info.low;
}

std::optional<Parameters::Value> ParseValue(const ParameterInfo& info, std::string_view text) {
  if (info.type == ValueType::kChoice) {
    for (const Choice& choice : info.choices) {
      if (choice.name == text) return choice.name;
    }
    return std::nullopt;
  }
  if (info.type == ValueType::kInteger) {
    const auto value = ParseNumber<std::uint64_t>(text);
    if (!value || !InRange(info, static_cast<double>(*value))) return std::nullopt;
    return *value;
  }
  const auto value = ParseNumber<double>(text);
  if (!value || !InRange(info, *value)) return std::nullopt;
  return *value;
}

std::vector<std::string> NamesOf(std::span<const ParameterInfo> infos) {
  std::vector<std::string> names;
  for (const ParameterInfo& info : infos) names.emplace_back(info.name);
  return names;
}

}  // namespace

std::string RangeText(const ParameterInfo& info) {
  if (info.type == ValueType::kChoice) {
    std::string text;
    for (const Choice& choice : info.choices) {
      text += (text.empty() ? "one of " : ", ") + std::string(choice.name);
    }
    return text;
  }
  const std::string kind = info.type == ValueType::kInteger ? "integer" : "real";
  const bool bounded_below = std::isfinite(info.low);
  if (std::isfinite(info.high)) {
    return kind + " in " + (info.low_open ? "(" : "[") +
           (bounded_below ? NumberText(info.low) : "-inf") + ", " + NumberText(info.high) + "]";
  }
  if (!bounded_below) return kind;
  return kind + (info.low_open ? " > " : " >= ") + NumberText(info.low);
}

base::StatusOr<std::pair<std::string, std::string>> ParseArgument(std::string_view text) {
  const std::size_t split = text.find('=');
  if (split == std::string_view::npos || split == 0) {
    return base::InvalidArgument("'" + std::string(text) + "' is not of the form key=value");
  }
  return std::pair(std::string(text.substr(0, split)), std::string(text.substr(split + 1)));
}

std::uint64_t Parameters::Integer(std::string_view name) const {
  const auto found = values_.find(name);
  OSTRAKA_CHECK(found != values_.end());
  return std::get<std::uint64_t>(found->second);
}

double Parameters::Real(std::string_view name) const {
  const auto found = values_.find(name);
  OSTRAKA_CHECK(found != values_.end());
  return std::get<double>(found->second);
}

std::string_view Parameters::Choice(std::string_view name) const {
  const auto found = values_.find(name);
  OSTRAKA_CHECK(found != values_.end());
  return std::get<std::string_view>(found->second);
}

std::uint64_t Parameters::IntegerOr(std::string_view name, std::uint64_t derived) const {
  return Has(name) ? Integer(name) : derived;
}

double Parameters::RealOr(std::string_view name, double derived) const {
  return Has(name) ? Real(name) : derived;
}

base::StatusOr<Parameters> ParseParameters(std::string_view owner,
                                           std::span<const ParameterInfo> infos,
                                           const Arguments& given) {
  const std::string who(owner);
  Parameters parameters;
  for (const auto& [name, text] : given) {
    const auto info = std::find_if(infos.begin(), infos.end(),
                                   [&name = name](const auto& i) { return i.name == name; });
    if (info == infos.end()) {
      std::string hint = ByzflParameterHint(who, name);
      if (hint.empty()) {
        hint = infos.empty() ? "; it has none" : base::SuggestionFor(name, NamesOf(infos));
      }
      return base::InvalidArgument(who + " has no parameter '" + name + "'" + hint);
    }
    if (parameters.Has(info->name)) {
      return base::InvalidArgument(who + ": parameter " + name + " is given twice");
    }
    const auto value = ParseValue(*info, text);
    if (!value) {
      return base::InvalidArgument(who + ": " + name + "=" + text + " must be " + RangeText(*info));
    }
    parameters.Set(info->name, *value);
  }
  for (const ParameterInfo& info : infos) {
    if (parameters.Has(info.name) || info.default_kind == Default::kDerived) continue;
    if (info.default_kind == Default::kRequired) {
      return base::InvalidArgument(who + " needs parameter " + std::string(info.name) + ": " +
                                   std::string(info.meaning));
    }
    const auto value = ParseValue(info, info.default_text);
    OSTRAKA_CHECK(value.has_value());
    parameters.Set(info.name, *value);
  }
  return parameters;
}

}  // namespace ostraka::aggregation
