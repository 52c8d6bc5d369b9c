// The escaping of HTML.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace ostraka::cli {

// `text` for HTML, in an element or a quoted attribute. Control characters and invalid UTF-8
// become '?', and a text beyond 1000 bytes is cut (PrintableLine).
std::string Html(std::string_view text);
// Likewise, but line breaks and tabs stay, and it is not cut.
std::string HtmlLines(std::string_view text);

}  // namespace ostraka::cli
