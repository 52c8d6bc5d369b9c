// The seal with which a run begins. It has a fast path only: a run begins when all its members are
// there.
//
// Promises:
//   G1  A member echoes once, after each other member has said, over a link that is up, that the
//       run has not begun there.
//   G2  After its ECHO a member takes in no other BOOT, and of each member no ECHO after one that
//       equals its own. BOOT differs between stores of one key, so no two stores of a key begin as
//       long as one other honest member keeps its own store.
//   G3  The run begins here with the block that this member echoed, or not at all.
//
// Nothing of it is evidence: an honest key may have lost its store, and boots again.
//
// May not know: links, time, or what follows the first block. The machine sends what it says.
//
// Memory: a BOOT and an ECHO a member, in the inbox.
//
// What an attacker can do here: keep a run from beginning, by silence (it is one of its members).
// It cannot have honest members begin with different blocks, and its block alone makes nobody
// leave: that takes more members than the fault bound.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/sync/catch_up.h"
#include "node/wire/block.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class GenesisSeal {
 public:
  // `head`: the manifest's members and thresholds, before any seal.
  GenesisSeal(const PeerId& self, const Digest& run_id, SharedBlock head, const Inbox& inbox)
      : self_(self), run_id_(run_id), head_(std::move(head)), inbox_(inbox) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- what comes ---
  // `member` says, over its link, that the run has not begun there.
  void OnWaiting(const PeerId& member);
  // A member that comes back may run with another store, which says so before it says that it
  // waits.
  void OnLinkDown(const PeerId& member) { waiting_.erase(member); }
  // True if the message is to take the place of the one that the inbox holds.
  bool Wants(const wire::Envelope& envelope) const;
  // An ECHO that another member passes on counts if it equals the own one: its signer has said it,
  // whatever else it says. A BOOT that is passed on may be an old one and never counts.
  bool CountsIfRelayed(const wire::SignedEnvelope& message) const;

  // --- what this member does ---
  // The ECHO to sign, once all wait and their BOOTs are there (G1). REQUIRES: not echoed.
  std::optional<wire::Echo> TryEcho() const;
  // This member has echoed: now, or before a crash.
  void OnOwnEcho(const wire::Echo& echo);
  bool echoed() const { return echo_.has_value(); }
  // The run begins: all have echoed alike, or more members than the fault bound have begun with the
  // block echoed here. Each COMMIT of step 0 names the block that its signer began with; one of
  // these signers is honest and has had the ECHOs of all, of this store or of one that is lost.
  bool Begins();
  // The run has begun without this store: more than the fault bound began with another block.
  bool BegunWithout() const { return CountBegun(false) > FaultBound(head_->thresholds); }
  // The block with which it begins. REQUIRES: echoed.
  const SharedBlock& block() const { return echo_->block; }
  bool IsOwnBlock(const Digest& block) const { return echo_ && echo_->digest == block; }

  // Frames of the ECHOs of others, for `to`. Colluders may show their ECHOs to some members only,
  // so each member that begins passes them on [they began and sealed the COMMITs of the others
  // absent: three of five honest members were dropped in step 0]. The own ECHO went to all already,
  // and from its sender it would be taken for a question.
  std::vector<base::SharedBytes> EchoesFor(const PeerId& to) const;
  // Messages that this member waits for.
  struct Missing {
    PeerId sender;
    wire::MessageType type = wire::MessageType::kBoot;
  };
  std::vector<Missing> MissingNow() const;

  void CheckInvariants() const;

 private:
  struct OwnEcho {
    Digest vector;
    SharedBlock block;  // that it leads to
    Digest digest;      // of the block
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, vector, block, digest); }
  };
  const Inbox::Item* Held(wire::MessageType type, const PeerId& member) const;
  bool HasEchoed(const PeerId& member) const;  // as this member did. REQUIRES: echoed
  std::size_t CountBegun(bool as_echoed) const;

  PeerId self_;
  Digest run_id_;
  SharedBlock head_;
  const Inbox& inbox_;
  std::set<PeerId> waiting_;  // said so on the link that is up
  std::optional<OwnEcho> echo_;
  // So many of the members, by key, have echoed as this one, and will have: their ECHOs are
  // replaced no more (Wants). Attack: each message had the ECHOs of all decoded.
  std::size_t echoed_prefix_ = 0;
};

}  // namespace ostraka::protocol
