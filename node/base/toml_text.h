// Checks a text before toml++ 3.3 may read it.
//
// Rationale: where that version looks for white space, it treats U+00A1 to U+0499 and some others,
// the letters of most European alphabets, as unreachable, which is undefined behaviour. It looks
// there between tokens, in malformed tokens and in multi-line strings.
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "node/base/status.h"

namespace ostraka::base {

// OK if `text` is ASCII, or if all non-ASCII characters are in comments and in lines of the form
// `name = "..."`, and no string has triple quotes. A leading byte order mark is accepted.
// InvalidArgument, without the file's name: `line 3: ...`.
Status CheckTomlText(std::string_view text);

}  // namespace ostraka::base
