#include "sim/dht/virtual_udp.h"

#include "node/base/check.h"

namespace ostraka::sim::dhtsim {

std::size_t VirtualUdp::EndpointHash::operator()(const Endpoint& endpoint) const {
  std::uint64_t hash = endpoint.port;
  for (const std::uint8_t byte : endpoint.address) hash = (hash ^ byte) * 0x100000001b3;
  return hash ^ (hash >> 29);
}

std::uint32_t VirtualUdp::Add(const Endpoint& endpoint, bool behind_nat) {
  const auto host = static_cast<std::uint32_t>(hosts_.size());
  OSTRAKA_CHECK(by_endpoint_.emplace(endpoint, host).second);
  hosts_.push_back({endpoint, behind_nat, true, {}});
  return host;
}

std::optional<std::uint32_t> VirtualUdp::HostAt(const Endpoint& endpoint) const {
  const auto at = by_endpoint_.find(endpoint);
  if (at == by_endpoint_.end()) return std::nullopt;
  return at->second;
}

std::optional<VirtualUdp::Arrival> VirtualUdp::Send(base::Time now, std::uint32_t sender,
                                                    const Endpoint& to) {
  if (hosts_[sender].behind_nat) hosts_[sender].sent_to[to] = now;
  // Drawn for each datagram, delivered or not, so that a dead host changes no other's luck.
  const bool lost = rng_.Chance(options_.loss_permille, 1000);
  const base::Duration delay = options_.delay + base::Duration{rng_.Between(0, options_.jitter.ns)};
  const auto host = HostAt(to);
  if (lost || !host || !hosts_[*host].up) return std::nullopt;
  if (cut_ && (*host % 2) != (sender % 2)) return std::nullopt;
  Host& receiver = hosts_[*host];
  if (receiver.behind_nat) {
    const auto mapping = receiver.sent_to.find(hosts_[sender].endpoint);
    if (mapping == receiver.sent_to.end() || now - mapping->second > kNatMemory) {
      return std::nullopt;
    }
  }
  return Arrival{*host, now + delay};
}

}  // namespace ostraka::sim::dhtsim
