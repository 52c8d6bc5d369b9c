// Rows of float32 in a file, for exchange between two of our processes on this machine.
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
// Unavailable: it cannot be read, or does not consist of rows of `width` floats.
base::StatusOr<std::vector<std::vector<float>>> ReadFloats(const std::string& path,
                                                           std::uint64_t width);

}  // namespace ostraka::cli
