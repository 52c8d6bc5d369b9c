// The files with which this member proves the faults that it sees (proofs/evidence), and what each
// of its PROOFs shows of them.
//
// Promises:
//   C1  A file is stored at once. Show stores none of a member of which one is shown.
//   C2  Of each member at most one file is shown, in every PROOF until a block bans its subject. A
//       file that a PROOF cannot carry is stored and does not take the place of a shorter one: such
//       files are one a slot, as the first rival of a slot alone is looked at.
//   C3  No file is made against this member's own key: that is for others to find.
//   C4  Judges of a file are members of the genesis where these suffice, so that the manifest is
//       enough to verify it; else those of the newest handover (handovers.h).
//   C5  A ban by verdict gets a file even if no member says anything more: the votes prove it until
//       the COMMITs of the next step do (sealed_ban).
//
// May not know: seals in progress, links, time. Its findings end no wait and remove nobody; only
// what is sealed does.
//
// Memory: one file (at most wire::kMaxEvidenceBytes) a member shown, one a verdict of the last
// block, and the PROOFs that VoteRecord shares.
//
// What an attacker can do here: have one file a faulty key made and stored for each kind of fault
// that it commits.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/lasting/handovers.h"
#include "node/protocol/lasting/vote_record.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/mail/journal.h"
#include "node/protocol/rules/columns.h"

namespace ostraka::protocol {

class Charges {
 public:
  Charges(const PeerId& self, std::shared_ptr<const Manifest> manifest, Journal& journal)
      : self_(self),
        manifest_(std::move(manifest)),
        journal_(journal),
        handovers_(*manifest_, journal) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // Stores a file; nothing if none could be made. Not every fault has a file: a message may be bad
  // only against messages of others. Then the block that bans is the proof (ProveBlock).
  void Keep(const base::StatusOr<Bytes>& made);
  // Stores a file and shows it in this member's PROOFs.
  void Show(const PeerId& accused, base::StatusOr<Bytes> made);

  // Two messages of one slot. REQUIRES: both are verified.
  void ShowEquivocation(const Inbox::Item& item);
  // A VOTE of `message`'s signer that passes over a LOCK of an iteration before, whichever came
  // first. True if one was found among the messages that `inbox` holds.
  bool FindBrokenLock(const Inbox& inbox, const wire::SignedEnvelope& message);
  // PROOFs whose numbers cannot be: `proofs` are those of `sealed`, signed.
  void ProveImpossibleNumbers(const SealedStep& sealed, const Block& head,
                              const std::map<PeerId, wire::SharedMessage>& proofs);
  // Whether COMMITs of these members prove all of `head` that ProveBlock can prove.
  bool AreEnough(const Block& head, const std::vector<PeerId>& signers) const;
  // Bans of `head`, and who its members are, proven by COMMITs of the next step that build on it.
  void ProveBlock(const Block& head, const std::vector<SharedBytes>& commits);
  // The newest handover of this store, before anything else.
  base::Status Restore(const Record& handover) { return handovers_.Restore(handover); }
  // The votes of a sealed step in the cases of `head`; of the bans of `block`, the step's outcome,
  // those that are verdicts, as far as votes prove them.
  void TakeVotes(const SealedStep& sealed, const std::map<PeerId, wire::SharedMessage>& proofs,
                 const Block& head, const Block& block);
  // Stores the verdicts that wait for a sealed_ban: none will come, or nobody knows whether one
  // will.
  void StoreVerdicts();
  // A block bans `member`: nothing more is shown against it.
  void OnBan(const PeerId& member) { shown_.erase(member); }

  bool Against(const PeerId& member) const { return shown_.contains(member); }
  // At most wire::kMaxInlineEvidence files, in the order of the accused.
  std::vector<Bytes> ForProof() const;

  void CheckInvariants() const;

 private:
  // What `make` makes with the members of the genesis as judges, else with those of the view.
  template <typename Make>
  base::StatusOr<Bytes> ByJudges(const Make& make) const;

  PeerId self_;
  std::shared_ptr<const Manifest> manifest_;
  Journal& journal_;
  Handovers handovers_;
  std::map<PeerId, Bytes> shown_;
  VoteRecord votes_;                  // in cases that are open
  std::map<PeerId, Bytes> verdicts_;  // of the last block's bans, until they are stored
};

}  // namespace ostraka::protocol
