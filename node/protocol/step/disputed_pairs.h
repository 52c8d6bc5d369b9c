// Pairs of a worker and a column owner with an open dispute (one of them did not deliver to the
// other, node/protocol/rules/disputes.h) that have to exchange data in this step. They send that
// data to all members. A member that gets it in time forwards it to the other side, and states in
// its PROOF that it did.
//
// Promises:
//   D1  This member forwards a part or a result at most once of its own accord, and only until
//       `forward_until`. It sends a part again only on request (MustResend).
//   D2  A part is judged once, when it and its COMMIT are held. Only a part that its owner can
//       accept (part_check.h) is forwarded or counts as held. Attack: otherwise a copy with a false
//       header that came in time would put the blame on an owner that got the good copy late.
//       Exception: a part under the first of two COMMITs counts, though its owner may refuse it.
//       Both COMMITs are evidence, which the owner's PROOF carries, and a pair with a banned worker
//       is closed without blaming either (node/protocol/rules/disputes.cpp).
//       What a ration had no room for was not forwarded, and is not stated to be.
//   D3  A party to a pair judges and forwards nothing of that pair.
//
// May not know: seals, jobs, or how a dispute ends.
//
// Memory: a few integers for each live pair (wire::kMaxDisputes).
//
// What an attacker can do here: have its part forwarded once by each member.
//
// Thread safety: none; one owner.
#pragma once

#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/lasting/chain_server.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/rules/disputes.h"
#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

class DisputedPairs {
 public:
  DisputedPairs(const Core& core, ChainServer& server, const StepFacts& facts);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  const std::vector<LivePair>& all() const { return pairs_; }
  // The part goes from its worker to all members, and not to its owner alone.
  bool IsPublic(const PeerId& worker, std::uint32_t column) const;
  // `asker` may request this part again: this member forwarded it to it.
  bool MustResend(const PeerId& asker, const PeerId& worker, std::uint32_t column) const;

  // Data that comes later is not forwarded.
  void ForwardUntil(Time until) { forward_until_ = until; }
  Time forward_until() const { return forward_until_; }
  // Judges the parts that have come with their COMMITs since the last call.
  void JudgeParts();
  // Forwards the good parts, each with its COMMIT. This goes on when this member's own column is
  // complete: others may still lack a part.
  void ForwardParts();
  // Forwards the results of disputed columns. `results`: by column, null if not held here.
  void ForwardResults(const std::vector<SharedBlob>& results);
  // The part of the pair was judged good, whether it came in time or not. `index`: in the head's
  // disputes.
  bool HoldsGoodPart(std::size_t index) const { return good_.contains(index); }

  // Pairs of which this member forwarded the part or the result, by index in the head's disputes.
  const std::set<std::size_t>& forwarded_parts() const { return forwarded_parts_; }
  const std::set<std::size_t>& forwarded_results() const { return forwarded_results_; }
  // Aborts if a part that is not good was forwarded (D2), if a party judged or forwarded something
  // (D3), or if something was forwarded for a pair that does not live.
  void CheckInvariants() const;

 private:
  bool IsParty(const LivePair& pair) const {
    return pair.worker == core_.self || pair.aggregator == core_.self;
  }
  // This member is one of those that carry for the two (reach.h).
  bool IsCarrierOf(const PeerId& a, const PeerId& b) const;
  // The aggregator, and members without a link with the worker for which this one carries: all
  // honest members are to hold what one did, and more than the fault bound decide.
  std::vector<PeerId> PartGoesTo(const LivePair& pair) const;
  // To the worker; if this member can have no link with it, to all that can. They forward it in
  // their turn, so this member begins two Deltas before it would have to stop. False: no ration had
  // room for it, and it is tried again while that is of use.
  bool ForwardResult(const LivePair& pair);
  const Inbox::Version* Commit(const LivePair& pair) const;
  const Inbox::Version* Part(const LivePair& pair) const;

  const Core& core_;
  ChainServer& server_;
  const StepFacts& facts_;
  std::vector<LivePair> pairs_;
  Time forward_until_;
  std::set<std::size_t> good_, spoilt_;  // pairs whose part was judged
  std::set<std::size_t> forwarded_parts_, forwarded_results_;
};

}  // namespace ostraka::protocol
