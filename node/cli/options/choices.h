// The values of an option that takes one of a closed set, kept with the option for the completions
// of shells. Pass the registry's names, not a copy of them.
//
// Thread safety: none; a command line is declared by one thread.
#pragma once

#include <iterator>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace ostraka::cli {

// A choice that ends with ':' begins a value, and a path follows it: "mnist:".
// Nothing is checked, and --help does not change. Returns `option`.
CLI::Option* OfferChoices(CLI::Option* option, const std::vector<std::string>& choices);

// In the order given; empty: any value.
std::vector<std::string> ChoicesOf(CLI::Option& option);

// A registry's names as strings.
template <typename Names>
std::vector<std::string> TextsOf(const Names& names) {
  return {std::begin(names), std::end(names)};
}

}  // namespace ostraka::cli
