// Asks nodes of the DHT who they are and where they see us, from one UDP socket with a key made for
// it. For commands: it blocks.
//
// Thread safety: a free function.
#pragma once

#include <cstdint>
#include <vector>

#include "dht/wire/endpoint.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/time.h"

namespace ostraka::net {

struct Pong {
  dht::Endpoint endpoint;  // that answered
  base::PeerId peer;       // its signature was verified
  dht::Endpoint seen;      // our address, as it sees it
  bool server = false;
  double milliseconds = 0;
};

struct Pings {
  std::uint16_t local_port = 0;
  std::vector<Pong> pongs;  // of each endpoint at most one, in the order of arrival
  bool heard = false;       // something came, perhaps not from a node of this network
};

enum class PingUntil : std::uint8_t { kFirst, kAll };

// Asks all `endpoints` up to three times, a third of `patience` apart, until the first or all of
// them have answered. Unavailable: no socket.
base::StatusOr<Pings> PingEndpoints(const std::vector<dht::Endpoint>& endpoints,
                                    const base::Digest& network, base::Duration patience,
                                    PingUntil until);

}  // namespace ostraka::net
