// How many queries a node looks at: an answer costs a signature, 19 us, and a look 10.
//
// Promises:
//   G1 At most 20 queries a second of an address (60 at once), 100 of a prefix, and 1,000 in all.
//   G2 Loopback is rationed in all only: a test network has one address.
//
// May not know: what is asked.
// Memory: 4,096 buckets each of addresses and of prefixes.
// What an attacker can do here: with forged sources use up the 1,000 a second, so that others go
// unanswered for that second; 1.2 MB/s of its own, and 2 % of a core of ours. Forging one source
// uses up that source's ration.
//
// Thread safety: none; one owner.
#pragma once

#include <array>

#include "dht/store/rates.h"
#include "dht/wire/endpoint.h"

namespace ostraka::dht {

class QueryGate {
 public:
  static constexpr Rate kOfAddress = {20 * 60, 60};
  static constexpr Rate kOfPrefix = {100 * 60, 300};
  static constexpr Rate kInAll = {1000 * 60, 1000};
  static constexpr std::size_t kBuckets = 4096;

  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, of_address_, of_prefix_, in_all_);
  }

  // True, and it is counted, if one more query from `from` may be looked at.
  bool Take(base::Time now, const Endpoint& from) {
    if (ScopeOf(from) == Scope::kLoopback) return in_all_.Take(now, kInAll);
    const Prefix prefix = NarrowPrefix(from);
    // A sender that is over its own limit must not use up the others'.
    if (!of_address_.Has(now, from.address) || !of_prefix_.Has(now, prefix)) return false;
    if (!in_all_.Take(now, kInAll)) return false;
    return of_prefix_.Take(now, prefix) && of_address_.Take(now, from.address);
  }
  void CheckInvariants() const {
    of_address_.CheckInvariants();
    of_prefix_.CheckInvariants();
  }

 private:
  Rates<std::array<std::uint8_t, 16>> of_address_{kOfAddress, kBuckets};
  Rates<Prefix> of_prefix_{kOfPrefix, kBuckets};
  RateBucket in_all_{kInAll};
};

}  // namespace ostraka::dht
