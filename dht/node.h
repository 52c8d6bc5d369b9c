// A node of the DHT: the machine. It owns the parts and routes: what comes in goes to one of them,
// and what that returns is sent or begun here.
//
//   query  ─► QueryGate ─► Answerer (RecordStore, Tokens) ─► reply; maybe a ping back (Greeter)
//   reply  ─► Requests (nonce, endpoint) ─► signature ─► RoutingTable ─► what it was for:
//             Operation (Search, Reading), a check of reachability
//   timer  ─► Requests that are slow or lost, Upkeep, Publisher, Reachability
//   ask    ─► an Operation, or Publisher
//
// Promises:
//   N1 A reply goes out only to a query, to where that came from, and is not longer.
//   N2 A query goes only to an endpoint that a bootstrap list or an answer named, or that has sent
//   to
//      us, or that a token vouches for (Answerer A3).
//   N3 Nothing of a reply is believed before its signature is verified under the key that was
//   asked. N4 Memory is bounded by the parts' bounds and kMostOperations operations. N5 At most one
//   timer is set.
//
// May not know: sockets, clocks, disks, runs.
// Memory: RoutingTable's, RecordStore's (13 MiB at most), Requests', kMostOperations Operations.
// What an attacker can do here: each part says what. Together: a node under attack answers 1,000
// queries a second at most, verifies one signature for each query of its own, and a key is hidden
// only by whoever has some 100 distinct prefixes, or most of the nodes near it.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "crypto/stream.h"
#include "dht/answerer.h"
#include "dht/greeter.h"
#include "dht/kind.h"
#include "dht/operation.h"
#include "dht/publisher.h"
#include "dht/query_gate.h"
#include "dht/reachability.h"
#include "dht/requests.h"
#include "dht/upkeep.h"
#include "dht/vantage.h"

namespace ostraka::dht {

struct NodeConfig {
  std::shared_ptr<const crypto::SigningKey> key;
  Digest network;  // NetworkOf its name
  Role role = Role::kAuto;
  std::shared_ptr<crypto::Verifier> verifier;
};

class Node final : public machine::Machine<DhtKind> {
 public:
  static constexpr std::size_t kMostOperations = 256;
  static constexpr std::size_t kMostAddresses = 64;  // of each list of Started

  // REQUIRES: config.key and config.verifier are not null.
  explicit Node(NodeConfig config);

  void Step(base::Time now, const Input& input, Outbox& out) override;
  void CheckInvariants() const override;
  base::Digest Fingerprint() const override;
  Progress progress() const override;

  // For checkers and people.
  const RoutingTable& table() const { return table_; }
  const RecordStore* records() const { return answerer_ ? &answerer_->store() : nullptr; }

 private:
  void On(const Started& started);
  void On(const machine::DatagramReceived<Endpoint>& datagram);
  void On(const Ask& ask);
  void On(const machine::TimerFired& timer);
  void On(const machine::Stored&) {}

  void OnQuery(const Endpoint& from, base::ByteView bytes, const Nonce& nonce);
  // What the query of a CHECK or TRY asks for beyond its reply; false if it cannot be done.
  bool Serve(const Endpoint& from, const Query& query);
  void OnReply(const Endpoint& from, base::ByteView bytes, const Nonce& nonce);
  void Use(const Request& request, const KnownNode& node, const Reply& reply);
  std::vector<KnownNode> Located(const Reply& reply, const Endpoint& from) const;
  void OnFate(Requests::Fate fate, const Request& request);

  // False if too many wait already; then nothing was sent.
  bool Send(Query query, Request request) {
    return Send(DrawNonce(), std::move(query), std::move(request));
  }
  bool Send(const Nonce& nonce, Query query, Request request);
  void Meet(const KnownNode& node);
  void AskBootstraps();

  void Begin(const Digest& target, const Lookup::Shape& shape, Goal goal,
             std::optional<std::uint64_t> ask);
  void BeginOwnPlace();
  void Advance(std::uint64_t id);
  void Finish(const Operation& operation);
  void Answer(std::uint64_t ask, const Effort& effort, decltype(Answered::result) result);

  void Work();  // what has come due
  void Tick();
  void Announce();
  void BeginChecks();
  void SetTimer();
  std::uint64_t WallSeconds() const;
  Nonce DrawNonce();
  bool IsRefreshing() const;

  struct Call {
    base::Time now;
    Outbox* out = nullptr;  // only during a Step
  };

  const NodeConfig config_;
  const Digest self_;
  Call call_;
  std::optional<Started> started_;
  base::Time started_at_;
  std::unique_ptr<crypto::Stream> random_;  // from the secret: null before Started
  RoutingTable table_;
  NetworkSize size_;
  std::unique_ptr<Answerer> answerer_;  // null before Started
  QueryGate gate_;
  Greeter greeter_;
  Requests requests_;
  std::map<std::uint64_t, Operation> operations_;
  std::uint64_t next_operation_ = 0;
  Reachability reachability_;
  Upkeep upkeep_;
  Publisher publisher_;
  std::optional<base::Time> timer_;  // that is set
  Vantage vantage_;
  std::uint64_t next_store_ = 0;
};

}  // namespace ostraka::dht
