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

// "host:port", IPv6 in brackets.
std::string FormatHostPort(const HostPort& where);

// `address` ("host:port") with that port.
std::string WithPort(std::string_view address, std::uint16_t port);

// Whether `host` ("localhost" or an address, IPv6 without brackets) is this machine to itself. A
// name is never asked about.
bool IsLoopbackHost(std::string_view host);

// A bound and listening TCP socket, which the caller must close. The host "*" means every address
// of this machine: of IPv6 and IPv4, or of IPv4 alone where there is no IPv6. Errors name `option`,
// with which the user can choose another address, unless it is empty. InvalidArgument: neither "*"
// nor a numeric address; Unavailable: the port is taken, or the address is not local.
base::StatusOr<int> ListenOn(std::string_view address, std::string_view option = "");

// The address to listen on so that others can reach `announced` ("host:port"). A machine behind NAT
// or a host name does not have the address that others dial, so this is "*:port". A loopback
// address is kept, so that a run on one machine stays on it ("localhost": 127.0.0.1).
// InvalidArgument as from ParseHostPort.
base::StatusOr<std::string> ListeningAddressFor(std::string_view announced);

// The unit that counts as one address: an IPv4 address, also if written as an IPv6 one, or the
// first 64 bits of an IPv6 address ("2001:db8:1:2::/64"), all of which usually belong to one
// person. Empty if `host` is no address. Loopback is "127.0.0.1" or "::1".
std::string AddressGroup(const std::string& host);
// The unit within which one customer may have many addresses: 24 bits of an IPv4 address, 48 of an
// IPv6 one ("192.0.2.0/24", "2001:db8:1::/48"). Empty if `host` is no address.
std::string AddressPrefix(const std::string& host);

// False means IPv4. REQUIRES: `fd` is a TCP socket.
bool IsIpv6(int fd);

// The local address of a socket, which may be the unspecified one ("::"). InvalidArgument: `fd` is
// not a listening TCP socket.
base::StatusOr<HostPort> ListeningAddress(int fd);
// Its port.
base::StatusOr<std::uint16_t> ListeningPort(int fd);

struct ListeningSocket {
  int fd = -1;  // the caller must close it or pass it as TransportOptions::listen_fd
  std::uint16_t port = 0;
};

// A listening socket on 127.0.0.1 with a port that the system chose. Since it is already listening,
// no other process can take the port before its node starts.
base::StatusOr<ListeningSocket> ListenOnLoopback();

}  // namespace ostraka::os
