// Who loses its membership in a block, and why: the list that every rule adds to.
//
// A rule adds losers in passes; a pass sees who is lost to the passes before it and nobody of its
// own, so that no order of peers or of messages decides. One peer loses once, by the gravest of its
// faults; of equal ones the first that was noted gives the reason.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;
using wire::Block;

// What a fault costs, the gravest last.
enum class FaultKind : std::uint8_t {
  kDrop = 0,          // sealed absent: COMMIT, AGG of an owner, PROOF
  kDropAtReveal = 1,  // sealed absent at REVEAL: silence after seeing the coin
  kBan = 2,           // proven by what it signed
};

struct Fault {
  FaultKind kind = FaultKind::kBan;
  std::string reason;  // one line
  bool operator==(const Fault&) const = default;
};

// Faults that the seals themselves prove.
using SealedFaults = std::map<PeerId, Fault>;

// Notes a fault of `peer`: the gravest stays, and the first of equal ones.
void NoteFault(SealedFaults& faults, const PeerId& peer, FaultKind kind, std::string reason);

class Docket {
 public:
  // A banned peer need not be a member: who was dropped answers for what it signed before. Peers
  // that `may_be_banned` does not name, and drops of who is no member, are ignored.
  // REQUIRES: both by key.
  Docket(std::vector<PeerId> members, std::vector<PeerId> may_be_banned);

  void Ban(const PeerId& peer, wire::RemovalKind kind, std::string reason);
  void Drop(const PeerId& peer, std::string reason, FaultKind kind = FaultKind::kDrop);
  // Drops nobody in this block; bans stay.
  void ForgiveDrops();
  // Ends a pass: those added since the last call count as lost from now on.
  void EndPass();

  // True iff `peer` is a member and no earlier pass has removed it.
  bool Stays(const PeerId& peer) const;
  // True iff a ban can still hit `peer`, a member or not: it was not banned before, nor so far
  // here.
  bool Answers(const PeerId& peer) const;
  // Every loser, those of the pass in progress too.
  std::map<PeerId, FaultKind> Losers() const;
  // Bans by key, then drops by key.
  std::vector<wire::Removal> Removals(std::uint64_t step) const;

 private:
  struct Loss {
    FaultKind fault = FaultKind::kDrop;
    wire::RemovalKind kind = wire::RemovalKind::kDrop;
    std::string reason;
  };
  void Add(const PeerId& peer, Loss loss);

  std::vector<PeerId> members_;
  std::vector<PeerId> may_be_banned_;
  std::map<PeerId, Loss> losses_;
  std::set<PeerId> lost_;  // to earlier passes
};

}  // namespace ostraka::protocol
