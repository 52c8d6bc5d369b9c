#include "node/cli/doctor/outside.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "dht/wire/messages.h"
#include "node/net/reach/reach_options.h"
#include "node/net/udp/pinger.h"
#include "node/net/udp/resolver.h"

namespace ostraka::cli {
namespace {

constexpr base::Duration kNamePatience = base::Seconds(3);
constexpr base::Duration kPingPatience = base::Seconds(3);

std::vector<dht::Endpoint> InterfaceAddresses() {
  std::vector<dht::Endpoint> own;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return own;  // then every address looks like a NAT's
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    if (each->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, each->ifa_addr, sizeof(address));
      own.push_back(dht::Endpoint::V4(ntohl(address.sin_addr.s_addr), 0));
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 address{};
      std::memcpy(&address, each->ifa_addr, sizeof(address));
      dht::Endpoint& endpoint = own.emplace_back();
      std::copy_n(address.sin6_addr.s6_addr, endpoint.address.size(), endpoint.address.begin());
    }
  }
  freeifaddrs(list);
  return own;
}

std::string Texts(const std::vector<dht::Endpoint>& endpoints) {
  const std::set<dht::Endpoint> unique(endpoints.begin(), endpoints.end());
  std::string all;
  for (const dht::Endpoint& each : unique) all += (all.empty() ? "" : ", ") + dht::TextOf(each);
  return all;
}

// Of endpoints with one address, IPv4 say, each observer may have seen another port.
std::string KindOf(const std::vector<dht::Endpoint>& seen, std::uint16_t local_port) {
  std::set<std::uint16_t> ports;
  for (const dht::Endpoint& each : seen) ports.insert(each.port);
  if (ports.size() > 1) {
    return "a NAT that shows each other party another port";
  }
  if (seen.size() == 1) {
    return "a NAT (only one member answered, which is too few to tell its kind)";
  }
  return *ports.begin() == local_port ? "a NAT that keeps port numbers"
                                      : "a NAT that changes port numbers, alike for all";
}

// Each address, and how it failed.
std::string WhySilent(const OutsideFacts& facts) {
  std::string each;
  bool is_answered = false;
  for (const ReachFacts& member : facts.members) {
    if (member.address.empty()) continue;
    is_answered = is_answered || member.problem.empty();
    each += (each.empty() ? " (" : "; ") + member.address + ": no answer by UDP" +
            (member.problem.empty() ? ", though TCP is answered" : "; TCP: " + member.problem);
  }
  if (!each.empty()) each += ")";
  return (is_answered ? "the DHT (UDP) is blocked here, or off there"
                      : "their nodes run without --dht, or UDP is blocked") +
         each;
}

std::string StraysText(Strays strays) {
  switch (strays) {
    case Strays::kReset:
      return " and answers strays with RST";
    case Strays::kDropped:
      return " and drops strays";
    case Strays::kUnknown:
      break;
  }
  return "";
}

}  // namespace

Finding JudgeOutside(const OutsideFacts& facts, std::uint16_t port) {
  if (!facts.problem.empty()) {
    return {"outside", Severity::kWarning, "others cannot be asked: " + facts.problem,
            "let UDP out through the firewall, to use --dht"};
  }
  if (facts.seen.empty()) {
    // Without --dht a run needs no UDP: nobody can tell here whether it matters.
    return {"outside", Severity::kOk,
            "not known: none of " + std::to_string(facts.asked) +
                " members says how this machine looks from outside: " + WhySilent(facts) +
                "; it matters for runs with --dht",
            ""};
  }
  std::vector<dht::Endpoint> translated;
  for (const dht::Endpoint& each : facts.seen) {
    const bool is_own =
        std::any_of(facts.own.begin(), facts.own.end(),
                    [&](const dht::Endpoint& own) { return own.address == each.address; });
    if (!is_own) translated.push_back(each);
  }
  const std::string seen = "seen from outside as " + Texts(facts.seen);
  if (translated.empty()) {
    return {"outside", Severity::kOk, seen + ": an address of this machine, no NAT", ""};
  }
  const std::string where = port == 0 ? "the node's port" : "port " + std::to_string(port);
  return {"outside", Severity::kWarning,
          seen + ": behind " + KindOf(translated, facts.local_port) + StraysText(facts.strays) +
              ", so others reach this node only through a forwarded port",
          "forward TCP and UDP " + where +
              " of the router to this machine, or start the node with --map-port; without that "
              "it only dials"};
}

OutsideFacts LookFromOutside(const std::vector<std::string>& addresses) {
  OutsideFacts facts;
  facts.own = InterfaceAddresses();
  const std::vector<std::string> asked(
      addresses.begin(),
      addresses.begin() + static_cast<std::ptrdiff_t>(std::min(kMostObservers, addresses.size())));
  facts.asked = asked.size();
  const net::Resolved resolved = net::ResolveNow(asked, kNamePatience);
  const auto pings = net::PingEndpoints(resolved.endpoints, dht::NetworkOf(net::kPublicDht),
                                        kPingPatience, net::PingUntil::kAll);
  if (!pings.ok()) {
    facts.problem = base::MessageOf(pings.status());
    return facts;
  }
  facts.local_port = pings->local_port;
  for (const net::Pong& pong : pings->pongs) facts.seen.push_back(pong.seen);
  return facts;
}

}  // namespace ostraka::cli
