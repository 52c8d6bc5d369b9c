#include "node/cli/dht/dht_ping.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <optional>

#include "crypto/sign.h"
#include "node/net/udp/resolver.h"
#include "node/net/udp/udp_socket.h"
#include "node/os/steady_clock.h"
#include "node/os/tcp_probe.h"

namespace ostraka::cli {
namespace {

constexpr int kTries = 3;
constexpr base::Duration kNamePatience = base::Seconds(5);
constexpr base::Duration kTcpPatience = base::Seconds(2);
constexpr base::Duration kUdpPatience = base::Seconds(2);

std::chrono::nanoseconds AsChrono(base::Duration duration) {
  return std::chrono::nanoseconds(duration.ns);
}

base::StatusOr<std::vector<dht::Endpoint>> Resolve(const std::string& address) {
  boost::asio::io_context io;
  net::Resolver resolver(io);
  net::Resolved resolved;
  resolver.Resolve({address}, kNamePatience,
                   [&resolved](const net::Resolved& all) { resolved = all; });
  io.run();
  if (resolved.failures.empty()) return resolved.endpoints;
  return base::Unavailable(address + ": " + resolved.failures.front().second);
}

// Pings all endpoints of one address, and takes the first good answer.
class Pinger {
 public:
  Pinger(const base::Digest& network, const std::vector<dht::Endpoint>& endpoints)
      : endpoints_(endpoints),
        socket_(io_, [this](const dht::Endpoint& from, base::ByteView bytes) {
          OnDatagram(from, bytes);
        }) {
    crypto::FillRandom(nonce_);
    dht::Query query;
    query.network = network;
    query.sender = key_.id();
    query_ = dht::EncodeQuery(nonce_, query);
  }

  base::Status Run(base::Duration patience) {
    RETURN_IF_ERROR(socket_.Open({}));
    for (int i = 0; i < kTries && !pong_; ++i) {
      sent_ = os::SteadyNow();
      for (const dht::Endpoint& endpoint : endpoints_) socket_.Send(endpoint, *query_.datagram);
      const auto end = std::chrono::steady_clock::now() + AsChrono(patience) / kTries;
      while (!pong_ && std::chrono::steady_clock::now() < end) {
        io_.run_one_until(end);
        io_.restart();
      }
    }
    return base::OkStatus();
  }
  const std::optional<Pong>& pong() const { return pong_; }
  bool heard() const { return heard_; }  // something that was no answer to us

 private:
  void OnDatagram(const dht::Endpoint& from, base::ByteView bytes) {
    if (std::find(endpoints_.begin(), endpoints_.end(), from) == endpoints_.end()) return;
    heard_ = true;
    const auto header = dht::ReadHeader(bytes);
    if (!header.ok() || !header->is_reply || header->nonce != nonce_) return;
    const auto opened = dht::OpenReply(bytes, query_.digest);
    if (!opened.ok()) return;
    crypto::PlainVerifier verifier;
    if (!verifier.Verify(opened->reply.sender, opened->digest, opened->signature)) return;
    pong_ = {from, opened->reply.sender, opened->reply.seen, opened->reply.server,
             static_cast<double>((os::SteadyNow() - sent_).ns) * 1e-6};
  }

  const std::vector<dht::Endpoint> endpoints_;
  const crypto::SigningKey key_ = crypto::SigningKey::Generate();
  dht::Nonce nonce_{};
  dht::EncodedQuery query_;
  boost::asio::io_context io_;
  net::UdpSocket socket_;
  base::Time sent_;
  bool heard_ = false;
  std::optional<Pong> pong_;
};

struct Failure {
  std::string text;            // "address: why"
  bool udp_is_silent = false;  // and not that the name is unknown or another program answers
  bool tcp_answers = false;
};

base::StatusOr<Pong> Ping(const std::string& address, const base::Digest& network,
                          base::Duration patience, Failure& failure) {
  const auto endpoints = Resolve(address);
  if (!endpoints.ok()) {
    failure.text = base::MessageOf(endpoints.status());
    return endpoints.status();
  }
  Pinger pinger(network, *endpoints);
  RETURN_IF_ERROR(pinger.Run(patience));
  if (pinger.pong()) return *pinger.pong();
  failure.udp_is_silent = !pinger.heard();
  failure.text = address + ": " +
                 (pinger.heard() ? "what answers is no node of this DHT" : "no answer by UDP");
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

base::StatusOr<Pong> PingDht(const std::string& address, const base::Digest& network,
                             base::Duration patience) {
  Failure failure;
  base::StatusOr<Pong> pong = Ping(address, network, patience, failure);
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
