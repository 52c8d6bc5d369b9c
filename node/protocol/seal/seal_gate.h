// The gate of a seal, between its fast path and its slow path (docs/seal.md, 3).
//
// Members end the wait of a phase at different times: some hold every entry, others reach their
// deadline. A slow path that counted from the own ECHO would start at different times too, and two
// quorums could decide differently. Attack: three liars of eight forked a seal in this way. So the
// slow path's clock starts from an event that all honest members see within one message delay:
//   G1  CLOSE means "I echo nothing more in this seal". A member that has not decided signs it 2
//       Delta after its own ECHO.
//   G2  The gate opens for a member that holds CLOSEs of Q awake members. The member passes, and
//       forwards these Q frames to all at once, so the others pass at most a message delay later.
//   G3  A member that passes while it still waits echoes what it holds. A member that finds the
//       gate passed when it opens the seal echoes nothing.
//
// SealGate holds the CLOSEs. The Seal says, forwards and asks for them; the gate knows no time.
//
// Invariants [C: CHECKed]
//   1  Only awake members are closers, each with its first CLOSE. [C: the first half]
//   2  passed() never becomes false again: frames are only added.
//
// Memory: one frame of each awake member.
//
// What an attacker can do: nothing that leaves out an honest message. Q closers include an honest
// one, which waited 2 Delta after an ECHO that was complete or had reached its deadline; the gate
// opens no earlier. Nor can it keep the gate shut: all honest members close, and they are Q.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/protocol/seal/seal_ballots.h"

namespace ostraka::protocol {

class SealGate {
 public:
  // REQUIRES: 0 < quorum; `awake` by key.
  SealGate(std::vector<PeerId> awake, std::size_t quorum);

  // `frame` is a verified CLOSE. True iff it is the sender's first and the sender is awake.
  bool Add(const PeerId& sender, base::SharedBytes frame);

  bool passed() const { return closers_.size() >= quorum_; }
  bool empty() const { return closers_.empty(); }
  bool HasClosed(const PeerId& member) const { return closers_.contains(member); }
  const Signers& closers() const { return closers_; }
  std::size_t quorum() const { return quorum_; }
  // Awake members whose CLOSE has not come, by key.
  std::vector<PeerId> Lacking() const;
  // CLOSEs of the first Q closers by key, without that of `self`. REQUIRES: passed().
  std::vector<base::SharedBytes> FramesToForward(const PeerId& self) const;
  void CheckInvariants() const;  // aborts if invariant 1 is broken

 private:
  std::vector<PeerId> awake_;
  std::size_t quorum_;
  Signers closers_;
};

}  // namespace ostraka::protocol
