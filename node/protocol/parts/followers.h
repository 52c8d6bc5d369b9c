// Members of the run that are away: which of them watch it, and which ask to come back.
//
// Promises:
//   F1  A follower is kept while it asks now and then, and at most `stay` after that; or until it
//       works as a member again.
//   F2  A key that the head bans follows no more.
//   F3  A REJOIN is confirmed only if it names one of the kRejoinBlocks newest blocks, and the last
//       block lets its sender come back. Of two REJOINs of a sender that of the higher step counts.
//
// May not know: why a member is away, or what is sent to it.
//
// Memory: a time, three numbers and a digest for each key of the manifest; the caller lets in no
// other.
//
// What an attacker can do here: follow for ever, which costs each member a block a step.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/time.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/sync/recent_blocks.h"

namespace ostraka::protocol {

class Followers {
 public:
  // A REJOIN travels while the run goes on.
  static constexpr std::uint64_t kRejoinBlocks = 8;

  void HashInto(crypto::Hasher& hasher) const {
    for (const auto& [peer, asked] : asked_) {
      crypto::Feed(hasher, peer, asked.at, asked.step, asked.has);
    }
    crypto::Feed(hasher, asked_.size(), rejoins_);
  }
  friend struct FingerprintProbe;

  // Asked to follow, in `step` of the run, and has the block of height `has`. Nullopt: what it has
  // is somebody else's word, so it stays what it was. Attack: a carrier says in the name of a
  // follower that it lacks nothing, and nobody stays for it at the end of the run.
  void Note(const PeerId& peer, base::Time now, std::uint64_t step,
            std::optional<std::uint64_t> has) {
    Asked& asked = asked_[peer];
    asked = {now, step, has.value_or(asked.has)};
  }
  // A follower may wait for a step that lasts longer than a watcher that asks for nothing is kept.
  void OnAsked(const PeerId& peer, base::Time now);
  void Remove(const PeerId& peer) { asked_.erase(peer); }
  bool Contains(const PeerId& peer) const { return asked_.contains(peer); }
  // By its own word: one that lies harms itself alone.
  bool Has(const PeerId& peer, std::uint64_t height) const;
  std::vector<PeerId> all() const;
  // Who is sent what `head` has members say: these, those that left with it, which stay until they
  // see that all others have it (node/protocol/member/ending.h), and the followers that are
  // neither.
  std::vector<PeerId> Audience(const wire::Block& head) const;

  // `peer` asked in step `asked_in` to come back, and had followed as far as the block of that
  // digest. REQUIRES: !HasRejoin.
  void OnRejoin(const PeerId& peer, std::uint64_t asked_in, const base::Digest& block,
                base::Time now, std::uint64_t step);
  // Its REJOIN of that step, or a newer one, is held. [A carrier showed the old one again after
  // each new one, which then was not confirmed.]
  bool HasRejoin(const PeerId& peer, std::uint64_t asked_in) const;
  // Whose return the PROOF of `step` confirms.
  std::vector<PeerId> JoinsToConfirm(const wire::Block& head, std::uint64_t step,
                                     const RecentBlocks& recent) const;

  // A member of the head asks to come back no more, and a key that it bans is forgotten.
  void OnHead(const wire::Block& head);
  // Forgets followers that have asked for nothing for `stay`, and members at work: those whose
  // COMMIT `step` sealed. A COMMIT that was signed before a loss of the store can still be sealed
  // in the step in which its signer asks to follow and in the next one, so it proves no work there
  // [a member that lost its store was forgotten by such a COMMIT, and the run ended without it].
  void Expire(const std::map<PeerId, base::Digest>& commits, std::uint64_t step, base::Time now,
              base::Duration stay);

  std::size_t size() const { return asked_.size(); }
  void CheckInvariants(std::size_t keys) const;

 private:
  struct Asked {
    base::Time at;           // last: to follow, to come back, or for the head
    std::uint64_t step = 0;  // in which it asked to follow
    std::uint64_t has = 0;   // height of the newest block that it had then
  };
  std::map<PeerId, Asked> asked_;
  struct Rejoin {
    std::uint64_t asked_in = 0;  // its step
    base::Digest block;          // that it names
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, asked_in, block); }
  };
  std::map<PeerId, Rejoin> rejoins_;  // by sender: its newest
};

}  // namespace ostraka::protocol
