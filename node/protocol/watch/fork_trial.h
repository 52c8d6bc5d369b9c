// ForkTrial finds the members that made the run split: those whose own messages in the seal that
// was decided twice break the rules, as far as the messages at hand show it
// (docs/protocol/network.md).
//
// Two decisions need more faulty members than the mode bears, each of which signed for both sides.
// But only some pairs of messages convict. An honest member may LOCK w in iteration 1, see a quorum
// vote for v in iteration 2 without its own vote, and LOCK v: two LOCKs of two iterations are no
// fault. So the trial looks for pairs that proofs/evidence accepts and no honest member signs: two
// messages of one slot; a VOTE or STATUS that passes over an own LOCK; a STATUS that names another
// value than the own ECHO.
//
// Promises [C: CHECKed by CheckInvariants]:
//   T1  Each culprit has an evidence file, verified when it was made, that holds only its own
//       signatures. Messages of other members, of a side or of this node do not count in it.
//   T2  A culprit was unmuted in the seal and is not `self`; it is never taken back. [C: the first
//       half]
//
// Limit: a VOTE states the rank of its proposal, and the absence of such a certificate cannot be
// proven. A member that lies in that number and hides its other messages stays unnamed.
//
// May not know: the network, stores, people.
//
// Memory: SealTranscript of one seal, both proofs, and a file for each culprit.
//
// What an attacker can do here: nothing against others, since files hold the culprit's own
// signatures. It can fill its own room in SealTranscript.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/bytes.h"
#include "node/protocol/seal/seal_transcript.h"
#include "node/protocol/watch/fork_watch.h"

namespace ostraka::protocol {

struct Culprit {
  base::Bytes file;    // evidence that proves it
  std::string reason;  // what the file shows, for people
  void HashInto(crypto::Hasher& hasher) const;
};
using Culprits = std::map<base::PeerId, Culprit>;

class ForkTrial {
 public:
  // `self` is never accused: if its key signs elsewhere, others find it.
  ForkTrial(Fork fork, const base::PeerId& self);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  const SealKey& seal() const { return fork_.seal; }
  // True iff `message` belongs to the seal and names the parent that both sides share, its sender
  // was unmuted in the seal, and it is not held. Does not check the signature.
  bool IsNews(const wire::SignedEnvelope& message) const;
  // The signer as a culprit, if this message convicts it and none did before; else null. REQUIRES:
  // IsNews, and the signature verified.
  const Culprit* Hear(const wire::SignedEnvelope& message);

  const Culprits& culprits() const { return culprits_; }
  // What others need to reach these findings: both proofs, then all other messages held.
  std::vector<base::SharedBytes> Frames() const;
  // One line for people: what happened, the culprits and why, or why none is named.
  std::string Line() const;
  void CheckInvariants() const;  // aborts if T2 is broken

 private:
  const Culprit* Judge(const wire::SignedEnvelope& message);

  Fork fork_;
  base::PeerId self_;
  SealTranscript messages_;
  Culprits culprits_;
};

}  // namespace ostraka::protocol
