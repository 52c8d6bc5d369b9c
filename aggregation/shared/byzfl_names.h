// What entries of ByzFL, and of papers, are called here: docs/from-byzfl.md as data.
//
// Thread safety: an immutable table.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ostraka::aggregation {

struct ByzflName {
  std::string_view theirs;
  std::string_view kind;       // "rule", "pre-aggregation" or "attack"
  std::string_view ours;       // the name in the registry of that kind
  std::string_view arguments;  // with which ours computes what theirs does; may be empty
};

std::span<const ByzflName> ByzflNames();

// "; TrMean is the rule 'trimmed_mean' here (docs/from-byzfl.md)"; empty for other names.
std::string ByzflHint(std::string_view name);

// ByzflHint, and the same for ByzFL's classes that are no rule and no attack.
std::string ByzflModuleHint(std::string_view name);

// The same for a parameter of an entry, or of every entry of its kind.
struct ByzflParameter {
  std::string_view owner;  // "attack ipm", or "attack" for all of them
  std::string_view theirs;
  std::string_view ours;  // what to give instead
};

std::span<const ByzflParameter> ByzflParameters();

// "; ByzFL's tau is eps here (docs/from-byzfl.md)"; empty if `owner` ("attack ipm") has no such
// one.
std::string ByzflParameterHint(std::string_view owner, std::string_view name);

}  // namespace ostraka::aggregation
