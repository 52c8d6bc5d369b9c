// How this machine looks from outside: whether a NAT stands between it and the others, and of which
// kind, by what members' DHT nodes say of datagrams that they all got from one socket.
//
// Thread safety: JudgeOutside is pure; LookFromOutside blocks for some seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dht/wire/endpoint.h"
#include "node/cli/doctor/dialed.h"
#include "node/cli/doctor/doctor.h"

namespace ostraka::cli {

struct OutsideFacts {
  std::size_t asked = 0;             // addresses
  std::uint16_t local_port = 0;      // of the socket that asked
  std::vector<dht::Endpoint> seen;   // where each of those that answered saw it
  std::vector<dht::Endpoint> own;    // addresses of this machine's interfaces, with port 0
  std::vector<ReachFacts> members;   // how TCP fares with them
  std::string problem;               // reason why nothing could be asked; empty if it could
  Strays strays = Strays::kUnknown;  // by the dials of members, if any are known
};

// `port`: the one that others need to reach; 0: not known.
Finding JudgeOutside(const OutsideFacts& facts, std::uint16_t port);

// Asks the DHT nodes at `addresses` ("host:port"), at most kMostObservers of them.
inline constexpr std::size_t kMostObservers = 8;
OutsideFacts LookFromOutside(const std::vector<std::string>& addresses);

}  // namespace ostraka::cli
