// The gate of a seal, between its fast path and its slow path (docs/seal.md, 3).
//
// Members end the wait of a phase at different times: some hold every entry, others reach their
// deadline. A slow path that counted from the own ECHO would start at different times too, and two
// quorums could decide differently. Attack: three liars of eight forked a seal in this way. So the
// slow path's clock starts from an event that all honest members see within one message delay:
//   G1  CLOSE means "I echo nothing more in this seal". A member that has not decided signs it 2
//       Delta after its own ECHO, or with it after a deadline (CloseTime::kWithEcho).
//   G2  The gate opens for a member that holds CLOSEs of Q unmuted members. The member passes, and
//       forwards these Q frames to all at once, so the others pass at most a message delay later.
//   G3  A member that passes while it still waits echoes what it holds. A member that finds the
//       gate passed when it opens the seal echoes nothing.
//
// SealGate holds the CLOSEs, and whether this member has passed. The Seal signs, forwards and asks
// for them.
//
// Promises [C: CHECKed]:
//   G4  Only unmuted members are closers, each with its first CLOSE. [C: the first half]
//   G5  open() and passed() never become false again; passed() implies open(). [C: the implication]
//
// May not know: time, ECHOs, whether the seal is decided. (A member that has decided passes no
// gate.)
//
// Memory: one frame of each unmuted member.
//
// What an attacker can do here: nothing that leaves out an honest message. It cannot open the gate
// before honest messages have come: Q closers include an honest one, which had waited for its
// deadline, or for 2 Delta after it held everything. Nor can it keep the gate shut: all honest
// members close, and they are Q.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/protocol/seal/seal_ballots.h"

namespace ostraka::protocol {

class SealGate {
 public:
  // REQUIRES: 0 < quorum; `unmuted` by key.
  SealGate(std::vector<PeerId> unmuted, std::size_t quorum);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // `frame` is a verified CLOSE. True iff it is the sender's first and the sender is unmuted.
  bool Add(const PeerId& sender, base::SharedBytes frame);
  // This member passes. REQUIRES: open().
  void Pass();

  bool open() const { return closers_.size() >= quorum_; }
  bool passed() const { return passed_; }
  bool empty() const { return closers_.empty(); }
  const Signers& closers() const { return closers_; }
  // Null if the CLOSE of `member` has not come.
  const base::SharedBytes* FrameOf(const PeerId& member) const;
  std::size_t quorum() const { return quorum_; }
  // Unmuted members whose CLOSE has not come, by key.
  std::vector<PeerId> Lacking() const;
  // CLOSEs of the first Q closers by key, without that of `self`. REQUIRES: open().
  std::vector<base::SharedBytes> FramesToForward(const PeerId& self) const;
  void CheckInvariants() const;  // aborts if G4 or G5 is broken

 private:
  const std::vector<PeerId> unmuted_;
  const std::size_t quorum_;
  Signers closers_;
  bool passed_ = false;
};

}  // namespace ostraka::protocol
