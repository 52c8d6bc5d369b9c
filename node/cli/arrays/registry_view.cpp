#include "node/cli/arrays/registry_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "aggregation/attacks/attacks.h"
#include "aggregation/rules/registry.h"
#include "node/base/check.h"

namespace ostraka::cli {
namespace {

using aggregation::AttackInfo;
using aggregation::Default;
using aggregation::Description;
using aggregation::ParameterInfo;
using aggregation::ValueType;
using nlohmann::json;

const char* TypeName(ValueType type) {
  switch (type) {
    case ValueType::kInteger:
      return "integer";
    case ValueType::kReal:
      return "real";
    case ValueType::kChoice:
      return "choice";
  }
  OSTRAKA_CHECK(false);
}

const char* ReferenceName(aggregation::ReferenceUse use) {
  switch (use) {
    case aggregation::ReferenceUse::kNone:
      return "none";
    case aggregation::ReferenceUse::kOptional:
      return "optional";
    case aggregation::ReferenceUse::kRequired:
      return "required";
  }
  OSTRAKA_CHECK(false);
}

json ParametersAsJson(std::span<const ParameterInfo> parameters) {
  json list = json::array();
  for (const ParameterInfo& parameter : parameters) {
    json entry = {{"name", parameter.name},
                  {"type", TypeName(parameter.type)},
                  {"meaning", parameter.meaning},
                  {"range", aggregation::RangeText(parameter)},
                  {"required", parameter.default_kind == Default::kRequired},
                  {"derived", parameter.default_kind == Default::kDerived},
                  {"default", parameter.default_text}};
    for (const aggregation::Choice& choice : parameter.choices) {
      entry["choices"].push_back({{"name", choice.name}, {"meaning", choice.meaning}});
    }
    list.push_back(std::move(entry));
  }
  return list;
}

json DescriptionAsJson(const Description& about) {
  return {{"name", about.name},
          {"summary", about.summary},
          {"definition", about.definition},
          {"source", about.source},
          {"requirement", about.requirement},
          {"breakdown", about.breakdown},
          {"passes", about.passes},
          {"writes", about.writes},
          {"blockwise", about.blockwise},
          {"stateful", about.stateful},
          {"reference", ReferenceName(about.reference)},
          {"reference_meaning", about.reference_meaning},
          {"parameters", ParametersAsJson(about.parameters)}};
}

// "f=?" for a required parameter, "s=2" for a default, "z=<formula>" for a derived one.
std::string Signature(const json& parameters) {
  std::string text;
  for (const json& parameter : parameters) {
    const std::string given = parameter["default"].get<std::string>();
    text += (text.empty() ? "" : " ") + parameter["name"].get<std::string>() + "=" +
            (parameter["required"].get<bool>()  ? "?"
             : parameter["derived"].get<bool>() ? "<" + given + ">"
                                                : given);
  }
  return text;
}

std::string Text(const json& value) { return value.get<std::string>(); }

// Adds a row of two columns; the second may have several lines.
void AddRow(std::string& text, const json& entry, std::size_t width, const std::string& more) {
  const std::string name = Text(entry["name"]);
  const std::string margin(width + 2, ' ');
  text += name + margin.substr(name.size()) + Text(entry["summary"]) + "\n";
  for (const std::string& line : {Signature(entry["parameters"]), more}) {
    if (!line.empty()) text += margin + line + "\n";
  }
}

std::size_t WidestName(const json& entries) {
  std::size_t width = 0;
  for (const json& entry : entries) width = std::max(width, Text(entry["name"]).size());
  return width;
}

// Escapes characters that Markdown or its tables treat as markup.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void AddParameters(std::string& page, const json& parameters) {
  if (parameters.empty()) return;
  page += "\n| parameter | range | default | meaning |\n|---|---|---|---|\n";
  for (const json& parameter : parameters) {
    std::string meaning = Escaped(Text(parameter["meaning"]));
    if (parameter.contains("choices")) {
      for (const json& choice : parameter["choices"]) {
        meaning += "; `" + Text(choice["name"]) + "`: " + Escaped(Text(choice["meaning"]));
      }
    }
    const std::string given = Text(parameter["default"]);
    page += "| `" + Text(parameter["name"]) + "` | " + Escaped(Text(parameter["range"])) + " | " +
            (parameter["required"].get<bool>()  ? "required"
             : parameter["derived"].get<bool>() ? Escaped(given)
                                                : "`" + given + "`") +
            " | " + meaning + " |\n";
  }
}

void AddSection(std::string& page, const json& entry,
                const std::vector<std::pair<std::string, std::string>>& facts) {
  page += "\n## " + Text(entry["name"]) + "\n" + Escaped(Text(entry["summary"])) + ".\n\n";
  for (const auto& [name, value] : facts) {
    if (!value.empty()) page += "- " + name + ": " + Escaped(value) + "\n";
  }
  AddParameters(page, entry["parameters"]);
}

std::string CostOf(const json& entry) {
  const int writes = entry["writes"].get<int>();
  std::string text = std::to_string(entry["passes"].get<int>()) + " reads of the n x d input";
  if (writes > 0) text += ", " + std::to_string(writes) + " writes of n x d values";
  if (entry["blockwise"].get<bool>()) text += "; coordinate by coordinate";
  return text;
}

std::string ReferenceOf(const json& entry) {
  const std::string use = Text(entry["reference"]);
  return use == "none" ? "" : use + ": " + Text(entry["reference_meaning"]);
}

void AddElement(std::string& page, const json& entry) {
  AddSection(page, entry,
             {{"definition", Text(entry["definition"])},
              {"needs", Text(entry["requirement"])},
              {"withstands", Text(entry["breakdown"])},
              {"cost", CostOf(entry)},
              {"reference vector", ReferenceOf(entry)},
              {"memory", entry["stateful"].get<bool>() ? "a state from call to call" : ""},
              {"source", Text(entry["source"])}});
}

}  // namespace

