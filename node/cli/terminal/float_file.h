// Rows of float32 in a file that a process of ours hands to another of ours on this machine.
//
// Thread safety: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base/status.h"

namespace ostraka::cli {

// Unavailable: it cannot be written.
base::Status WriteFloats(const std::string& path, const std::vector<std::vector<float>>& rows);
// Unavailable: it cannot be read, or is not rows of `width` floats.
base::StatusOr<std::vector<std::vector<float>>> ReadFloats(const std::string& path,
                                                           std::uint64_t width);

}  // namespace ostraka::cli
