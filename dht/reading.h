// The records that a read has collected: checked, and the newest of each owner.
//
// Promises:
//   D1 Only announcements of this network under this key, with a good signature, that have not
//      expired. Of an owner the one with the highest seq; at equal seq the smaller digest.
//
// A read goes to the end of its search. [If it ended when four nodes agreed, four that replay an
// old record, or stored it before the network grew, would hide the owner's new address.]
//
// May not know: nodes but by their number.
// Memory: kMaxOwners announcements.
// What an attacker can do here: give nothing, or an old record, where no other node gives a newer
// one; under a run's key give announcements of keys of its own. Its cost to us is a verification
// each.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "crypto/sign.h"
#include "dht/wire/announcement.h"

namespace ostraka::dht {

class Reading {
 public:
  static constexpr std::size_t kMaxOwners = 256;
  static constexpr std::uint64_t kSkewSeconds = 600;  // as RecordStore's

  Reading(const Digest& network, const Digest& key, bool one_owner)
      : network_(network), key_(key), one_owner_(one_owner) {}
  void HashInto(crypto::Hasher& hasher) const;

  // What one node gave.
  void Add(std::uint64_t wall_s, const std::vector<base::Bytes>& records,
           crypto::Verifier& verifier);
  std::vector<Announcement> Result() const;  // by owner
  void CheckInvariants() const;

 private:
  struct Newest {
    Announcement content;
    Digest digest;
    void HashInto(crypto::Hasher& hasher) const;
  };
  void AddOne(std::uint64_t wall_s, base::ByteView bytes, crypto::Verifier& verifier);

  const Digest network_;
  const Digest key_;
  const bool one_owner_;
  std::map<PeerId, Newest> newest_;
};

}  // namespace ostraka::dht
