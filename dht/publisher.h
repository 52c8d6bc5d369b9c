// What this peer announces: signed anew and written again every kAgain, under one or two keys.
//
// Promises:
//   U1 seq grows with every announcement, also over restarts: it is at least the wall clock's
//   second. U2 What was written expires kTtl after, so a peer that is gone is forgotten within that
//   time. U3 Each Publish is answered once: when its first writes have ended, or when another
//   replaces it
//      before they began.
//
// May not know: nodes, datagrams, the key but as an argument.
// Memory: one announcement.
// What an attacker can do here: nothing; only the process sets it.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crypto/sign.h"
#include "dht/kind.h"

namespace ostraka::dht {

class Publisher {
 public:
  static constexpr base::Duration kAgain = base::Seconds(600);
  static constexpr std::uint64_t kTtlSeconds = 1800;

  void HashInto(crypto::Hasher& hasher) const;

  // An Answered for the question that is replaced, if its writes had not begun.
  std::optional<Answered> Set(base::Time now, std::uint64_t ask, const Publish& publish);
  // Not while writes are under way, so that two announcements of ours never race.
  bool IsDue(base::Time now) const { return content_ && writing_ == 0 && now >= next_; }
  std::optional<base::Time> next() const;  // nullopt: nothing, or when a write has ended

  struct Write {
    Digest key;
    base::Bytes record;
  };
  // The writes to begin now. REQUIRES: IsDue.
  std::vector<Write> Begin(base::Time now, std::uint64_t wall_s, const Digest& network,
                           const crypto::SigningKey& key);
  // One of the writes has ended. An Answered if it was the last for an open question.
  std::optional<Answered> OnWritten(const Effort& effort, std::uint32_t stored,
                                    std::uint32_t refused);
  void CheckInvariants() const;

 private:
  std::optional<Publish> content_;
  std::uint64_t last_seq_ = 0;
  base::Time next_;
  std::optional<std::uint64_t> ask_;      // open, and not begun
  std::optional<std::uint64_t> written_;  // open, its writes are under way
  std::uint32_t writing_ = 0;             // writes under way
  Effort effort_;                         // of the ended ones
  Published sum_;
};

}  // namespace ostraka::dht
