// The docket of a block: the peers that lose their membership in it, and why. Every rule adds to
// it.
//
// Promises [C: CHECKed when a pass ends]:
//   D1  A peer loses once, by its gravest fault; of equal faults the first one noted gives the
//       reason.
//   D2  Drops hit members only, bans and suspensions only peers in `may_be_banned`. [C]
//   D3  Stays() reflects completed passes only, so that the order of peers or messages within a
//       pass decides nothing. Answers() reflects the current pass too. [C: no peer is lost that has
//       no loss]
//
// May not know: the rules.
//
// Memory: one loss for each peer of its two lists.
//
// What an attacker can do here: nothing but through rules over sealed data, which are equal on all
// honest members.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "node/base/ids.h"
#include "node/wire/block.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;
using wire::Block;

// The cost of a fault, the gravest last.
enum class FaultKind : std::uint8_t {
  kDrop = 0,          // any other drop: absent at COMMIT, AGG or PROOF, slow, in dispute, ...
  kDropAtReveal = 1,  // sealed absent at REVEAL: silence after seeing the coin
  // Profile exact/1: a first false gradient or accusation, which damaged hardware may have made
  // (docs/protocol/removals.md). As a ban it hits former members too and is never forgiven as
  // untimely.
  kSuspend = 2,
  kBan = 3,  // proven by its own signatures, or voted
};

struct Fault {
  FaultKind kind = FaultKind::kBan;
  wire::Reason reason;
  bool operator==(const Fault&) const = default;
  void HashInto(crypto::Hasher& hasher) const;
};

// Faults that the seals themselves prove.
using SealedFaults = std::map<PeerId, Fault>;

// Notes a fault of `peer`: the gravest one stays, of equal ones the first.
void NoteFault(SealedFaults& faults, const PeerId& peer, FaultKind kind,
               const wire::Reason& reason);

class Docket {
 public:
  // `may_be_banned` may hold former members: a dropped peer still answers for what it signed. Bans
  // of peers not in it, and drops of peers not in `members`, are ignored. REQUIRES: both by key.
  Docket(std::vector<PeerId> members, std::vector<PeerId> may_be_banned);

  void Ban(const PeerId& peer, wire::RemovalKind kind, const wire::Reason& reason);
  void Drop(const PeerId& peer, const wire::Reason& reason, FaultKind kind = FaultKind::kDrop);
  // A drop of a member or former member that bars it (FaultKind::kSuspend).
  void Suspend(const PeerId& peer, const wire::Reason& reason);
  // Withdraws all drops of this block; bans and suspensions stay.
  void ForgiveDrops();
  // Ends a pass: peers added since the last call count as lost from now on.
  void EndPass();

  // True iff `peer` is a member and no earlier pass has removed it.
  bool Stays(const PeerId& peer) const;
  // True iff a ban can still hit `peer`, member or not: it was banned neither before nor, so far,
  // in this block.
  bool Answers(const PeerId& peer) const;
  // All losers, including those of the current pass.
  std::map<PeerId, FaultKind> Losers() const;
  // Bans by key, then drops by key.
  std::vector<wire::Removal> Removals(std::uint64_t step) const;
  void CheckInvariants() const;  // aborts if D2 or D3 is broken

 private:
  struct Loss {
    FaultKind fault = FaultKind::kDrop;
    wire::RemovalKind kind = wire::RemovalKind::kDrop;
    wire::Reason reason;
  };
  void Add(const PeerId& peer, Loss loss);

  std::vector<PeerId> members_;
  std::vector<PeerId> may_be_banned_;
  std::map<PeerId, Loss> losses_;
  std::set<PeerId> lost_;  // in completed passes
};

}  // namespace ostraka::protocol
