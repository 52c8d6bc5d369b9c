// The files of node/cli/page/assets, in the binary.
//
// Thread safety: constants.
#pragma once

#include <string_view>

namespace ostraka::cli {

extern const std::string_view kPageCss;
extern const std::string_view kPageJs;
extern const std::string_view kPageIcon;

}  // namespace ostraka::cli
