// Pages that show results: one file each, readable without a network.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace ostraka::page {

// "<name class="kind">inside</name>"; `inside` is HTML already (Escaped, svg.h).
std::string Tag(const std::string& name, const std::string& inside, const std::string& kind = "");

// A drawing with its caption.
std::string Figure(const std::string& svg, std::string_view caption);

// A table that may be wider than the page. `rows` are of Tag("tr", ...).
std::string Table(const std::string& rows);

// The whole file. `body` is HTML.
std::string Document(std::string_view title, const std::string& body);

}  // namespace ostraka::page
