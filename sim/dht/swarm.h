// Many nodes of the DHT in virtual time, from one seed: the driver of dht/node.h.
//
// One queue of events in the order of (time, scheduling) and one tree of seeded generators. Every
// step goes through the contract of node/machine/contract.h; a breach ends the program. An
// adversary is an honest node with somebody in front of it, who sees each datagram first
// (sim/dht/adversary.h).
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dht/node.h"
#include "node/base/rng.h"
#include "node/machine/contract.h"
#include "sim/dht/virtual_udp.h"

namespace ostraka::sim::dhtsim {

class Adversary;

// A step's cause: the datagram that it was given, if it was one.
struct Cause {
  const Endpoint* from = nullptr;  // as claimed
  std::uint32_t true_sender = 0;
  std::size_t size = 0;
  bool is_reply = false;
};

class SwarmObserver {
 public:
  virtual ~SwarmObserver() = default;
  // `peer`, which is honest, has acted.
  virtual void OnAction(base::Time now, std::uint32_t peer, const Cause& cause,
                        const machine::ActionOf<dht::DhtKind>& action) = 0;
};

struct SwarmTotals {
  std::uint64_t events = 0;
  std::uint64_t queries = 0;  // sent by honest nodes
  std::uint64_t replies = 0;
  std::uint64_t bytes = 0;
  std::uint64_t verifications = 0;
};

class Swarm {
 public:
  static constexpr std::uint64_t kWallStart = 1'800'000'000;  // seconds since 1970 at time 0

  Swarm(std::uint64_t seed, const UdpOptions& udp);
  ~Swarm();
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;

  struct PeerOptions {
    Endpoint endpoint;
    dht::Role role = dht::Role::kAuto;
    bool behind_nat = false;
    std::shared_ptr<const crypto::SigningKey> key;  // null: drawn
    std::unique_ptr<Adversary> adversary;
  };
  // A node that starts at `at`. Returns its number.
  std::uint32_t Add(base::Time at, PeerOptions options, std::vector<Endpoint> bootstraps);
  // Ends its process; it does not come back.
  void Kill(std::uint32_t peer);
  void Ask(std::uint32_t peer, dht::Ask ask);
  void SetPartition(bool cut) { udp_.SetPartition(cut); }
  // A datagram that `peer` sends with any source.
  void SendAs(std::uint32_t peer, const Endpoint& claimed, const Endpoint& to,
              base::SharedBytes bytes);

  void RunUntil(base::Time until);
  // Called every virtual second, before its events.
  void OnSecond(std::function<void(base::Time)> call) { on_second_ = std::move(call); }
  void Observe(SwarmObserver* observer) { observer_ = observer; }

  base::Time now() const { return now_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(peers_.size()); }
  bool IsUp(std::uint32_t peer) const {
    return peers_[peer].node != nullptr && peers_[peer].started;
  }
  bool IsHonest(std::uint32_t peer) const { return peers_[peer].adversary == nullptr; }
  const dht::Node& node(std::uint32_t peer) const { return *peers_[peer].node; }
  const crypto::SigningKey& key(std::uint32_t peer) const { return *peers_[peer].key; }
  const base::PeerId& id(std::uint32_t peer) const { return peers_[peer].id; }
  const Endpoint& endpoint(std::uint32_t peer) const { return udp_.endpoint(peer); }
  bool IsBehindNat(std::uint32_t peer) const { return udp_.IsBehindNat(peer); }
  std::optional<std::uint32_t> PeerAt(const Endpoint& e) const { return udp_.HostAt(e); }
  const base::Digest& network() const { return network_; }
  const SwarmTotals& totals() const { return totals_; }
  // Aborts if a node's state contradicts itself.
  void CheckAll() const;

 private:
  struct Peer {
    std::shared_ptr<const crypto::SigningKey> key;
    base::PeerId id;
    std::unique_ptr<dht::Node> node;  // null: dead
    machine::Contract<dht::DhtKind> contract;
    std::unique_ptr<Adversary> adversary;
    std::vector<Endpoint> bootstraps;
    bool started = false;
    std::uint64_t timer = 0;  // generation of the one that is set
  };
  struct Event {
    enum class Kind : std::uint8_t { kStart, kDatagram, kTimer, kStored, kAsk } kind = Kind::kStart;
    std::uint32_t peer = 0;
    std::uint32_t true_sender = 0;
    std::uint64_t number = 0;  // timer: generation; stored: id
    Endpoint from;
    base::SharedBytes bytes;
    std::shared_ptr<const dht::Ask> ask;
  };
  struct Due {
    base::Time at;
    std::uint64_t sequence = 0;
    std::uint32_t place = 0;  // in pool_
    bool operator<(const Due& other) const {
      return at != other.at ? other.at < at : other.sequence < sequence;
    }
  };
  void Push(base::Time at, Event event);
  void Deliver(Event& event);
  void Step(std::uint32_t peer, const dht::Input& input, const Cause& cause);
  void Perform(std::uint32_t peer, const machine::SendDatagram<Endpoint>& send);
  void Perform(std::uint32_t peer, const machine::SetTimer& timer);
  void Perform(std::uint32_t peer, const machine::CancelTimer&);
  void Perform(std::uint32_t peer, const machine::Store<dht::KeptContacts>& store);
  void Perform(std::uint32_t, const dht::Answered&) {}
  void Perform(std::uint32_t, const machine::Observe<dht::Observation>&) {}

  base::Rng rng_;
  base::Digest network_;
  std::shared_ptr<crypto::Verifier> verifier_;
  VirtualUdp udp_;
  std::vector<Peer> peers_;
  std::vector<Due> heap_;
  std::vector<Event> pool_;
  std::vector<std::uint32_t> free_;
  std::uint64_t sequence_ = 0;
  base::Time now_;
  base::Time next_second_;
  dht::Outbox outbox_;
  SwarmObserver* observer_ = nullptr;
  std::function<void(base::Time)> on_second_;
  SwarmTotals totals_;
};

}  // namespace ostraka::sim::dhtsim
