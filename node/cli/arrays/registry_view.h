// The registries of rules and attacks, shown: as a table for people, as JSON, and as the Markdown
// that docs/ holds. Nothing is said here that the registries do not say.
//
// Thread safety: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ostraka::cli {

enum class ListFormat { kText, kJson, kMarkdown };

// {"rules":[{"name","summary","definition","source","requirement","breakdown","passes","writes",
//   "blockwise","stateful","reference","parameters":[...]}],"pre":[...]}
nlohmann::json RulesAsJson();
// {"attacks":[{"name","summary","definition","source","knowledge","identical","remembers",
//   "malformed","parameters":[{"name","type","meaning","range","default","choices"?}]}]}
nlohmann::json AttacksAsJson();

// In `format`, with a line feed at the end.
std::string ListOfRules(ListFormat format);
std::string ListOfAttacks(ListFormat format);

}  // namespace ostraka::cli
