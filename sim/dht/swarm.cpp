#include "sim/dht/swarm.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "dht/wire/limits.h"
#include "node/base/check.h"
#include "sim/dht/adversary.h"

namespace ostraka::sim::dhtsim {
namespace {

class CountingVerifier final : public crypto::Verifier {
 public:
  explicit CountingVerifier(std::uint64_t* count) : count_(count) {}
  bool Verify(const base::PeerId& signer, const base::Digest& digest,
              const crypto::Signature& signature) override {
    ++*count_;
    return plain_.Verify(signer, digest, signature);
  }

 private:
  crypto::PlainVerifier plain_;
  std::uint64_t* count_;
};

base::Digest Draw(base::Rng rng) {
  base::Digest digest;
  for (std::uint8_t& byte : digest.bytes) byte = static_cast<std::uint8_t>(rng.Below(256));
  return digest;
}

}  // namespace

Swarm::Swarm(std::uint64_t seed, const UdpOptions& udp)
    : rng_(seed),
      network_(dht::NetworkOf("simulated")),
      verifier_(std::make_shared<CountingVerifier>(&totals_.verifications)),
      udp_(udp, rng_) {}

Swarm::~Swarm() = default;

std::uint32_t Swarm::Add(base::Time at, PeerOptions options, std::vector<Endpoint> bootstraps) {
  const std::uint32_t number = udp_.Add(options.endpoint, options.behind_nat);
  Peer& peer = peers_.emplace_back();
  peer.key = std::move(options.key);
  if (peer.key == nullptr) {
    const base::Digest seed = Draw(rng_.Fork("key", number));
    peer.key =
        std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed.view()));
  }
  peer.id = peer.key->id();
  peer.adversary = std::move(options.adversary);
  peer.bootstraps = std::move(bootstraps);
  peer.node =
      std::make_unique<dht::Node>(dht::NodeConfig{peer.key, network_, options.role, verifier_});
  Push(std::max(at, now_), {Event::Kind::kStart, number, 0, 0, {}, nullptr, nullptr});
  return number;
}

void Swarm::Kill(std::uint32_t peer) {
  peers_[peer].node.reset();
  peers_[peer].key.reset();  // a key takes four pages of locked memory
  udp_.SetUp(peer, false);
}

void Swarm::Ask(std::uint32_t peer, dht::Ask ask) {
  Push(now_, {Event::Kind::kAsk,
              peer,
              0,
              0,
              {},
              nullptr,
              std::make_shared<const dht::Ask>(std::move(ask))});
}

void Swarm::Push(base::Time at, Event event) {
  std::uint32_t place = 0;
  if (free_.empty()) {
    place = static_cast<std::uint32_t>(pool_.size());
    pool_.push_back(std::move(event));
  } else {
    place = free_.back();
    free_.pop_back();
    pool_[place] = std::move(event);
  }
  heap_.push_back({at, sequence_++, place});
  std::push_heap(heap_.begin(), heap_.end());
}

void Swarm::RunUntil(base::Time until) {
  while (true) {
    const base::Time next = heap_.empty() ? until : heap_.front().at;
    if (next_second_ <= std::min(next, until)) {
      now_ = std::max(now_, next_second_);
      next_second_ = next_second_ + base::Seconds(1);
      for (std::uint32_t i = 0; i < peers_.size(); ++i) {
        if (peers_[i].adversary && IsUp(i)) peers_[i].adversary->OnSecond(*this, i);
      }
      if (on_second_) on_second_(now_);
      continue;
    }
    if (heap_.empty() || next > until) break;
    std::pop_heap(heap_.begin(), heap_.end());
    const Due due = heap_.back();
    heap_.pop_back();
    Event event = std::move(pool_[due.place]);
    free_.push_back(due.place);
    now_ = due.at;
    Deliver(event);
  }
  now_ = until;
}

