// What the tests of whole members reach of a PeerMachine (see tests/unit/protocol/fingerprint.h).
#pragma once

#include <utility>

#include "node/protocol/member/peer_machine.h"

namespace ostraka::protocol {

struct FingerprintProbe {
  // The fingerprint without what a refused message may change: the rations, where it is counted,
  // and the gate's notes of members that are ahead, of what they show as the next block and of
  // links whose parts found no room.
  static Digest WithoutNotes(Machine& machine) {
    auto& peer = static_cast<PeerMachine&>(machine);
    Gate& gate = peer.intake_.gate_;
    auto used = std::exchange(peer.components_.ration.used_, {});
    auto owed = std::exchange(peer.components_.ration.guests_.owes_until_, {});
    auto ahead = std::exchange(gate.ahead_, {});
    auto next = std::exchange(gate.next_, {});
    auto refused = std::exchange(gate.refused_early_, {});
    const Digest fingerprint = peer.Fingerprint();
    peer.components_.ration.used_ = std::move(used);
    peer.components_.ration.guests_.owes_until_ = std::move(owed);
    gate.ahead_ = std::move(ahead);
    gate.next_ = std::move(next);
    gate.refused_early_ = std::move(refused);
    return fingerprint;
  }
  static void OfParts(PeerMachine& machine);
  static void OfMember(PeerMachine& machine);
};

}  // namespace ostraka::protocol
