#include "node/net/portmap/nat_pmp.h"

#include <arpa/inet.h>
#include <natpmp.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {
namespace {

constexpr int kMostOthers = 16;  // answers to other questions

std::string TextOf(in_addr_t address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  in_addr where{};
  where.s_addr = address;
  inet_ntop(AF_INET, &where, text.data(), text.size());
  return text.data();
}

base::Status FailureOf(int code, const std::string& router) {
  const std::string who = "the router at " + router;
  switch (code) {
    case NATPMP_ERR_NOGATEWAYSUPPORT:
    case NATPMP_ERR_UNSUPPORTEDVERSION:
    case NATPMP_ERR_UNSUPPORTEDOPCODE:
      return base::Unavailable(who + " does not know NAT-PMP");
    case NATPMP_ERR_NOTAUTHORIZED:
      return base::Unavailable(who + " refuses: NAT-PMP is switched off there");
    case NATPMP_ERR_NETWORKFAILURE:
      return base::Unavailable(who + " has no address from outside itself");
    case NATPMP_ERR_OUTOFRESOURCES:
      return base::Unavailable(who + " forwards as many ports as it can");
    default:
      return base::Unavailable(who + " cannot be asked (error " + std::to_string(code) + ")");
  }
}

}  // namespace

struct NatPmp::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { closenatpmp(&library); }

  // Sends a question, and returns its answer, which has `type`. Another type is a late answer to an
  // earlier question; the library takes it for this one's, so the question is sent again.
  base::StatusOr<natpmpresp_t> Ask(const std::function<int()>& send, std::uint16_t type) {
    const base::Time end = os::SteadyNow() + kPatience;
    int sent = send();
    int others = 0;
    for (;;) {
      if (sent < 0) return FailureOf(sent, router);
      natpmpresp_t answer{};
      const int got = readnatpmpresponseorretry(&library, &answer);
      if (got == 0 && answer.type == type) return answer;
      if (got != 0 && got != NATPMP_TRYAGAIN) return FailureOf(got, router);
      const base::Time now = os::SteadyNow();
      if (now >= end || others > kMostOthers) {
        return base::Unavailable("the router at " + router + " does not answer NAT-PMP");
      }
      if (got == 0) {
        ++others;
        sent = send();
      } else {
        Wait(end - now);
      }
    }
  }

  base::StatusOr<natpmpresp_t> Forward(Forwarded what, std::uint16_t inside, std::uint16_t outside,
                                       std::uint32_t seconds) {
    const bool tcp = what == Forwarded::kTcp;
    return Ask(
        [this, tcp, inside, outside, seconds] {
          return sendnewportmappingrequest(
              &library, tcp ? NATPMP_PROTOCOL_TCP : NATPMP_PROTOCOL_UDP, inside, outside, seconds);
        },
        tcp ? NATPMP_RESPTYPE_TCPPORTMAPPING : NATPMP_RESPTYPE_UDPPORTMAPPING);
  }

  // Until an answer comes, the next repetition is due, or `most` has passed.
  void Wait(base::Duration most) {
    timeval due{};
    std::int64_t ms = most.ns / 1'000'000 + 1;
    if (getnatpmprequesttimeout(&library, &due) == 0) {
      ms = std::min<std::int64_t>(
          ms, std::max<std::int64_t>(0, due.tv_sec * 1000 + due.tv_usec / 1000 + 1));
    }
    pollfd socket{library.s, POLLIN, 0};
    poll(&socket, 1, static_cast<int>(ms));
  }

  natpmp_t library{};
  std::string router;  // its address, for people
};

NatPmp::NatPmp(std::unique_ptr<State> state) : state_(std::move(state)) {}
NatPmp::NatPmp(NatPmp&&) noexcept = default;
NatPmp& NatPmp::operator=(NatPmp&&) noexcept = default;
NatPmp::~NatPmp() = default;

base::StatusOr<NatPmp> NatPmp::Open() {
  auto state = std::make_unique<State>();
  const int opened = initnatpmp(&state->library, 0, 0);
  if (opened == NATPMP_ERR_CANNOTGETGATEWAY) {
    return base::Unavailable("this machine has no default gateway (IPv4) to ask");
  }
  if (opened < 0) return base::Unavailable("no socket to ask the router with");
  state->router = TextOf(state->library.gateway);
  return NatPmp(std::move(state));
}

base::StatusOr<NatPmp::Mapping> NatPmp::Map(Forwarded what, std::uint16_t port,
                                            std::uint32_t seconds) {
  OSTRAKA_CHECK(port != 0 && seconds != 0);
  natpmp_t* const library = &state_->library;
  ASSIGN_OR_RETURN(const natpmpresp_t address,
                   state_->Ask([library] { return sendpublicaddressrequest(library); },
                               NATPMP_RESPTYPE_PUBLICADDRESS));
  ASSIGN_OR_RETURN(const natpmpresp_t mapped, state_->Forward(what, port, port, seconds));
  const auto& granted = mapped.pnu.newportmapping;
  const dht::Endpoint outside =
      dht::Endpoint::V4(ntohl(address.pnu.publicaddress.addr.s_addr), granted.mappedpublicport);
  if (granted.privateport != port || granted.lifetime == 0) {
    return base::Unavailable("the router at " + state_->router + " answers another question");
  }
  if (dht::ScopeOf(outside) != dht::Scope::kPublic || dht::IsShared(outside)) {
    return base::Unavailable("the router at " + state_->router + " is behind another one: it is " +
                             dht::TextOf(outside) + " itself");
  }
  OSTRAKA_CHECK(outside.port != 0 && granted.lifetime != 0);  // N1
  return Mapping{outside, granted.lifetime};
}

base::Status NatPmp::Unmap(Forwarded what, std::uint16_t port) {
  return state_->Forward(what, port, 0, 0).status();
}

}  // namespace ostraka::net
