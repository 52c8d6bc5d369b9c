// Counts addresses by prefix, so that the owner of one network cannot fill a set of nodes.
//
// Node ids cost 17 us each and addresses of distinct prefixes cost money, so sets of nodes (a
// bucket, a table, an answer, the stores of a record) take only so many of a prefix. 32 prefixes
// around a key then win what 20 keys win without the rule.
//
// Promises:
//   P1 HasRoom is false once a narrow prefix (/24, /48) was added `narrow` times, or a wide one
//   (/32
//      of IPv6) `wide` times.
//   P2 Addresses of loopback always have room: a test network has but one.
//
// May not know: what is counted, and why.
// Memory: one entry a prefix that was added and not removed.
// What an attacker can do here: nothing but use up the room of its own prefixes. Honest nodes of a
// prefix share it with the attackers that live there.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "dht/wire/endpoint.h"

namespace ostraka::dht {

struct PrefixLimits {
  std::uint32_t narrow = 1;
  std::uint32_t wide = 4;
};
// For answers, and for the nodes that hold a record.
inline constexpr PrefixLimits kOneAPrefix = {1, 4};

class PrefixRule {
 public:
  explicit PrefixRule(PrefixLimits limits) : limits_(limits) {}
  void HashInto(crypto::Hasher& hasher) const {
    for (const Count& count : counts_) hasher.UpdateU64(count.prefix.bits).UpdateU64(count.used);
  }

  bool HasRoom(const Endpoint& endpoint) const;
  void Add(const Endpoint& endpoint);
  // REQUIRES: it was added and not removed since.
  void Remove(const Endpoint& endpoint);
  // HasRoom, and if so Add.
  bool Admit(const Endpoint& endpoint) {
    if (!HasRoom(endpoint)) return false;
    Add(endpoint);
    return true;
  }

  std::uint32_t UsedOf(const Prefix& prefix) const;
  bool empty() const { return counts_.empty(); }

 private:
  struct Count {
    Prefix prefix;
    std::uint32_t used = 0;
  };
  std::vector<Count>::const_iterator Find(const Prefix& prefix) const;
  Count& Of(const Prefix& prefix);
  void Take(const Prefix& prefix);

  const PrefixLimits limits_;
  std::vector<Count> counts_;  // by prefix
};

}  // namespace ostraka::dht
