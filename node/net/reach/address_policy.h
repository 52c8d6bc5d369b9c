// Which of the addresses that a member announces this node dials. An announcement is signed by the
// member's key, so a stranger cannot make us dial anything; but a member is not trusted either, and
// must not use us to knock at services of our own networks.
//
//   public     always. (Whoever can send us datagrams can make others dial there, too.)
//   private    only in the network, a /24 or a /64, of an address that the operator named, and only
//              a port from kLeastPrivatePort. 100.64.0.0/10 (carrier NAT, overlay networks) and
//              fc00::/7 count as private.
//   loopback   only if every numeric address that the operator named is a loopback address: a run
//              on one machine
//   others     never: link-local, multicast, reserved, port 0, IPv4 inside IPv6 (2002::/16,
//              2001::/32). A name, which could resolve to any of these, is never taken from an
//              announcement.
//
// Promises:
//   P1  Dialable's result is a part of what was announced, IPv6 first, none twice, at most
//       AddressBook::kMaxPerSource.
//
// May not know: who announced.
// Memory: the networks of the named addresses.
// What an attacker can do here: a member makes this node open TCP connections to kMaxPerSource
// public addresses of its choice, with the back-off of the mesh, each with a ClientHello that it
// did not write.
//
// Thread safety: const after construction.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "dht/wire/endpoint.h"

namespace ostraka::net {

class AddressPolicy {
 public:
  static constexpr std::uint16_t kLeastPrivatePort = 1024;

  // `named`: "host:port" of the manifest and of options. Names and malformed texts do not count.
  explicit AddressPolicy(const std::vector<std::string>& named);

  std::vector<std::string> Dialable(const std::vector<dht::Endpoint>& announced) const;

 private:
  using Network = std::vector<std::uint8_t>;  // the bytes of its prefix
  bool MayDial(const dht::Endpoint& endpoint) const;

  std::set<Network> networks_;  // the private ones
  bool on_loopback_ = false;
};

}  // namespace ostraka::net
