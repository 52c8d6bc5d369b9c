// The cuts of the network by name (SimOptions::cut), and no cut.
//
// Thread safety: constants.
#pragma once

#include <string_view>

namespace ostraka::sim {

inline constexpr std::string_view kCuts[] = {"none", "halves", "one_way", "flapping", "flaky"};

}  // namespace ostraka::sim
