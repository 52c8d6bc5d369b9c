// The records that a node keeps for others: announcements by key and owner.
//
// Promises:
//   S1 At most kMaxRecords in all, kMaxOwners under a key, kMaxKeys of an owner, kMaxOfPrefix from
//   a
//      source prefix, and of those kMaxOwnersOfPrefix under a key. Loopback has no prefix.
//   S2 A record is kept until it expires, a newer one of its owner comes, or S1 leaves no room for
//      it. Nothing is kept that expires later than kMaxTtlSeconds from now.
//   S3 Where a key or the store is full, those with the smallest H(secret, key, owner) stay: a
//   random
//      sample, which nobody can choose to be in or push another out of.
//   S4 Of an owner's records under a key the one with the highest seq stays. At equal seq and other
//      bytes the smaller digest stays, so that all stores keep the same one.
//
// May not know: signatures (the caller has verified), nodes, time but as an argument.
// Memory: kMaxRecords times kMaxRecordBytes, 13 MiB, and 300 bytes an entry.
// What an attacker can do here: fill 256 places from each prefix that it has; 64 prefixes fill the
// store. Then an honest record stays with the chance that S3 gives to all, in each of the 16
// stores.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "dht/wire/messages.h"

namespace ostraka::dht {

class RecordStore {
 public:
  static constexpr std::size_t kMaxRecords = 16'384;
  static constexpr std::size_t kMaxOwners = 64;
  static constexpr std::size_t kMaxOwnersOfPrefix = 4;
  static constexpr std::size_t kMaxKeys = 16;
  static constexpr std::size_t kMaxOfPrefix = 256;
  static constexpr std::uint64_t kMaxTtlSeconds = 7'200;
  // How wrong a clock may be: only those that differ by hours are shut out.
  static constexpr std::uint64_t kSkewSeconds = 600;

  // `secret`: 32 bytes that nobody can guess. `most`: for tests.
  explicit RecordStore(const Digest& secret, std::size_t most = kMaxRecords)
      : secret_(secret), most_(most) {}
  void HashInto(crypto::Hasher& hasher) const;

  // kDone: it is stored. REQUIRES: the announcement's signature is good; `bytes` are its bytes.
  Verdict Put(std::uint64_t wall_s, const Digest& key, const SignedAnnouncement& record,
              base::ByteView bytes, const Endpoint& source);
  // At most `most` of the records under `key`, from number `start` (modulo their number) on; those
  // of which the records before it take up to `share` bytes, and the first in any case.
  std::vector<base::Bytes> Get(std::uint64_t wall_s, const Digest& key, std::uint32_t start,
                               std::size_t most, std::size_t share) const;
  void DropExpired(std::uint64_t wall_s);

  std::size_t size() const { return by_expiry_.size(); }
  static constexpr Prefix kNoPrefix = {};
  std::size_t OwnersOf(const Digest& key) const;
  std::size_t FromPrefix(const Prefix& prefix) const;
  void CheckInvariants() const;

 private:
  struct Record {
    base::Bytes bytes;
    std::uint64_t seq = 0;
    std::uint64_t expires = 0;
    std::uint64_t sample = 0;  // S3
    Digest digest;
    Prefix source;  // kNoPrefix: not counted
    void HashInto(crypto::Hasher& hasher) const;
  };
  using Owners = std::map<PeerId, Record>;
  std::uint64_t SampleOf(const Digest& key, const PeerId& owner) const;
  // Makes room for a new record, or says why there is none.
  Verdict MakeRoom(const Digest& key, const PeerId& owner, const Record& record);
  Verdict MakeRoomUnder(const Digest& key, const Record& record);
  void Insert(const Digest& key, const PeerId& owner, Record record);
  void Remove(const Digest& key, const PeerId& owner);

  const Digest secret_;
  const std::size_t most_;
  std::map<Digest, Owners> keys_;
  std::map<PeerId, std::size_t> of_owner_;
  std::map<Prefix, std::size_t> of_prefix_;
  std::set<std::tuple<std::uint64_t, Digest, PeerId>> by_expiry_;  // (expires, key, owner)
  std::set<std::tuple<std::uint64_t, Digest, PeerId>> by_sample_;  // (sample, key, owner)
};

}  // namespace ostraka::dht
