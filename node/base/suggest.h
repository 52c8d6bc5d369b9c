// "Did you mean ...?": finds the closest of several known names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ostraka::base {

// The known name with the least edit distance to `name` (insertions, deletions, substitutions and
// swaps of neighbours), if that is at most 2 or a third of the shorter one's length, and of names
// of up to three letters at most 1; else empty. Ties: the first.
std::string ClosestName(std::string_view name, const std::vector<std::string>& known);

// "; did you mean 'x'?" or "; known: a, b, c".
std::string SuggestionFor(std::string_view name, const std::vector<std::string>& known);

}  // namespace ostraka::base
