#include "node/cli/options/dht_options.h"

#include <CLI/CLI.hpp>
#include <array>

#include "dht/wire/limits.h"
#include "node/cli/options/choices.h"
#include "node/net/udp/resolver.h"
#include "node/os/endpoint.h"
#include "node/os/own_program.h"

namespace ostraka::cli {
namespace {

constexpr std::size_t kMostBootstraps = 32;
constexpr std::array<net::DhtMode, 4> kModes = {net::DhtMode::kOff, net::DhtMode::kOn,
                                                net::DhtMode::kServer, net::DhtMode::kClient};

}  // namespace

void AddDhtOptions(CLI::App& command, DhtOptions& options) {
  const char* group = "Finding members that have moved (docs/network.md)";
  std::vector<std::string> modes;
  for (const net::DhtMode mode : kModes) modes.emplace_back(net::DhtModeName(mode));
  OfferChoices(command.add_option(
                   "--dht", options.mode,
                   "on: announce this member's address and find others by key, over UDP; server: "
                   "on, and the UDP port is known to be open; client: on, serving nobody; off"),
               modes)
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--dht-bootstrap", options.bootstraps,
                  "HOST:PORT of a node of the DHT, besides the run's members")
      ->group(group);
  command
      .add_option("--dht-network", options.network,
                  "name of the DHT: only nodes with the same name find each other")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--announce", options.announce,
                  "ADDRESS:PORT at which others reach this member (default: where it listens, or "
                  "where others see it)")
      ->group(group);
  command
      .add_flag("--map-port", options.map_port,
                "have the router forward the port of this node (NAT-PMP)")
      ->group(group);
}

base::StatusOr<std::vector<dht::Endpoint>> AnnouncedOf(const std::vector<std::string>& texts,
                                                       const std::string& option) {
  if (texts.size() > dht::kMaxAddresses) {
    return base::InvalidArgument(option + ": at most " + std::to_string(dht::kMaxAddresses) +
                                 " addresses are announced");
  }
  std::vector<dht::Endpoint> endpoints;
  for (const std::string& text : texts) {
    const auto endpoint = net::NumericEndpoint(text);
    if (!endpoint) {
      return base::InvalidArgument(option + " '" + text +
                                   "': write an address and a port, such as 192.0.2.7:9000 or "
                                   "[2001:db8::7]:9000; a name cannot be announced");
    }
    if (!dht::IsUsable(*endpoint)) {
      return base::InvalidArgument(option + " '" + text + "': no host can be reached there");
    }
    endpoints.push_back(*endpoint);
  }
  return endpoints;
}

base::Status CheckBootstraps(const std::vector<std::string>& texts, const std::string& option) {
  if (texts.size() > kMostBootstraps) {
    return base::InvalidArgument(option + ": at most " + std::to_string(kMostBootstraps) +
                                 " addresses are asked");
  }
  for (const std::string& text : texts) {
    const auto address = os::ParseHostPort(text);
    if (!address.ok()) {
      return base::InvalidArgument(option + " " + base::MessageOf(address.status()));
    }
    if (address->port == 0) return base::InvalidArgument(option + " '" + text + "' has port 0");
  }
  return base::OkStatus();
}

base::StatusOr<net::ReachOptions> DhtOf(const DhtOptions& options) {
  net::ReachOptions dht;
  bool known = false;
  for (const net::DhtMode mode : kModes) {
    if (options.mode != net::DhtModeName(mode)) continue;
    dht.mode = mode;
    known = true;
  }
  if (!known) {
    return base::InvalidArgument("--dht '" + options.mode + "': write on, server, client or off");
  }
  const bool given = !options.bootstraps.empty() || !options.announce.empty();
  if (dht.mode == net::DhtMode::kOff && given) {
    return base::InvalidArgument(
        std::string(options.announce.empty() ? "--dht-bootstrap" : "--announce") +
        " does nothing without --dht on");
  }
  RETURN_IF_ERROR(CheckBootstraps(options.bootstraps, "--dht-bootstrap"));
  ASSIGN_OR_RETURN(dht.addresses, AnnouncedOf(options.announce, "--announce"));
  if (options.network.empty() || options.network.size() > 64) {
    return base::InvalidArgument("--dht-network: write a name of 1 to 64 bytes");
  }
  dht.network = options.network;
  dht.bootstraps = options.bootstraps;
  // A process of its own: what reads the router's bytes must not hold the key.
  if (options.map_port) dht.port_mapper = {os::OwnProgram(), "portmap", "--keep"};
  return dht;
}

}  // namespace ostraka::cli
