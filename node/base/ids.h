// Strong 32-byte identifiers: a Digest cannot be passed where a PeerId is meant.
//
// Thread safety: plain values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "node/base/bytes.h"

namespace ostraka::base {

template <typename Tag>
struct Id32 {
  static constexpr std::size_t kSize = 32;
  std::array<std::uint8_t, kSize> bytes{};

  // In the order of the bytes. Two ids nearly always differ in the first eight, which need no call:
  // lookups by key were a quarter of a simulated run of 64 peers.
  std::strong_ordering operator<=>(const Id32& other) const {
    const auto order = Head() <=> other.Head();
    return order != 0 ? order : bytes <=> other.bytes;
  }
  bool operator==(const Id32& other) const {
    return Head() == other.Head() && bytes == other.bytes;
  }

  ByteView view() const { return bytes; }
  bool is_zero() const {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
  }
  // All 64 hexadecimal digits; what JSON shows.
  std::string Hex() const { return ToHex(bytes); }
  // The first 16 digits; what tables show.
  std::string Short() const { return Hex().substr(0, 16); }

  static std::optional<Id32> FromBytes(ByteView view) {
    if (view.size() != kSize) return std::nullopt;
    Id32 id;
    std::copy(view.begin(), view.end(), id.bytes.begin());
    return id;
  }
  static std::optional<Id32> FromHexDigits(std::string_view hex) {
    const auto decoded = FromHex(hex);
    return decoded ? FromBytes(*decoded) : std::nullopt;
  }

 private:
  // The first eight bytes as a number of the same order.
  std::uint64_t Head() const {
    std::uint64_t head = 0;
    std::memcpy(&head, bytes.data(), sizeof head);
    return std::endian::native == std::endian::little ? __builtin_bswap64(head) : head;
  }
};

// A BLAKE2b-256 hash (crypto/hash.h).
using Digest = Id32<struct DigestTag>;
// A peer is its Ed25519 public key; ids sort by these bytes wherever the protocol says "by key".
using PeerId = Id32<struct PeerIdTag>;

}  // namespace ostraka::base
