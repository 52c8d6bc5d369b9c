// Writes a TOML text in ASCII before toml++ 3.3 reads it.
//
// Rationale: where that version looks for white space, it treats U+00A1 to U+0499 and some others,
// the letters of most European alphabets, as unreachable, which is undefined behaviour. It looks
// there between tokens, in malformed tokens and in multi-line strings.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "node/base/status.h"

namespace ostraka::base {

// A text with the same values on the same lines (TOML 1.0.0), all of it ASCII: other characters are
// escaped in strings and replaced in comments. A leading byte order mark is left out. An ASCII text
// comes back as it is. What is no TOML stays none.
// InvalidArgument, without the file's name, `line 3: ...`: a character that is not ASCII outside
// strings and comments, which TOML has nowhere, or bytes that are not UTF-8.
StatusOr<std::string> AsciiToml(std::string_view text);

}  // namespace ostraka::base
