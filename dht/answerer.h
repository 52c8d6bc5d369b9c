// Answers the queries of others: what a node does for the network.
//
// Promises:
//   A1 A query costs its asker 1,200 bytes and gets at most one reply, which is no longer.
//   A2 A record is stored only for a good token of the source address and a good signature.
//   A3 What others ask us to send to a third party goes only to an address that itself asked
//   (CHECK),
//      or whose checker proved its own address (TRY): 1 a minute an address, 4 a second in all.
//
// May not know: our own queries, timers.
// Memory: RecordStore's, and 1,024 buckets for each kind of request.
// What an attacker can do here: have us test an address through TRY, one datagram for its own one.
//
// Thread safety: none; one owner.
#pragma once

#include <array>
#include <optional>

#include "crypto/sign.h"
#include "dht/store/rates.h"
#include "dht/store/record_store.h"
#include "dht/store/tokens.h"
#include "dht/table/routing_table.h"
#include "dht/wire/messages.h"

namespace ostraka::dht {

class Answerer {
 public:
  static constexpr Rate kChecksOfAddress = {1, 2};
  static constexpr Rate kTriesInAll = {240, 8};
  static constexpr std::size_t kBuckets = 1024;

  // REQUIRES: `verifier` outlives the answerer.
  Answerer(const Digest& network, const PeerId& self, crypto::Verifier* verifier,
           const Digest& secret)
      : network_(network), self_(self), verifier_(verifier), tokens_(secret), store_(secret) {}
  void HashInto(crypto::Hasher& hasher) const;

  struct Answer {
    Reply reply;
    std::optional<Digest> stored;  // the key of a record that is stored now
  };
  struct Asked {
    base::Time now;
    std::uint64_t wall_s = 0;
    Endpoint from;
    bool server = false;  // what we are to an asker at `from`
  };
  // Nullopt: no answer. A node that is no server answers PINGs alone.
  std::optional<Answer> OnQuery(const Asked& asked, const Query& query, const RoutingTable& table);

  void DropExpired(std::uint64_t wall_s) { store_.DropExpired(wall_s); }
  const RecordStore& store() const { return store_; }
  void CheckInvariants() const;

 private:
  using Address = std::array<std::uint8_t, 16>;
  void AddContacts(const Asked& asked, const Query& query, const RoutingTable& table, Reply& reply);
  Verdict Put(const Asked& asked, const Query& query);
  bool HasGoodToken(const Asked& asked, const Query& query) const;

  const Digest network_;
  const PeerId self_;
  crypto::Verifier* verifier_;
  Tokens tokens_;
  RecordStore store_;
  Rates<Address> checks_{kChecksOfAddress, kBuckets};
  Rates<Address> tries_{kChecksOfAddress, kBuckets};
  RateBucket tries_in_all_{kTriesInAll};
};

}  // namespace ostraka::dht
