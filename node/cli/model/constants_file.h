// Tensors that a graph names by their hashes, in a safetensors file.
//
// Thread safety: free functions.
#pragma once

#include <string>
#include <vector>

#include "exact/models/models.h"

namespace ostraka::cli {

// The float32 tensors of a safetensors file, by any program. NotFound: no such file. Unavailable:
// it cannot be read. InvalidArgument: not such a file, or a tensor of another type. Messages name
// the path.
base::StatusOr<std::vector<exact::ConstantTensor>> ReadTensors(const std::string& path);

}  // namespace ostraka::cli