void Swarm::Deliver(Event& event) {
  Peer& peer = peers_[event.peer];
  if (peer.node == nullptr) return;
  ++totals_.events;
  switch (event.kind) {
    case Event::Kind::kStart: {
      peer.started = true;
      const base::Digest secret = Draw(rng_.Fork("secret", event.peer));
      const auto wall = kWallStart + static_cast<std::uint64_t>(now_.ns / 1'000'000'000);
      return Step(event.peer, dht::Started{wall, secret, peer.bootstraps, {}}, {});
    }
    case Event::Kind::kDatagram: {
      if (!peer.started) return;
      if (peer.adversary &&
          peer.adversary->OnDatagram(*this, event.peer, event.from, event.bytes)) {
        return;
      }
      const auto header = dht::ReadHeader(*event.bytes);
      const Cause cause = {&event.from, event.true_sender, event.bytes->size(),
                           header.ok() && header->is_reply};
      return Step(event.peer, machine::DatagramReceived<Endpoint>{event.from, event.bytes}, cause);
    }
    case Event::Kind::kTimer:
      if (event.number != peer.timer) return;  // replaced
      return Step(event.peer, machine::TimerFired{0}, {});
    case Event::Kind::kStored:
      return Step(event.peer, machine::Stored{event.number}, {});
    case Event::Kind::kAsk:
      if (peer.started) Step(event.peer, *event.ask, {});
      return;
  }
}

void Swarm::Step(std::uint32_t index, const dht::Input& input, const Cause& cause) {
  Peer& peer = peers_[index];
  outbox_.actions().clear();
  const machine::Breach breach = peer.contract.Step(*peer.node, now_, input, outbox_);
  if (breach != machine::Breach::kNone) {
    std::fprintf(stderr, "node %u broke the contract: %s\n", index, machine::BreachName(breach));
    std::abort();
  }
  // An observer may ask something, which only adds events.
  auto actions = std::move(outbox_.actions());
  for (const auto& action : actions) {
    if (observer_ != nullptr && !peer.adversary) observer_->OnAction(now_, index, cause, action);
    std::visit([&](const auto& what) { Perform(index, what); }, action);
  }
  actions.clear();
  outbox_.actions() = std::move(actions);
}

void Swarm::Perform(std::uint32_t peer, const machine::SendDatagram<Endpoint>& send) {
  if (!peers_[peer].adversary) {
    const auto header = dht::ReadHeader(*send.bytes);
    ++(header.ok() && header->is_reply ? totals_.replies : totals_.queries);
    totals_.bytes += send.bytes->size();
  }
  SendAs(peer, udp_.endpoint(peer), send.to, send.bytes);
}

void Swarm::SendAs(std::uint32_t peer, const Endpoint& claimed, const Endpoint& to,
                   base::SharedBytes bytes) {
  const auto arrival = udp_.Send(now_, peer, to);
  if (!arrival) return;
  Push(arrival->at,
       {Event::Kind::kDatagram, arrival->host, peer, 0, claimed, std::move(bytes), nullptr});
}

void Swarm::Perform(std::uint32_t peer, const machine::SetTimer& timer) {
  Push(timer.at, {Event::Kind::kTimer, peer, 0, ++peers_[peer].timer, {}, nullptr, nullptr});
}

void Swarm::Perform(std::uint32_t peer, const machine::CancelTimer&) { ++peers_[peer].timer; }

void Swarm::Perform(std::uint32_t peer, const machine::Store<dht::KeptContacts>& store) {
  Push(now_ + base::Milliseconds(5),
       {Event::Kind::kStored, peer, 0, store.id, {}, nullptr, nullptr});
}

void Swarm::CheckAll() const {
  for (const Peer& peer : peers_) {
    if (peer.node == nullptr) continue;
    peer.node->CheckInvariants();
    peer.contract.CheckInvariants();
  }
}

}  // namespace ostraka::sim::dhtsim
