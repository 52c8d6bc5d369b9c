// What a member keeps beyond a step, and a step reads and writes: what it may be asked, what it
// knows of others, and what it owes. Handed by reference, as Core is.
//
// Promises: those of its members.
//
// Memory: that of its members.
//
// What an attacker can do here: see the members.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>

#include "crypto/hash_into.h"
#include "node/protocol/lasting/chain_server.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/duties.h"
#include "node/protocol/lasting/duty_jobs.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/lasting/past_seals.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/lasting/slowness_notice.h"
#include "node/protocol/mail/ration.h"
#include "node/protocol/watch/fork_watch.h"

namespace ostraka::protocol {

struct MemberState {
  // `guest_bytes_a_second`: Ration's.
  MemberState(Core& core, std::uint64_t guest_bytes_a_second);
  MemberState(const MemberState&) = delete;  // its members point at each other
  MemberState& operator=(const MemberState&) = delete;
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  Ration ration;
  ChainServer server;
  Charges charges;
  Reports reports;
  Duties duties;
  DutyJobs duty_jobs;
  Followers followers;
  PastSeals past_seals;
  ForkWatch fork_watch;
  SlownessNotice pace;

  // `keys`: how many the run can have.
  void CheckInvariants(std::size_t keys) const;
};

}  // namespace ostraka::protocol
