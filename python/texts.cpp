#include "python/texts.h"

#include <span>
#include <string_view>

namespace ostraka::python {
namespace {

using aggregation::Default;
using aggregation::ParameterInfo;
using aggregation::ValueType;

std::string Text(std::string_view text) { return std::string(text); }

// A parameter's name as a keyword: appends "_" to a Python keyword.
std::string Keyword(std::string_view name) { return Text(name) + (name == "lambda" ? "_" : ""); }

// The text after '=' in a signature.
std::string DefaultOf(const ParameterInfo& parameter) {
  if (parameter.default_kind == Default::kDerived) return "None";
  return parameter.type == ValueType::kChoice ? "'" + Text(parameter.default_text) + "'"
                                              : Text(parameter.default_text);
}

std::string Keywords(std::span<const ParameterInfo> parameters) {
  std::string text;
  for (const ParameterInfo& parameter : parameters) {
    text += ", " + Keyword(parameter.name);
    if (parameter.default_kind != Default::kRequired) text += "=" + DefaultOf(parameter);
  }
  return text;
}

std::string ParameterLines(std::span<const ParameterInfo> parameters) {
  std::string text;
  for (const ParameterInfo& parameter : parameters) {
    text += "    " + Keyword(parameter.name) + ": " + aggregation::RangeText(parameter) + ". " +
            Text(parameter.meaning);
    if (parameter.default_kind == Default::kDerived) {
      text += "; derived: " + Text(parameter.default_text);
    }
    text += "\n";
    for (const aggregation::Choice& choice : parameter.choices) {
      text += "        " + Text(choice.name) + ": " + Text(choice.meaning) + "\n";
    }
  }
  return text.empty() ? text : "\nParameters\n" + text;
}

void AddFact(std::string& text, const char* name, std::string_view value) {
  if (!value.empty()) text += std::string("\n") + name + ": " + Text(value) + "\n";
}

py::list ListOf(std::span<const ParameterInfo> parameters) {
  py::list list;
  for (const ParameterInfo& parameter : parameters) {
    py::dict entry;
    entry["name"] = Text(parameter.name);
    entry["keyword"] = Keyword(parameter.name);
    entry["type"] = parameter.type == ValueType::kInteger ? "integer"
                    : parameter.type == ValueType::kReal  ? "real"
                                                          : "choice";
    entry["meaning"] = Text(parameter.meaning);
    entry["range"] = aggregation::RangeText(parameter);
    entry["required"] = parameter.default_kind == Default::kRequired;
    entry["derived"] = parameter.default_kind == Default::kDerived;
    entry["default"] = Text(parameter.default_text);
    py::list choices;
    for (const aggregation::Choice& choice : parameter.choices) choices.append(Text(choice.name));
    entry["choices"] = choices;
    list.append(entry);
  }
  return list;
}

}  // namespace

std::string DocOf(const aggregation::RuleInfo& rule) {
  const aggregation::Description& about = rule.about;
  std::string text = Text(about.name) + "(rows, *" + Keywords(about.parameters) +
                     ", pre=None, drop_invalid=False, reference=None, state=None, threads=None, "
                     "report=False)\n\n" +
                     Text(about.summary) + ".\n";
  AddFact(text, "Definition", about.definition);
  AddFact(text, "Needs", about.requirement);
  AddFact(text, "Withstands", about.breakdown);
  if (about.reference != aggregation::ReferenceUse::kNone) {
    AddFact(text, "Reference vector", about.reference_meaning);
  }
  AddFact(text, "Source", about.source);
  return text + ParameterLines(about.parameters);
}

std::string DocOf(const aggregation::AttackInfo& attack) {
  std::string text = Text(attack.name) + "(honest, *, byzantine=1, seed=0, step=0, own=None, " +
                     "rule=None, memory=None" + Keywords(attack.parameters) + ")\n\n" +
                     Text(attack.summary) + ".\n";
  AddFact(text, "Sends", attack.definition);
  AddFact(text, "Must know", aggregation::KnowledgeName(attack.knowledge));
  AddFact(text, "Source", attack.source);
  return text + ParameterLines(attack.parameters);
}

py::dict DictOf(const aggregation::Description& about) {
  py::dict entry;
  entry["name"] = Text(about.name);
  entry["summary"] = Text(about.summary);
  entry["definition"] = Text(about.definition);
  entry["source"] = Text(about.source);
  entry["requirement"] = Text(about.requirement);
  entry["breakdown"] = Text(about.breakdown);
  entry["passes"] = about.passes;
  entry["writes"] = about.writes;
  entry["blockwise"] = about.blockwise;
  entry["stateful"] = about.stateful;
  entry["reference_meaning"] = Text(about.reference_meaning);
  entry["parameters"] = ListOf(about.parameters);
  return entry;
}

py::dict DictOf(const aggregation::AttackInfo& attack) {
  py::dict entry;
  entry["name"] = Text(attack.name);
  entry["summary"] = Text(attack.summary);
  entry["definition"] = Text(attack.definition);
  entry["source"] = Text(attack.source);
  entry["knowledge"] = Text(aggregation::KnowledgeName(attack.knowledge));
  entry["identical"] = attack.identical;
  entry["remembers"] = attack.remembers;
  entry["malformed"] = attack.malformed;
  entry["parameters"] = ListOf(attack.parameters);
  return entry;
}

}  // namespace ostraka::python
