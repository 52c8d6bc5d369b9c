// Members of the run that are away: which of them watch it, and which ask to come back.
//
// Promises:
//   F1  A follower is kept while it asks for something now and then, and at most `stay` after that.
//   F2  A REJOIN is confirmed only if it names one of the kRejoinBlocks newest blocks, and the last
//       block lets its sender come back.
//
// May not know: why a member is away, or what is sent to it.
//
// Memory: a time and a digest for each key of the manifest; the caller lets in no other.
//
// What an attacker can do here: follow for ever, which costs each member a block a step.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
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
    for (const auto& [peer, asked] : since_) crypto::Feed(hasher, peer, asked.at, asked.step);
    crypto::Feed(hasher, since_.size(), rejoins_);
  }
  friend struct FingerprintProbe;

  // Asked to follow, in `step` of the run.
  void Note(const PeerId& peer, base::Time now, std::uint64_t step) { since_[peer] = {now, step}; }
  // A follower may wait for a step that lasts longer than a watcher that asks for nothing is kept.
  void OnAsked(const PeerId& peer, base::Time now);
  void Remove(const PeerId& peer) { since_.erase(peer); }
  bool Contains(const PeerId& peer) const { return since_.contains(peer); }
  std::vector<PeerId> all() const;
  // The members, and the followers that are none. REQUIRES: `members` is sorted.
  std::vector<PeerId> Audience(const std::vector<PeerId>& members) const;

  // `peer` asks to come back, and has followed as far as the block of that digest.
  void OnRejoin(const PeerId& peer, const base::Digest& block, base::Time now, std::uint64_t step);
  bool HasRejoin(const PeerId& peer, const base::Digest& block) const;
  // Whose return the PROOF of `step` confirms.
  std::vector<PeerId> JoinsToConfirm(const wire::Block& head, std::uint64_t step,
                                     const RecentBlocks& recent) const;

  // The head names the members: whoever is one of them is away no more.
  void OnHead(const std::vector<PeerId>& members);
  // Followers that have asked for nothing for `stay` are gone. A member at work, whose COMMIT
  // `step` sealed, follows no more, unless it asked in that step or the step before: then it may
  // have lost its store since, and follows until it is dropped [forgotten as a member, it asked
  // nobody again to let it follow, and the run ended without it].
  void Expire(const std::map<PeerId, base::Digest>& commits, std::uint64_t step, base::Time now,
              base::Duration stay);

  std::size_t size() const { return since_.size(); }
  void CheckInvariants(std::size_t keys) const;

 private:
  struct Asked {
    base::Time at;           // for anything, last
    std::uint64_t step = 0;  // in which it asked to follow
  };
  std::map<PeerId, Asked> since_;
  std::map<PeerId, base::Digest> rejoins_;  // by sender: the block that its REJOIN names
};

}  // namespace ostraka::protocol
