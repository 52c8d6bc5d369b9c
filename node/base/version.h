// The version of this program.
#pragma once

#include <string>

namespace ostraka::base {

// Such as "0.9.0": the PROJECT_VERSION of CMakeLists.txt.
std::string ProgramVersion();

}  // namespace ostraka::base
