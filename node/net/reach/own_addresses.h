// What this member announces as its addresses: what its user says, or else the port that the router
// forwards, and where it listens, or else where others see it, with the port that it listens on.
// Addresses of this machine's interfaces are never read, so nothing of a home network is published
// unless others see it there.
//
// Thread safety: a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dht/wire/endpoint.h"

namespace ostraka::net {

// `said`: the user's, if any. `forwarded`: by the router. `listening`: "host:port" of the listening
// socket, whose host may be the unspecified address; empty: this member only dials, and announces
// nothing. `seen`: by most answers of the DHT. At most dht::kMaxAddresses, IPv6 first but for
// `said`, whose order stays.
std::vector<dht::Endpoint> OwnAddresses(const std::vector<dht::Endpoint>& said,
                                        const std::optional<dht::Endpoint>& forwarded,
                                        const std::string& listening,
                                        const std::vector<dht::Endpoint>& seen);

}  // namespace ostraka::net
