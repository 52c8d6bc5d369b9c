// How often something may happen: a bucket that fills with time, and many of them by sender.
//
// Promises:
//   R1 In any time t a bucket gives at most burst + rate t.
//   R2 Rates has at most `most` buckets. While it is full, senders without one get nothing: the
//      others stay as they were, and those that are full again are forgotten first.
//
// May not know: what is rationed.
// Memory: 24 bytes a bucket, and a node of a map.
// What an attacker can do here: use up the buckets of the senders whose addresses it has or forges,
// and with many of them the room of all others. Every limit by sender stands beside one in all.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/base/time.h"

namespace ostraka::dht {

struct Rate {
  std::int64_t per_minute = 60;
  std::int64_t burst = 1;
};

class RateBucket {
 public:
  explicit RateBucket(const Rate& rate) : credit_ns_(rate.burst * CostOf(rate)) {}
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, credit_ns_, at_); }

  bool IsFull(base::Time now, const Rate& rate) const {
    return CreditAt(now, rate) >= rate.burst * CostOf(rate);
  }
  bool Has(base::Time now, const Rate& rate) const { return CreditAt(now, rate) >= CostOf(rate); }
  // True, and one less is left.
  bool Take(base::Time now, const Rate& rate) {
    const std::int64_t credit = CreditAt(now, rate);
    if (credit < CostOf(rate)) return false;
    credit_ns_ = credit - CostOf(rate);
    at_ = now;
    return true;
  }

 private:
  // Credit is time: one costs as long as the rate takes to give one.
  static std::int64_t CostOf(const Rate& rate) { return base::Seconds(60).ns / rate.per_minute; }
  std::int64_t CreditAt(base::Time now, const Rate& rate) const {
    const std::int64_t full = rate.burst * CostOf(rate);
    const std::int64_t passed = std::clamp<std::int64_t>((now - at_).ns, 0, full);
    return std::min(full, credit_ns_ + passed);
  }

  std::int64_t credit_ns_;
  base::Time at_;
};

template <typename Sender>
class Rates {
 public:
  // REQUIRES: rate.per_minute > 0, rate.burst > 0, most > 0.
  Rates(const Rate& rate, std::size_t most) : rate_(rate), most_(most) {}
  void HashInto(crypto::Hasher& hasher) const {
    for (const auto& [sender, bucket] : buckets_) crypto::Feed(hasher, sender, bucket);
    crypto::Feed(hasher, swept_);
  }

  bool Has(base::Time now, const Sender& sender) {
    const auto at = buckets_.find(sender);
    return at != buckets_.end() ? at->second.Has(now, rate_) : HasRoom(now);
  }
  bool Take(base::Time now, const Sender& sender) {
    auto at = buckets_.find(sender);
    if (at == buckets_.end()) {
      if (!HasRoom(now)) return false;
      at = buckets_.emplace(sender, RateBucket(rate_)).first;
    }
    return at->second.Take(now, rate_);
  }

  std::size_t size() const { return buckets_.size(); }
  void CheckInvariants() const { OSTRAKA_CHECK(buckets_.size() <= most_); }

 private:
  // Forgets full buckets when there are many, at most once a second: a sweep costs a look at each.
  bool HasRoom(base::Time now) {
    if (buckets_.size() < most_) return true;
    if (now - swept_ < base::Seconds(1)) return false;
    swept_ = now;
    std::erase_if(buckets_, [&](const auto& entry) { return entry.second.IsFull(now, rate_); });
    return buckets_.size() < most_;
  }

  const Rate rate_;
  const std::size_t most_;
  std::map<Sender, RateBucket> buckets_;
  base::Time swept_{-base::Seconds(60).ns};
};

}  // namespace ostraka::dht
