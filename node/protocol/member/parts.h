// The parts that one member is made of (node/protocol/parts): each is owned here, constructed once,
// and knows no more than the parts before it. A plain aggregate: what is done with them is in
// peer_machine.cpp and intake.cpp.
#pragma once

#include "crypto/hash_into.h"
#include "node/protocol/mail/post.h"
#include "node/protocol/mail/signature_check.h"
#include "node/protocol/member/peer.h"
#include "node/protocol/parts/core.h"
#include "node/protocol/parts/genesis_seal.h"
#include "node/protocol/parts/member_state.h"
#include "node/protocol/parts/stage.h"

namespace ostraka::protocol {

struct Parts : Core, MemberState {
  explicit Parts(PeerOptions& options);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  StageNow stage;
  GenesisSeal genesis;
  SignatureCheck check;
  Post post;
  const bool routes;  // false: the driver routes what this machine sends

  void CheckInvariants() const;
};

}  // namespace ostraka::protocol
