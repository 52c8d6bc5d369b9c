// The signed PROOFs in which members vote in open cases: the proof of a verdict that needs no
// member to say anything more.
//
// Why beside a sealed_ban: that one rests on the COMMITs of the next step. After a ban that comes
// with many drops too few members are left to sign it, and none does if the run stops there. The
// votes were signed before (evidence kind verdict). They prove it to a stranger as long as more
// members of the genesis voted than the fault bound, so in each case that was decided while the
// membership was whole. In a membership that has lost members since, fewer votes decide, and all of
// them could be false. Then no signatures convince a stranger, whatever is kept.
//
// Promises:
//   V1  Votes of open cases alone are kept, of each voter in a case its first one; none of a case
//       that is over after ForgetAllBut. [C: CHECKed, the last part]
//   V2  A file that ProofAgainst returns was verified when it was made, and holds no vote of the
//       accused.
//
// May not know: how a verdict is reached, stores, other members' files.
//
// Memory: a vote for each member in each case of a block (kMaxCases); PROOFs are shared, not
// copied.
//
// What an attacker can do here: vote once in each case, as it may.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/wire/block.h"
#include "node/wire/hash_into.h"
#include "node/wire/messages.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

class VoteRecord {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // The first vote of `voter` in each case of `open` that its PROOF votes in.
  void Note(const base::PeerId& voter, const wire::SharedMessage& proof, const wire::Proof& body,
            const std::vector<wire::Case>& open);
  // A file that proves a verdict that bans `accused`; an error if the votes that are held are too
  // few. In a suspending case (KnownRun) votes of guilty do not count.
  base::StatusOr<base::Bytes> ProofAgainst(const base::PeerId& accused,
                                           const evidence::KnownRun& run) const;
  // Forgets cases that are over.
  void ForgetAllBut(const std::vector<wire::Case>& open);

  std::size_t case_count() const { return cases_.size(); }

 private:
  struct Ballot {
    wire::Verdict verdict = wire::Verdict::kAbstain;
    wire::SharedMessage proof;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, verdict, proof); }
  };
  std::map<wire::CaseId, std::map<base::PeerId, Ballot>> cases_;  // by voter
};

}  // namespace ostraka::protocol
