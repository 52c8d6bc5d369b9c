// The components that one member is made of (node/protocol/lasting): each is owned here,
// constructed once, and knows no more than those before it. A plain aggregate: what is done with
// them is in peer_machine.cpp and intake.cpp.
#pragma once

#include "crypto/hash_into.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/genesis_seal.h"
#include "node/protocol/lasting/member_state.h"
#include "node/protocol/lasting/stage.h"
#include "node/protocol/mail/post.h"
#include "node/protocol/mail/signature_check.h"
#include "node/protocol/member/peer.h"

namespace ostraka::protocol {

struct Components : Core, MemberState {
  explicit Components(PeerOptions& options);
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
