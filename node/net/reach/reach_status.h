// What a node's status says of the DHT. Values only.
#pragma once

#include <string>
#include <vector>

#include "dht/kind.h"
#include "node/net/reach/dial_back_status.h"
#include "node/net/reach/reach_options.h"
#include "node/net/reach/router_port.h"

namespace ostraka::net {

struct ReachStatus {
  DhtMode mode = DhtMode::kOff;
  dht::Progress progress;
  std::vector<dht::Endpoint> announced;  // this member's own addresses; empty: none yet
  RouterPortStatus router;
  DialBackStatus dial_back;
  std::string problem;  // one line: why nobody is found; empty: all is well
};

}  // namespace ostraka::net
