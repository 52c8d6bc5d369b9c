// The page as HTML, from a node's status (node/cli/views/status_json.h): complete without a script,
// styled by page.css, refreshed by page.js.
//
// Every text that is not a constant of ours passes Html (page_text.h). No inline script or style:
// the server's Content-Security-Policy forbids them.
//
// Both throw json::exception if keys of the status are missing or of another type.
//
// Thread safety: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ostraka::cli {

// The <main> element, which page.js asks for again and again.
std::string PageMain(const nlohmann::json& status);

// The whole document with that element.
std::string PageDocument(const nlohmann::json& status);

}  // namespace ostraka::cli
