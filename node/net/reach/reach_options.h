// How a node uses the DHT. Values only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dht/kind.h"
#include "node/net/reach/learned.h"

namespace ostraka::net {

enum class DhtMode : std::uint8_t {
  kOff,     // no datagram is sent or received
  kOn,      // a server once others have found that it can be reached
  kServer,  // at once: its user knows that its UDP port is open
  kClient,  // asks and announces, and serves nobody
};

// off, on, server, client.
inline const char* DhtModeName(DhtMode mode) {
  constexpr std::array<const char*, 4> kNames = {"off", "on", "server", "client"};
  return kNames.at(static_cast<std::size_t>(mode));
}

inline constexpr char kPublicDht[] = "ostraka/1";  // the name of the network that all share

struct ReachOptions {
  DhtMode mode = DhtMode::kOff;
  std::string network = kPublicDht;
  std::vector<std::string> bootstraps;   // "host:port", besides the members' addresses
  std::vector<dht::Endpoint> addresses;  // to announce; empty: own_addresses.h decides
  Learned learned;                       // in an earlier life
  // The program that has the router forward the port (node/net/portmap), with its first arguments;
  // empty: the router is not asked.
  std::vector<std::string> port_mapper;
};

}  // namespace ostraka::net
