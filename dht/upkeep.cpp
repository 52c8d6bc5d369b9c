#include "dht/upkeep.h"

#include <algorithm>

namespace ostraka::dht {
namespace {

constexpr base::Time kNever{INT64_MIN / 2};

// `duration` and up to a quarter more.
base::Duration Spread(base::Duration duration, std::uint64_t number) {
  return {duration.ns +
          static_cast<std::int64_t>(number % static_cast<std::uint64_t>(duration.ns / 4))};
}

}  // namespace

Upkeep::Due Upkeep::Tick(base::Time now, const RoutingTable& table, bool searching,
                         std::uint64_t number) {
  Due due;
  if (table.size() == 0) joined_ = false;  // all nodes are gone: as at the start
  if (!joined_) {
    due.own_place = table.size() > 0 && !searching;
    if (table.size() == 0 && now >= retry_) {
      due.bootstraps = true;
      retry_after_ = std::min(retry_after_ * 2, kRetryMost);
      retry_ = now + retry_after_;
    }
    renewal_ = now + Spread(kRenewal, number);
    keep_ = now + Spread(kFastTick, number);
    next_ = now + Spread(kFastTick, number);
    return due;
  }
  due.silent = true;
  if (now >= keep_) {
    due.keep = true;
    keep_ = now + Spread(kKeep, number);
  }
  if (now >= renewal_ && !searching) {
    due.own_place = true;
    due.bootstraps = true;
    renewal_ = now + Spread(kRenewal, number);
  } else if (!searching) {
    due.bucket = BucketToFill(now, table);
  }
  const bool fills = due.bucket.has_value() || searching;
  next_ = now + Spread(fills ? kFastTick : kTick, number);
  return due;
}

// Only as deep as nodes are known: a bucket deeper than the network is dense stays empty.
std::optional<std::size_t> Upkeep::BucketToFill(base::Time now, const RoutingTable& table) {
  buckets_.resize(std::max(buckets_.size(), table.bucket_count()), kNever);
  std::size_t full = table.bucket_count();
  while (full > 0 && table.LiveIn(full - 1) < kFewInBucket) --full;
  for (std::size_t bucket = 0; bucket < full; ++bucket) {
    if (table.LiveIn(bucket) >= kFewInBucket || now - buckets_[bucket] < kBucketAgain) continue;
    buckets_[bucket] = now;
    return bucket;
  }
  return std::nullopt;
}

}  // namespace ostraka::dht
