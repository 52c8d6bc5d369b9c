// Integers in the records of the channel: little-endian, at any alignment.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "node/base/bytes.h"

namespace ostraka::base {

// Appends the `size` low bytes of `value`.
inline void AppendLittleEndian(base::Bytes& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// The value of all of `bytes`. REQUIRES: bytes.size() <= 8.
inline std::uint64_t ReadLittleEndian(base::ByteView bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = (value << 8) | bytes[i - 1];
  return value;
}

}  // namespace ostraka::base
