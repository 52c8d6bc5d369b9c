// Shows the registries of rules and attacks: as a table for people, as JSON, and as the Markdown in
// docs/. All content comes from the registries.
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

// Formatted as `format`, with a final line feed.
std::string ListOfRules(ListFormat format);
std::string ListOfAttacks(ListFormat format);

}  // namespace ostraka::cli
