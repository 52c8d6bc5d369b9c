// Byte strings and their hexadecimal form.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ostraka::base {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;
// A payload with several owners: a message sent to 100 peers exists once in memory.
using SharedBytes = std::shared_ptr<const Bytes>;

inline ByteView AsBytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The little-endian memory of `values`. Every supported machine is little-endian IEEE-754.
template <typename T>
ByteView AsBytes(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

// Lower-case, two digits per byte.
std::string ToHex(ByteView bytes);

// Accepts either case; nullopt for a character that is no hexadecimal digit, or an odd length.
std::optional<Bytes> FromHex(std::string_view hex);

}  // namespace ostraka::base
