// The header of a safetensors file (https://github.com/huggingface/safetensors, "Format"), the
// format in which the world keeps models:
//
//   u64 little-endian n | n bytes of JSON, padded with spaces | the tensors' bytes
//   {"__metadata__":{"key":"text",...},
//    "name":{"dtype":"F32","shape":[2,3],"data_offsets":[begin,end]},...}
//
// Ours is one form of it: float32 tensors in the order given, without gaps, their bytes aligned to
// 8, metadata sorted by key. So equal contents are equal bytes, and a reader can be strict.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "node/base/tensor_layout.h"

namespace ostraka::base {

using SafetensorsMetadata = std::map<std::string, std::string>;

inline constexpr std::size_t kSafetensorsLengthBytes = 8;

// All that comes before the tensors' bytes, which are those of the float vector of `layout`.
// REQUIRES: names of tensors are distinct and not "__metadata__"; all text is UTF-8.
std::string SafetensorsHeader(const TensorLayout& layout, const SafetensorsMetadata& metadata);

}  // namespace ostraka::base
