#include "node/cli/dht/dht_ping.h"

#include "node/net/udp/resolver.h"
#include "node/os/tcp_probe.h"

namespace ostraka::cli {
namespace {

constexpr base::Duration kNamePatience = base::Seconds(5);
constexpr base::Duration kTcpPatience = base::Seconds(2);
constexpr base::Duration kUdpPatience = base::Seconds(2);

base::StatusOr<std::vector<dht::Endpoint>> Resolve(const std::string& address) {
  const net::Resolved resolved = net::ResolveNow({address}, kNamePatience);
  if (resolved.failures.empty()) return resolved.endpoints;
  return base::Unavailable(address + ": " + resolved.failures.front().second);
}

struct Failure {
  std::string text;            // "address: why"
  bool udp_is_silent = false;  // and not that the name is unknown or another program answers
  bool tcp_answers = false;
};

base::StatusOr<net::Pong> Ping(const std::string& address, const base::Digest& network,
                               base::Duration patience, Failure& failure) {
  const auto endpoints = Resolve(address);
  if (!endpoints.ok()) {
    failure.text = base::MessageOf(endpoints.status());
    return endpoints.status();
  }
  ASSIGN_OR_RETURN(const net::Pings pings,
                   net::PingEndpoints(*endpoints, network, patience, net::PingUntil::kFirst));
  if (!pings.pongs.empty()) return pings.pongs.front();
  failure.udp_is_silent = !pings.heard;
  failure.text =
      address + ": " + (pings.heard ? "what answers is no node of this DHT" : "no answer by UDP");
  if (failure.udp_is_silent) {
    const base::Status tcp = os::ProbeTcp(address, kTcpPatience);
    failure.tcp_answers = tcp.ok();
    failure.text += tcp.ok() ? ", though TCP is answered" : "; TCP: " + base::MessageOf(tcp);
  }
  return base::Unavailable(failure.text);
}

// `failures`, as one line.
base::Status Nobody(const std::vector<Failure>& failures) {
  std::string all;
  bool blocked = false;
  for (const Failure& failure : failures) {
    blocked = blocked || (failure.udp_is_silent && failure.tcp_answers);
    all += (all.empty() ? "" : "; ") + failure.text;
  }
  return base::Unavailable(
      (blocked ? "the DHT (UDP) is blocked here, or off there: " : "no node of the DHT answers: ") +
      all);
}

}  // namespace

base::StatusOr<net::Pong> PingDht(const std::string& address, const base::Digest& network,
                                  base::Duration patience) {
  Failure failure;
  base::StatusOr<net::Pong> pong = Ping(address, network, patience, failure);
  if (pong.ok() || failure.text.empty()) return pong;
  return Nobody({failure});
}

base::Status WhyNobodyAnswers(const std::vector<std::string>& addresses,
                              const base::Digest& network) {
  std::vector<Failure> failures;
  for (const std::string& address : addresses) {
    const auto pong = Ping(address, network, kUdpPatience, failures.emplace_back());
    if (pong.ok()) return base::OkStatus();
    if (failures.back().text.empty()) return pong.status();
  }
  return Nobody(failures);
}

}  // namespace ostraka::cli
