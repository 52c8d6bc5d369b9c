// The nodes that a node knows: many near its own id, fewer far away (Kademlia's buckets).
//
// A node is in only after it answered a query of ours: then it holds its key and receives at its
// address. A bucket holds the nodes that share a number of leading bits with our own id.
//
// Promises:
//   T1 A bucket has at most kBucketSize live nodes and kSpares spare ones, and the table at most
//   one
//      entry a node id, never our own.
//   T2 At most 2 nodes of a narrow prefix (/24, /48) in a bucket and 4 in the table, spares
//   included;
//      4 and 16 of a wide one (/32 of IPv6).
//   T3 A node that answers stays: nobody pushes out a live node. A spare takes the place of a node
//      that missed kMissesReplaced queries in a row; without a spare the node goes after
//      kMissesGone.
//   T4 Nearest gives, of the live nodes, those nearest to a target, one a prefix.
//   T5 A known node is not moved to another address while it answers at the one it has.
//
// May not know: datagrams, keys, clocks.
// Memory: 32 entries of 112 bytes a bucket that is not empty; 250 entries at 10,000 nodes. Buckets
// far deeper than the network's size hold only nodes whose keys were made for it: at most 4 of a
// prefix in all of them (T2).
// What an attacker can do here: take free places, 4 for each prefix that it has, by answering.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dht/table/prefix_rule.h"
#include "dht/wire/known_node.h"
#include "node/base/time.h"

namespace ostraka::dht {

class RoutingTable {
 public:
  static constexpr std::size_t kBucketSize = 16;
  static constexpr std::size_t kSpares = 16;
  static constexpr PrefixLimits kInBucket = {2, 4};
  static constexpr PrefixLimits kInTable = {4, 16};
  static constexpr std::uint32_t kMissesReplaced = 2;
  static constexpr std::uint32_t kMissesGone = 5;

  explicit RoutingTable(const Digest& self) : self_(self), prefixes_(kInTable) {}
  void HashInto(crypto::Hasher& hasher) const;

  // `node` has answered a query of ours at its address.
  void OnAnswer(base::Time now, const KnownNode& node);
  // It has not answered one.
  void OnSilence(base::Time now, const KnownNode& node);
  // True if an answer of `node` would bring it in as a live node: then it is worth a query.
  bool HasPlaceFor(const KnownNode& node) const;

  // T4, for an asker at an address of `scope`: private and loopback addresses are told to their own
  // scope alone. Nodes that missed kMissesReplaced queries come only if others are too few and
  // `even_doubtful`.
  std::vector<KnownNode> Nearest(const Digest& target, std::size_t count, Scope scope,
                                 bool even_doubtful) const;
  // Live nodes that were neither heard from nor asked since `since`, the longest silent first.
  std::vector<KnownNode> SilentSince(base::Time since, std::size_t most) const;
  // A live node of another narrow prefix than `other`, drawn by `number`; nullptr if there is none.
  const KnownNode* OfAnotherPrefix(const Endpoint& other, std::uint64_t number) const;
  std::vector<KnownNode> All() const;  // live, by bucket

  std::size_t size() const { return size_; }  // live nodes
  std::size_t LiveIn(std::size_t bucket) const {
    return bucket < buckets_.size() ? buckets_[bucket].live.size() : 0;
  }
  std::size_t bucket_count() const { return buckets_.size(); }  // the deepest used, plus one
  const Digest& self() const { return self_; }
  void CheckInvariants() const;

 private:
  struct Entry {
    KnownNode node;
    base::Time heard;          // its last answer
    base::Time tried;          // the last query that it missed
    std::uint32_t misses = 0;  // since `heard`
    void HashInto(crypto::Hasher& hasher) const;
  };
  struct Bucket {
    std::vector<Entry> live;
    std::vector<Entry> spares;  // oldest first
    void HashInto(crypto::Hasher& hasher) const;
  };
  Entry* Find(std::vector<Entry>& entries, const Digest& id);
  bool HasPrefixRoom(const Bucket* bucket, const Endpoint& endpoint) const;
  void Move(Bucket& bucket, Entry& entry, const Endpoint& endpoint, base::Time now);
  void RemoveLive(Bucket& bucket, Entry& entry);
  void PushOutSpare(Bucket& bucket);

  const Digest self_;
  std::vector<Bucket> buckets_;  // by the length of the prefix shared with self_
  PrefixRule prefixes_;          // of all entries
  std::size_t size_ = 0;
};

}  // namespace ostraka::dht
