#include "node/net/reach/own_addresses.h"

#include "dht/wire/limits.h"
#include "node/net/udp/resolver.h"

namespace ostraka::net {

std::vector<dht::Endpoint> OwnAddresses(const std::vector<dht::Endpoint>& said,
                                        const std::string& listening,
                                        const std::vector<dht::Endpoint>& seen) {
  std::vector<dht::Endpoint> own;
  const auto add = [&own](const dht::Endpoint& endpoint) {
    if (dht::IsUsable(endpoint) && own.size() < dht::kMaxAddresses) own.push_back(endpoint);
  };
  const auto bound = NumericEndpoint(listening);
  if (!said.empty()) {
    for (const dht::Endpoint& endpoint : said) add(endpoint);
  } else if (bound && dht::IsUsable(*bound)) {
    add(*bound);
  } else if (bound) {
    for (dht::Endpoint endpoint : seen) {
      endpoint.port = bound->port;
      add(endpoint);
    }
  }
  return own;
}

}  // namespace ostraka::net
