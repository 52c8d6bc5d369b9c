#include "node/net/udp/pinger.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>

#include "crypto/sign.h"
#include "dht/wire/messages.h"
#include "node/net/udp/udp_socket.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {
namespace {

constexpr int kTries = 3;

std::chrono::nanoseconds AsChrono(base::Duration duration) {
  return std::chrono::nanoseconds(duration.ns);
}

class Pinger {
 public:
  Pinger(const base::Digest& network, const std::vector<dht::Endpoint>& endpoints, PingUntil until)
      : endpoints_(endpoints),
        wanted_(until == PingUntil::kFirst ? 1 : endpoints.size()),
        socket_(io_, [this](const dht::Endpoint& from, base::ByteView bytes) {
          OnDatagram(from, bytes);
        }) {
    crypto::FillRandom(nonce_);
    dht::Query query;
    query.network = network;
    query.sender = key_.id();
    query_ = dht::EncodeQuery(nonce_, query);
  }

  base::StatusOr<Pings> Run(base::Duration patience) {
    RETURN_IF_ERROR(socket_.Open({}));
    pings_.local_port = socket_.local().port;
    for (int i = 0; i < kTries && !Done(); ++i) {
      sent_ = os::SteadyNow();
      for (const dht::Endpoint& endpoint : endpoints_) {
        if (!Answered(endpoint)) socket_.Send(endpoint, *query_.datagram);
      }
      const auto end = std::chrono::steady_clock::now() + AsChrono(patience) / kTries;
      while (!Done() && std::chrono::steady_clock::now() < end) {
        io_.run_one_until(end);
        io_.restart();
      }
    }
    return std::move(pings_);
  }

 private:
  bool Done() const { return pings_.pongs.size() >= wanted_; }
  bool Answered(const dht::Endpoint& endpoint) const {
    return std::any_of(pings_.pongs.begin(), pings_.pongs.end(),
                       [&](const Pong& pong) { return pong.endpoint == endpoint; });
  }

  void OnDatagram(const dht::Endpoint& from, base::ByteView bytes) {
    if (std::find(endpoints_.begin(), endpoints_.end(), from) == endpoints_.end()) return;
    pings_.heard = true;
    const auto header = dht::ReadHeader(bytes);
    if (!header.ok() || !header->is_reply || header->nonce != nonce_ || Answered(from)) return;
    const auto opened = dht::OpenReply(bytes, query_.digest);
    if (!opened.ok()) return;
    crypto::PlainVerifier verifier;
    if (!verifier.Verify(opened->reply.sender, opened->digest, opened->signature)) return;
    pings_.pongs.push_back({from, opened->reply.sender, opened->reply.seen, opened->reply.server,
                            static_cast<double>((os::SteadyNow() - sent_).ns) * 1e-6});
  }

  const std::vector<dht::Endpoint> endpoints_;
  const std::size_t wanted_;
  const crypto::SigningKey key_ = crypto::SigningKey::Generate();
  dht::Nonce nonce_{};
  dht::EncodedQuery query_;
  boost::asio::io_context io_;
  UdpSocket socket_;
  base::Time sent_;
  Pings pings_;
};

}  // namespace

base::StatusOr<Pings> PingEndpoints(const std::vector<dht::Endpoint>& endpoints,
                                    const base::Digest& network, base::Duration patience,
                                    PingUntil until) {
  return Pinger(network, endpoints, until).Run(patience);
}

}  // namespace ostraka::net
