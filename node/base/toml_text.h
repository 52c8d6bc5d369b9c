// What a text must keep to before toml++ 3.3 may read it.
//
// Where a token may begin, that version takes U+00A1 to U+0499 and some others for a place that
// cannot be reached, which is undefined behaviour (a letter of most European alphabets does). TOML
// allows no such character there anyway.
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "node/base/status.h"

namespace ostraka::base {

// OK if every line of `text` is ASCII but for its comment and its strings, and a line with three
// quotes in a row is ASCII altogether. A byte order mark at the beginning is taken.
// InvalidArgument, without the name of the file: `line 3: ...`.
Status CheckTomlText(std::string_view text);

}  // namespace ostraka::base
