// The run is over for this member, or it has left the run, and it stays for those that may need it.
//
// A member that finishes cannot know that the others have. Attack: colluders speak in the last seal
// to some honest members alone; these decide it, and the others need their certificate. So each
// member says one COMMIT more, which names the last block, and stays until every other member has
// said its own, or has said that it follows and lacks nothing. A member that left with a block
// stays until the others' COMMITs of the next step show that they have decided it.
//
// Promises:
//   Z1  It ends no wait of any other member: nothing is decided here, only passed on.
//   Z2  The member stays for a bounded time (stay.h).
//   Z3  A ban of the last block gets its file (Charges, C4): no step follows whose seal A would
//       bring it, so the last COMMITs prove it as soon as enough are here.
//   Z4  Who left because an earlier process had said so follows the run afterwards. [A second
//       Ctrl-C stopped a node before the run had let it go. Started again, it worked, left a step
//       later, and ended, though nobody had asked it to.]
//
// May not know: seals in progress, jobs, or why a member lacks something.
//
// Memory: that of Stay.
//
// What an attacker can do here: not say that it has finished (stay.h).
//
// Thread safety: none; one owner.
#pragma once

#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/lasting/chain.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/lasting/outcome.h"
#include "node/protocol/lasting/stay.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/mail/voice.h"

namespace ostraka::protocol {

class Ending {
 public:
  Ending(Core& core, const Followers& followers, Charges& charges)
      : core_(core), followers_(followers), charges_(charges) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // From the start of the process on.
  void OnLink(const PeerId& peer, bool up) { stay_.OnLink(core_.turn.now(), peer, up); }
  // A link changed at the end: the member may stay longer for it, or no more. REQUIRES: begun.
  Outcome Rearm(const PeerId& peer);

  // The member is at the last block, or at the block with which it left. REQUIRES: not begun.
  Outcome Begin();
  // --- REQUIRES: begun; what they return may end it, and it is not begun then ---
  Outcome OnTimer();
  // The inbox has taken in a COMMIT of `sender` of the step after the last block.
  Outcome OnCommit(const PeerId& sender);
  // `peer` follows, and lacks nothing.
  Outcome OnFinished(const PeerId& peer);
  // `peer` follows, and lacks something. Who left has others to serve it.
  void StayFor(const PeerId& peer);
  std::vector<PeerId> Others() const { return stay_.Others(); }
  void CheckInvariants() const { stay_.CheckInvariants(); }  // Z2

 private:
  bool HasFinished(const PeerId& member) const;
  void SayLastCommit();
  void StayForMembers();
  void StayForFollowers();
  void ProveBlock(bool at_the_end);
  Outcome HaltIfAllFinished();
  Outcome End();

  Core& core_;
  const Followers& followers_;
  Charges& charges_;
  Stay stay_;
  std::optional<Digest> last_block_;  // once begun
  bool is_proven_ = false;
};

}  // namespace ostraka::protocol
