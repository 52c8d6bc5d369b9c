// The parts that one member is made of and that its classes share (node/protocol/parts): each is
// owned here, constructed once, and knows no more than the parts before it. A plain aggregate: what
// is done with them is in peer_machine.cpp and intake.cpp.
#pragma once

#include <memory>

#include "crypto/hash_into.h"
#include "node/protocol/mail/post.h"
#include "node/protocol/mail/signature_check.h"
#include "node/protocol/member/peer.h"
#include "node/protocol/parts/chain_server.h"
#include "node/protocol/parts/charges.h"
#include "node/protocol/parts/duty_jobs.h"
#include "node/protocol/parts/followers.h"
#include "node/protocol/parts/genesis_seal.h"
#include "node/protocol/parts/own_pace.h"
#include "node/protocol/parts/past_seals.h"
#include "node/protocol/parts/reports.h"
#include "node/protocol/parts/stage.h"

namespace ostraka::protocol {

struct Parts {
  explicit Parts(PeerOptions& options);
  Parts(const Parts&) = delete;  // they point at each other
  Parts& operator=(const Parts&) = delete;
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  const PeerId self;
  const std::shared_ptr<const Manifest> manifest;
  const base::TensorLayout layout;
  Turn turn;
  StageNow stage;
  const std::unique_ptr<Secrets> secrets;
  Journal journal;
  Voice voice;
  JobDesk jobs;
  Chain chain;
  Inbox inbox;
  GenesisSeal genesis;
  Ration ration;
  SignatureCheck check;
  ChainServer server;
  Charges charges;
  Reports reports;
  Duties duties;
  DutyJobs duty_jobs;
  Followers followers;
  PastSeals past_seals;
  ForkWatch fork_watch;
  OwnPace pace;
  Post post;
  const bool routes;  // false: the driver routes what this machine sends

  void CheckInvariants() const;
};

}  // namespace ostraka::protocol
