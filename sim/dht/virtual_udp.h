// UDP in virtual time: who gets a datagram, and when.
//
// A datagram is lost, or arrives after a drawn delay; any order. Nodes behind a NAT have an address
// of their own and receive only from endpoints to which they sent lately, as behind a NAT that
// filters by address and port. A partition separates two halves. The claimed source may be forged;
// the network knows the true sender and tells nobody but checkers.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dht/wire/endpoint.h"
#include "node/base/rng.h"
#include "node/base/time.h"

namespace ostraka::sim::dhtsim {

using dht::Endpoint;

struct UdpOptions {
  base::Duration delay = base::Milliseconds(10);  // at least
  base::Duration jitter = base::Milliseconds(90);
  std::uint32_t loss_permille = 10;
};

class VirtualUdp {
 public:
  // How long a NAT lets an endpoint answer.
  static constexpr base::Duration kNatMemory = base::Seconds(120);

  VirtualUdp(const UdpOptions& options, const base::Rng& rng)
      : options_(options), rng_(rng.Fork("udp")) {}

  // A host at `endpoint`. Returns its number: 0, 1, 2 ... REQUIRES: the endpoint is free.
  std::uint32_t Add(const Endpoint& endpoint, bool behind_nat);
  void SetUp(std::uint32_t host, bool up) { hosts_[host].up = up; }
  // Half of the hosts, by number, cannot reach the other half.
  void SetPartition(bool cut) { cut_ = cut; }

  struct Arrival {
    std::uint32_t host = 0;
    base::Time at;
  };
  // When a datagram that `sender` sends arrives; nullopt: it does not.
  std::optional<Arrival> Send(base::Time now, std::uint32_t sender, const Endpoint& to);

  const Endpoint& endpoint(std::uint32_t host) const { return hosts_[host].endpoint; }
  bool IsUp(std::uint32_t host) const { return hosts_[host].up; }
  bool IsBehindNat(std::uint32_t host) const { return hosts_[host].behind_nat; }
  std::optional<std::uint32_t> HostAt(const Endpoint& endpoint) const;

 private:
  struct Host {
    Endpoint endpoint;
    bool behind_nat = false;
    bool up = true;
    std::map<Endpoint, base::Time> sent_to;  // only behind a NAT
  };
  struct EndpointHash {
    std::size_t operator()(const Endpoint& endpoint) const;
  };

  UdpOptions options_;
  base::Rng rng_;
  std::vector<Host> hosts_;
  std::unordered_map<Endpoint, std::uint32_t, EndpointHash> by_endpoint_;
  bool cut_ = false;
};

}  // namespace ostraka::sim::dhtsim
