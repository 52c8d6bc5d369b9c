#include "node/net/reach/own_addresses.h"

#include <algorithm>

#include "dht/wire/limits.h"
#include "node/net/udp/resolver.h"

namespace ostraka::net {

std::vector<dht::Endpoint> OwnAddresses(const std::vector<dht::Endpoint>& said,
                                        const std::optional<dht::Endpoint>& forwarded,
                                        const std::string& listening,
                                        const std::vector<dht::Endpoint>& seen) {
  std::vector<dht::Endpoint> own;
  const auto add = [&own](const dht::Endpoint& endpoint) {
    const bool is_new = std::find(own.begin(), own.end(), endpoint) == own.end();
    if (is_new && dht::IsUsable(endpoint) && own.size() < dht::kMaxAddresses) {
      own.push_back(endpoint);
    }
  };
  const auto bound = NumericEndpoint(listening);
  if (!said.empty()) {
    for (const dht::Endpoint& endpoint : said) add(endpoint);
    return own;
  }
  if (forwarded) add(*forwarded);
  if (bound && dht::IsUsable(*bound)) {
    add(*bound);
  } else if (bound) {
    for (dht::Endpoint endpoint : seen) {
      // Of an address whose port the router forwards, that port is known.
      if (forwarded && endpoint.address == forwarded->address) continue;
      endpoint.port = bound->port;
      add(endpoint);
    }
  }
  return own;
}

}  // namespace ostraka::net
