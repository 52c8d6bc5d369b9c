// Where a datagram comes from or goes to: an IP address and a port, and the groups of addresses
// that limits count by.
//
// IPv4 is kept in its IPv6 form (::ffff:a.b.c.d), so an address has one value.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "crypto/hash.h"
#include "node/base/bytes.h"

namespace ostraka::dht {

struct Endpoint {
  static constexpr std::size_t kSize = 18;  // on the wire: 16 address | 2 port, big-endian
  std::array<std::uint8_t, 16> address{};
  std::uint16_t port = 0;
  auto operator<=>(const Endpoint&) const = default;

  static Endpoint V4(std::uint32_t address, std::uint16_t port);
  bool IsV4() const;
};
void HashValue(crypto::Hasher& hasher, const Endpoint& endpoint);

// Who can reach an address. A node passes addresses on only within their scope.
enum class Scope : std::uint8_t { kPublic, kPrivate, kLoopback, kNone };
// kNone: no host's own address (unspecified, multicast, broadcast, reserved), or port 0.
Scope ScopeOf(const Endpoint& endpoint);
// 100.64.0.0/10, shared by a carrier's customers behind its NAT, and by overlay networks (RFC
// 6598).
bool IsShared(const Endpoint& endpoint);
inline bool IsUsable(const Endpoint& endpoint) { return ScopeOf(endpoint) != Scope::kNone; }

// A group of addresses that one owner can have for little: a /24 of IPv4, a /48 or /32 of IPv6. In
// a private network each host is a group of its own, or a run in one office could not use the DHT.
struct Prefix {
  std::uint64_t bits = 0;
  auto operator<=>(const Prefix&) const = default;
};
inline void HashValue(crypto::Hasher& hasher, const Prefix& prefix) {
  hasher.UpdateU64(prefix.bits);
}
Prefix NarrowPrefix(const Endpoint& endpoint);  // /24, /48
// /32 of IPv6: a provider gives a /48 to whoever rents there. Elsewhere the narrow prefix.
Prefix WidePrefix(const Endpoint& endpoint);

// "192.0.2.1:9000", "[2001:db8:0:0:0:0:0:1]:9000".
std::string TextOf(const Endpoint& endpoint);

void AppendEndpoint(base::Bytes& out, const Endpoint& endpoint);
// REQUIRES: bytes.size() == Endpoint::kSize.
Endpoint ReadEndpoint(base::ByteView bytes);

}  // namespace ostraka::dht