json RulesAsJson() {
  json rules = json::array();
  for (const aggregation::RuleInfo* rule : aggregation::Rules()) {
    rules.push_back(DescriptionAsJson(rule->about));
  }
  json pre = json::array();
  for (const aggregation::PreInfo* element : aggregation::PreAggregations()) {
    pre.push_back(DescriptionAsJson(element->about));
  }
  return {{"rules", std::move(rules)}, {"pre", std::move(pre)}};
}

json AttacksAsJson() {
  json attacks = json::array();
  for (const AttackInfo* attack : aggregation::Attacks()) {
    attacks.push_back({{"name", attack->name},
                       {"summary", attack->summary},
                       {"definition", attack->definition},
                       {"source", attack->source},
                       {"knowledge", aggregation::KnowledgeName(attack->knowledge)},
                       {"identical", attack->identical},
                       {"remembers", attack->remembers},
                       {"malformed", attack->malformed},
                       {"parameters", ParametersAsJson(attack->parameters)}});
  }
  return {{"attacks", std::move(attacks)}};
}

std::string ListOfRules(ListFormat format) {
  const json all = RulesAsJson();
  if (format == ListFormat::kJson) return all.dump() + "\n";
  if (format == ListFormat::kText) {
    const std::size_t width = std::max(WidestName(all["rules"]), WidestName(all["pre"]));
    std::string text = "Rules (--rule):\n";
    for (const json& entry : all["rules"]) AddRow(text, entry, width, Text(entry["requirement"]));
    text += "\nPre-aggregations (--pre):\n";
    for (const json& entry : all["pre"]) AddRow(text, entry, width, Text(entry["requirement"]));
    return text + "\nDefinitions and sources: docs/aggregation.md, or --list --json.\n";
  }
  std::string page =
      "# Rules\nMade from the registry by `ostraka aggregate --list --markdown`: change "
      "aggregation/, not this page.\nn rows of d values, f of them Byzantine; D is the distance of "
      "two rows.\n\n"
      "The scale of the rows does not matter, in float32 and in float64: float64 rows are first "
      "multiplied by a power\n"
      "of two where their products would leave float64's range. A float64 row may be at most 2^400 "
      "times as large as the\n"
      "middle row, unless the entry only compares or adds (mean, medians, trimmed means, buckets, "
      "momentum); --drop-invalid\n"
      "drops others. Rows below 2^-700 of the largest value count as zero, and a cosine within "
      "2^-44 of 0 or 1 as 0 or 1.\n";
  for (const json& entry : all["rules"]) AddElement(page, entry);
  page += "\n# Pre-aggregations\n";
  for (const json& entry : all["pre"]) AddElement(page, entry);
  return page;
}

std::string ListOfAttacks(ListFormat format) {
  const json all = AttacksAsJson();
  if (format == ListFormat::kJson) return all.dump() + "\n";
  if (format == ListFormat::kText) {
    std::string text;
    const std::size_t width = WidestName(all["attacks"]);
    for (const json& entry : all["attacks"]) {
      AddRow(text, entry, width, "knows: " + Text(entry["knowledge"]));
    }
    return text + "\nDefinitions and sources: docs/attacks.md, or --list --json.\n";
  }
  std::string page =
      "# Attacks on gradients\nMade from the table by `ostraka attack --list --markdown`: change "
      "aggregation/attacks/attack\\_entries\\_\\*.cpp,\nnot this page. n workers, m of them "
      "Byzantine; "
      "\"mean\" and \"deviation\" are those of the honest rows, \"own\"\nis the attacker's true "
      "gradient.\n";
  for (const json& entry : all["attacks"]) {
    AddSection(page, entry,
               {{"sends", Text(entry["definition"])},
                {"must know", Text(entry["knowledge"])},
                {"colluders", entry["identical"].get<bool>() ? "send the same vector" : ""},
                {"memory", entry["remembers"].get<bool>() ? "of earlier steps" : ""},
                {"result", entry["malformed"].get<bool>() ? "no gradient at all" : ""},
                {"source", Text(entry["source"])}});
  }
  return page;
}

}  // namespace ostraka::cli
