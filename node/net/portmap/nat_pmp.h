// The router's side of port mapping, by NAT-PMP (RFC 6886): asks the default gateway, over IPv4, to
// forward a port. Only the child process of port_mapping.h and commands for people use it.
//
// Promises:
//   N1  What Map returns is a public address, and a time above 0 (CHECKed).
//   N2  A call ends after kPatience at the latest for each of its questions.
// Memory: one socket.
// What an attacker can do here: as the router, or as a host that writes its address, name a public
// address that leads elsewhere (port_mapping.h).
//
// Thread safety: none; one owner. Calls block, up to kPatience each.
#pragma once

#include <cstdint>
#include <memory>

#include "dht/wire/endpoint.h"
#include "node/base/status.h"
#include "node/base/time.h"

namespace ostraka::net {

enum class Forwarded : std::uint8_t { kTcp, kUdp };

class NatPmp {
 public:
  // RFC 6886 asks again after 250 ms, 500 ms, 1 s, ...: five questions fit.
  static constexpr base::Duration kPatience = base::Seconds(8);

  struct Mapping {
    dht::Endpoint outside;
    std::uint32_t seconds = 0;  // granted
  };

  // Unavailable: no default gateway, or no socket.
  static base::StatusOr<NatPmp> Open();
  NatPmp(NatPmp&&) noexcept;
  NatPmp& operator=(NatPmp&&) noexcept;
  ~NatPmp();

  // The router forwards from its port `port`, or another if that is taken, to this machine's
  // `port`, for about `seconds`. Unavailable: it does not answer, does not know NAT-PMP, or
  // refuses, or its own address is not the internet's, so that it is behind another one. REQUIRES:
  // port and seconds are not 0.
  base::StatusOr<Mapping> Map(Forwarded what, std::uint16_t port, std::uint32_t seconds);
  // Ends the forwarding of `port`. Errors as of Map.
  base::Status Unmap(Forwarded what, std::uint16_t port);

 private:
  struct State;
  explicit NatPmp(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace ostraka::net
