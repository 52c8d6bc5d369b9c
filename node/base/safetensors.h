// The header of a safetensors file (https://github.com/huggingface/safetensors, "Format"), a common
// format for models:
//
//   u64 little-endian n | n bytes of JSON, padded with spaces | the tensors' bytes
//   {"__metadata__":{"key":"text",...},
//    "name":{"dtype":"F32","shape":[2,3],"data_offsets":[begin,end]},...}
//
// This code writes one form of it: float32 tensors in the given order, without gaps, their bytes
// aligned to 8, metadata sorted by key. So equal contents have equal bytes, and a reader can be
// strict.
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

// Everything before the tensors' bytes, which are the float vector in the order of `layout`.
// REQUIRES: tensor names are distinct and not "__metadata__"; all text is UTF-8.
std::string SafetensorsHeader(const TensorLayout& layout, const SafetensorsMetadata& metadata);

}  // namespace ostraka::base
