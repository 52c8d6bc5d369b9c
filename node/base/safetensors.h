// The header of a safetensors file (https://github.com/huggingface/safetensors, "Format"), a common
// format for models:
//
//   u64 little-endian n | n bytes of JSON, padded with spaces | the tensors' bytes
//   {"__metadata__":{"key":"text",...},
//    "name":{"dtype":"F32","shape":[2,3],"data_offsets":[begin,end]},...}
//
// This code writes one form of it: tensors of float32 or bfloat16 in the given order, without gaps,
// the first aligned to 8 bytes, metadata sorted by key. So equal contents have equal bytes, and a
// reader can be strict.
//
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "node/base/tensor_layout.h"

namespace ostraka::base {

using SafetensorsMetadata = std::map<std::string, std::string>;

inline constexpr std::size_t kSafetensorsLengthBytes = 8;
inline constexpr char kSafetensorsMetadata[] = "__metadata__";  // no tensor's name

enum class TensorType : std::uint8_t { kF32, kBf16 };

constexpr std::size_t BytesOf(TensorType type) { return type == TensorType::kF32 ? 4 : 2; }
// A bfloat16 is the upper half of a float32.
constexpr float WidenBf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Everything before the tensors' bytes, which follow in the order of `layout`. `types` has one a
// tensor; without it all are F32.
// REQUIRES: tensor names are distinct and not kSafetensorsMetadata; all text is UTF-8.
std::string SafetensorsHeader(const TensorLayout& layout, const SafetensorsMetadata& metadata,
                              std::span<const TensorType> types = {});

}  // namespace ostraka::base
