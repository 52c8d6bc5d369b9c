// The gate of a seal: between the fast path and the slow path (docs/seal.md, 3).
//
// Members end the wait of a phase at different times: some hold every entry, others run into their
// deadline. A slow path that counted from the own ECHO would then run at different times too, and
// two quorums could decide differently [three liars of eight forked a seal so]. So its clock starts
// from an event that all honest members see within one message delay:
//   G1  CLOSE = "I echo nothing more in this seal", signed, said 2 Delta after the own ECHO by a
//       member that has not decided.
//   G2  The gate is open for a member that holds CLOSE of Q members that are awake. It passes, and
//       forwards these Q frames to all at once, so the others pass at most a message delay later.
//   G3  A member that passes while it still waits echoes what it holds. A member that opens the
//       seal and finds the gate passed echoes nothing at all.
//
// Why no honest message is left out: Q closers include an honest one, which waited 2 Delta after an
// ECHO that was complete or had its deadline. An attacker can open the gate no earlier than that,
// and can keep it shut for nobody: all honest members close, and they are Q.
//
// This class holds the CLOSEs; the Seal says, forwards and asks. It knows no time.
//
// Invariants: only members that are awake are closers (1); passed() never becomes false again (2).
// Memory: one frame for each member that is awake.
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

  // A verified CLOSE. True iff it is the sender's first and the sender is awake.
  bool Add(const PeerId& sender, base::SharedBytes frame);

  bool passed() const { return closers_.size() >= quorum_; }
  bool empty() const { return closers_.empty(); }
  bool HasClosed(const PeerId& member) const { return closers_.contains(member); }
  const Signers& closers() const { return closers_; }
  std::size_t quorum() const { return quorum_; }
  // Members awake whose CLOSE is not here, by key.
  std::vector<PeerId> Lacking() const;
  // CLOSEs of Q members, by key, without the one of `self`. REQUIRES: passed().
  std::vector<base::SharedBytes> FramesToForward(const PeerId& self) const;

 private:
  std::vector<PeerId> awake_;
  std::size_t quorum_;
  Signers closers_;
};

}  // namespace ostraka::protocol
