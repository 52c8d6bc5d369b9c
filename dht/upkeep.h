// The timetable of a node: what it does without being asked, and when.
//
// Every kTick, one thing of each kind at most, so that a node sends a steady few datagrams: it
// pings nodes that have been silent, fills a bucket that is nearly empty by a search of a point in
// it, and every kRenewal searches its own place again and asks the bootstraps, which joins networks
// that a partition has kept apart.
//
// Promises:
//   M1 Until it has joined, the node asks its bootstraps again after kRetry, doubled up to
//   kRetryMost. M2 A bucket is searched again at the earliest after kBucketAgain.
//
// May not know: nodes, messages.
// Memory: a time for each bucket that was searched: at most 256.
// What an attacker can do here: nothing.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "dht/table/routing_table.h"
#include "node/base/time.h"

namespace ostraka::dht {

class Upkeep {
 public:
  static constexpr base::Duration kTick = base::Seconds(10);
  static constexpr base::Duration kFastTick = base::Seconds(1);  // until the table is full
  static constexpr base::Duration kRenewal = base::Seconds(900);
  static constexpr base::Duration kKeep = base::Seconds(600);
  static constexpr base::Duration kSilent = base::Seconds(600);
  static constexpr base::Duration kBucketAgain = base::Seconds(900);
  static constexpr base::Duration kRetry = base::Seconds(3);
  static constexpr base::Duration kRetryMost = base::Seconds(60);
  static constexpr std::size_t kPingsATick = 4;
  // A bucket with fewer is filled by a search.
  static constexpr std::size_t kFewInBucket = 8;

  struct Due {
    bool bootstraps = false;            // to be asked
    bool own_place = false;             // to be searched
    bool keep = false;                  // contacts to be stored
    bool silent = false;                // nodes to be pinged
    std::optional<std::size_t> bucket;  // to be filled
  };

  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, next_, renewal_, keep_, retry_, retry_after_, joined_, buckets_);
  }

  void Start(base::Time now) {
    next_ = now + kFastTick;
    retry_ = now + kRetry;
    retry_after_ = kRetry;
  }
  bool IsDue(base::Time now) const { return now >= next_; }
  base::Time next() const { return next_; }
  // What to do now. `searching`: a search of ours is under way. `number`: drawn, so that nodes do
  // not act at once. REQUIRES: IsDue.
  Due Tick(base::Time now, const RoutingTable& table, bool searching, std::uint64_t number);
  // The search of our own place has ended.
  void OnJoined() { joined_ = true; }
  // Others will keep us in their tables from now on, so our neighbours should meet us.
  void SearchOwnPlace(base::Time now) { renewal_ = now; }
  bool joined() const { return joined_; }

 private:
  std::optional<std::size_t> BucketToFill(base::Time now, const RoutingTable& table);

  base::Time next_;
  base::Time renewal_;
  base::Time keep_;
  base::Time retry_;
  base::Duration retry_after_;
  bool joined_ = false;
  std::vector<base::Time> buckets_;  // when each was last searched
};

}  // namespace ostraka::dht
