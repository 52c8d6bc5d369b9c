// "host:port" and listening sockets.
//
// Thread safety: pure functions, and calls of the operating system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/base/status.h"

namespace ostraka::os {

struct HostPort {
  std::string host;  // an address (IPv6 without brackets) or a name
  std::uint16_t port = 0;
};

// "host:port", "[v6]:port". InvalidArgument names what is wrong.
base::StatusOr<HostPort> ParseHostPort(std::string_view text);

// A bound and listening TCP socket; the caller closes it. InvalidArgument: not an address (a name
// will not do here); Unavailable: the port is taken, or the address is not ours.
base::StatusOr<int> ListenOn(std::string_view address);

// What counts as one address: an IPv4 address, also where it is written as an IPv6 one, or the
// first 64 bits of an IPv6 address, which one person usually has all of ("2001:db8:1:2::/64").
// Empty if `host` is no address. Loopback, so written by this function, is "127.0.0.1" or "::1".
std::string AddressGroup(const std::string& host);
// What one customer of a network can have many addresses of: 24 bits of an IPv4 address, 48 of an
// IPv6 one ("192.0.2.0/24", "2001:db8:1::/48"). Empty if `host` is no address.
std::string AddressPrefix(const std::string& host);

// False: it is of IPv4. REQUIRES: `fd` is a TCP socket.
bool IsIpv6(int fd);

// The local port of a socket. InvalidArgument: `fd` is not a listening TCP socket.
base::StatusOr<std::uint16_t> ListeningPort(int fd);

struct ListeningSocket {
  int fd = -1;  // the caller's to close, or to pass as TransportOptions::listen_fd
  std::uint16_t port = 0;
};

// A listening socket on 127.0.0.1 with a port that the system chose. As it listens already, nobody
// can take the port before the node that will own it starts.
base::StatusOr<ListeningSocket> ListenOnLoopback();

}  // namespace ostraka::os
