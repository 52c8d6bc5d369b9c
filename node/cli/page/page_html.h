// The page as HTML: complete without a script, styled by page.css, refreshed by page.js.
//
// Every text that is not a constant of ours passes Html (page_text.h). No inline script or style:
// the server's Content-Security-Policy forbids them.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "node/cli/page/page_data.h"

namespace ostraka::cli {

// The <main> element, which page.js asks for again and again.
std::string PageMain(const PageData& data);

// The whole document with that element.
std::string PageDocument(const PageData& data);

}  // namespace ostraka::cli
