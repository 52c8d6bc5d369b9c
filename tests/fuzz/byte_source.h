// A fuzzer's bytes as a stream of small decisions. After the last byte every decision is 0, so any
// prefix of an input is an input too.
//
// Thread safety: one owner.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "node/base/bytes.h"

namespace ostraka::fuzz {

class ByteSource {
 public:
  explicit ByteSource(base::ByteView bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  // The low `size` bytes of an integer, the lowest first. REQUIRES: size <= 8.
  std::uint64_t Integer(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{Byte()} << (8 * i);
    return value;
  }
  // Any bits as a double: NaN and infinities included.
  double Double() { return std::bit_cast<double>(Integer(8)); }
  float Float() { return std::bit_cast<float>(static_cast<std::uint32_t>(Integer(4))); }
  // In [0, bound). REQUIRES: 0 < bound.
  std::size_t Below(std::size_t bound) {
    return static_cast<std::size_t>(Integer(bound > 256 ? 2 : 1)) % bound;
  }
  bool Flip() { return (Byte() & 1) != 0; }
  // The next `size` bytes, or as many as are left.
  base::ByteView Take(std::size_t size) {
    const base::ByteView taken = bytes_.first(std::min(size, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  base::ByteView bytes_;
};

}  // namespace ostraka::fuzz
