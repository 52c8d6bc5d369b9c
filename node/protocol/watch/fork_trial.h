// Who made the run split: every member whose own words in the seal that was decided twice break the
// rules, as far as the words at hand show it (docs/protocol.md, 8).
//
// Two decisions need more members at fault than the mode bears, and each of these signed for both
// sides; but only some pairs of words convict. An honest member may LOCK w in iteration 1, see a
// quorum vote for v in iteration 2 without its own vote, and LOCK v: two LOCKs of two iterations
// are no fault. So what is looked for is what proofs/evidence accepts and no honest member signs:
// two words of one slot, a VOTE or STATUS that passes over an own LOCK, a STATUS that names another
// ECHO than the own one. Each accusation is such a file, verified when it is made: no word of other
// members, of a side or of this node counts in it.
//
// Who stays unnamed. A VOTE states the rank of the proposal that it is for, and nobody can prove
// that there was no such certificate: whoever lies in that number and hides its other words is not
// named here.
//
// What an attacker can do: nothing against others, since files hold the accused's own signatures.
// It can fill its own room in SealWords.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/base/bytes.h"
#include "node/protocol/seal/seal_words.h"
#include "node/protocol/watch/fork_watch.h"

namespace ostraka::protocol {

struct Culprit {
  base::Bytes file;    // evidence that proves it
  std::string reason;  // what the file shows, in a few words
};
using Culprits = std::map<base::PeerId, Culprit>;

class ForkTrial {
 public:
  // `self` is never accused: its key may speak elsewhere, and that is for others to find.
  ForkTrial(Fork fork, const base::PeerId& self);

  const SealKey& seal() const { return fork_.seal; }
  // A word of that seal, with the entry that both sides share, of a member that was awake in it,
  // and not held. Its signature is not looked at.
  bool IsNews(const wire::SignedEnvelope& message) const;
  // The culprit that it makes of its signer, if it was none before. REQUIRES: IsNews, and the
  // signature verified.
  const Culprit* Hear(const wire::SignedEnvelope& message);

  const Culprits& culprits() const { return culprits_; }
  // What others need to find the same: both proofs, then all words that are held.
  std::vector<base::SharedBytes> Frames() const;
  // One line for people: what happened, who is named and for what, or why nobody is.
  std::string Line() const;

 private:
  const Culprit* Judge(const wire::SignedEnvelope& message);

  Fork fork_;
  base::PeerId self_;
  SealWords words_;
  Culprits culprits_;
};

}  // namespace ostraka::protocol
