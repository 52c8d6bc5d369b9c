// What a text must keep to before toml++ 3.3 may read it.
//
// Where that version looks for white space it takes U+00A1 to U+0499 and some others, the letters
// of most European alphabets, for a place that cannot be reached, which is undefined behaviour. It
// looks there between tokens, in tokens that make no sense, and in strings of several lines.
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "node/base/status.h"

namespace ostraka::base {

// OK if `text` is ASCII, or if all that is not stands in comments and in lines of the form
// `name = "..."`, and no string has three quotes. A byte order mark at the beginning is taken.
// InvalidArgument, without the name of the file: `line 3: ...`.
Status CheckTomlText(std::string_view text);

}  // namespace ostraka::base
