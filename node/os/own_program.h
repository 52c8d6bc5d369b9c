// This program as a file, to start it again.
//
// Thread safety: a free function.
#pragma once

#include <string>

namespace ostraka::os {

// A path for execv: "/proc/self/exe", which stays this program's file if another takes its name.
// Where there is no /proc, the path by which this process was started.
std::string OwnProgram();

}  // namespace ostraka::os
