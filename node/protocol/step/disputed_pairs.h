// The pairs of a worker and an owner that failed each other before and meet in this step
// (node/protocol/rules/disputes.h). What they owe each other goes to all members; a member that
// holds it in time passes it on, and states in its PROOF that it held it.
//
// Promises:
//   D1  A part or result is passed on at most once, and only until `forward_until`.
//   D2  Only what its owner can take in counts as held: a copy with a false header, in time, would
//       make the owner pay for what came to it late.
//       Exception: a part under the first of two COMMITs counts, though its owner refuses it. Both
//       COMMITs are evidence, which the owner's PROOF carries, and a pair with a banned worker has
//       no loser (disputes.cpp).
//
// May not know: seals, jobs, or how a dispute ends.
//
// Memory: a few figures for each live pair (wire::kMaxDisputes).
//
// What an attacker can do here: have its part passed on once by each member.
//
// Thread safety: none; one owner.
#pragma once

#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/parts/chain_server.h"
#include "node/protocol/rules/disputes.h"
#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

class DisputedPairs {
 public:
  struct Uses {
    PeerId self;
    const Turn* turn;
    const Chain* chain;
    const Inbox* inbox;
    ChainServer* server;
  };
  DisputedPairs(Uses uses, const StepFacts* facts);
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, pairs_, forward_until_, parts_, results_, spoilt_);
  }
  friend struct FingerprintProbe;

  const std::vector<LivePair>& all() const { return pairs_; }
  // The part goes from its worker to all members, and not to its owner alone.
  bool IsPublic(const PeerId& worker, std::uint32_t column) const;
  // A request of `asker` for a part that this member passed on to it.
  bool Owes(const PeerId& asker, const PeerId& worker, std::uint32_t column) const;

  // What comes later is not passed on.
  void ForwardUntil(Time until) { forward_until_ = until; }
  Time forward_until() const { return forward_until_; }
  // Passes on parts that are held now. Rationale: whether the own column is complete does not
  // matter, as others may lack what comes late.
  void ForwardParts();
  // The same for the result of `pair`, which the caller holds.
  void ForwardResults(const std::vector<SharedBlob>& results);
  // The part of the pair of that index is held in time, or can be passed on.
  bool HasPart(std::size_t index);

  // Of pairs, by index in the head's disputes: what was passed on.
  const std::set<std::size_t>& parts() const { return parts_; }
  const std::set<std::size_t>& results() const { return results_; }
  void CheckInvariants() const;  // aborts if D2 is broken, or a party passed something on

 private:
  bool CanPassOn(const LivePair& pair);
  bool IsParty(const LivePair& pair) const {
    return pair.worker == uses_.self || pair.aggregator == uses_.self;
  }
  const Inbox::Item* Commit(const LivePair& pair) const;
  const Inbox::Item* Part(const LivePair& pair) const;

  Uses uses_;
  const StepFacts* facts_;
  std::vector<LivePair> pairs_;
  Time forward_until_;
  std::set<std::size_t> parts_, results_;
  std::set<std::size_t> spoilt_;  // parts that no member may take in
};

}  // namespace ostraka::protocol
