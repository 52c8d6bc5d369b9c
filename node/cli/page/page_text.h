// Names of the page as people read them, and the escaping of HTML.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace ostraka::cli {

struct PagePeer;

// `text` for HTML, in an element or a quoted attribute. Control characters and invalid UTF-8
// become '?', and a text beyond 1000 bytes is cut (PrintableLine).
std::string Html(std::string_view text);

// "anna (4be81737)", or the first 8 digits of the id. Not escaped.
std::string ShownName(const PagePeer& peer);

}  // namespace ostraka::cli
