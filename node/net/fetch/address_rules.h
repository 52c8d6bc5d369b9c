// Which IP addresses a reader may connect to: those of the public internet. A source is named by
// people who are not this machine's, and must not use it to knock at services of its own networks.
//
// An address that holds an IPv4 address (::ffff:0:0/96, ::/96, 64:ff9b::/96, 2002::/16) is judged
// by that one. Of IPv6 only 2000::/3 is public, less what is set aside there.
//
// What an attacker can do here: have this node connect to any public address, with a port of the
// attacker's choice.
//
// Thread safety: pure functions.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ostraka::net {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // of an IPv4 address the first four
  bool is_v4 = false;
  bool operator==(const IpAddress&) const = default;
};

// nullopt: no numeric address, or one with a zone.
std::optional<IpAddress> ParseIp(const std::string& text);
std::string TextOf(const IpAddress& address);

// The address in the first `size` bytes of `address`; nullopt: it is neither IPv4 nor IPv6.
std::optional<IpAddress> IpOf(int family, const sockaddr_storage& address, std::size_t size);

// Empty: the address is public. Otherwise what it is, as in "a private address".
std::string_view WhyNotPublic(const IpAddress& address);

// 127.0.0.0/8 or ::1, or what holds one of the former.
bool IsLoopback(const IpAddress& address);

}  // namespace ostraka::net
