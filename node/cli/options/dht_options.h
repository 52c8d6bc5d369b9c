// The options of `ostraka node` about the DHT.
//
// Thread safety: AddDhtOptions before parsing; DhtOf is a pure function.
#pragma once

#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/net/reach/reach_options.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct DhtOptions {
  std::string mode = "off";
  std::string network = net::kPublicDht;
  std::vector<std::string> bootstraps;  // HOST:PORT
  std::vector<std::string> announce;    // numeric HOST:PORT
  bool map_port = false;
};

void AddDhtOptions(CLI::App& command, DhtOptions& options);

// InvalidArgument: an unknown mode, a malformed address, or options without a mode.
base::StatusOr<net::ReachOptions> DhtOf(const DhtOptions& options);

// The addresses that --announce, or `option`, gives. InvalidArgument: one that is no number with a
// port, or that no host can have; too many.
base::StatusOr<std::vector<dht::Endpoint>> AnnouncedOf(const std::vector<std::string>& texts,
                                                       const std::string& option);
// InvalidArgument: one that is no HOST:PORT; too many.
base::Status CheckBootstraps(const std::vector<std::string>& texts, const std::string& option);

}  // namespace ostraka::cli
