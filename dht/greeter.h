// How often we ping nodes that we have only heard of: askers that call themselves servers, and
// nodes that a bootstrap names.
//
// Promises:
//   E1 At most 1 a second of a prefix, and 8 a second in all.
//
// May not know: nodes beyond their endpoints.
// Memory: 1,024 buckets.
// What an attacker can do here: name a victim's addresses, or forge them: 8 datagrams a second go
// out to addresses of its choice, for as many that it sends.
//
// Thread safety: none; one owner.
#pragma once

#include "dht/store/rates.h"
#include "dht/wire/endpoint.h"

namespace ostraka::dht {

class Greeter {
 public:
  static constexpr Rate kOfPrefix = {60, 2};
  static constexpr Rate kInAll = {8 * 60, 16};
  static constexpr std::size_t kBuckets = 1024;

  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, of_prefix_, in_all_); }

  // True, and it is counted, if `endpoint` may be pinged.
  bool Take(base::Time now, const Endpoint& endpoint) {
    if (ScopeOf(endpoint) == Scope::kLoopback) return in_all_.Take(now, kInAll);
    const Prefix prefix = NarrowPrefix(endpoint);
    return of_prefix_.Has(now, prefix) && in_all_.Take(now, kInAll) && of_prefix_.Take(now, prefix);
  }
  void CheckInvariants() const { of_prefix_.CheckInvariants(); }

 private:
  Rates<Prefix> of_prefix_{kOfPrefix, kBuckets};
  RateBucket in_all_{kInAll};
};

}  // namespace ostraka::dht
