// The handovers that this member makes (proofs/evidence/handover.h): with them a stranger who
// trusts the genesis knows the members of later blocks, also when nobody of the genesis is left.
//
// Promises:
//   H1  Each stored handover leads on from the view that the one before it led to, the first one
//       from the genesis. Where no handover can lead any more, since no more of the view are left
//       than can be at fault, the next one leads on from the members of that time. [A member that
//       was away while others went, or came late. Others hold what is between.]
//   H2  While more members of the view than can be at fault commit to a block, its members become
//       the view with the next seal A. [So a gap closes once the network is timely.]
//
// May not know: seals in progress, links, time. What it makes ends no wait and removes nobody.
//
// Memory: one view. Stored: a block and at most F + 1 COMMITs for each change of the members.
//
// What an attacker can do here: come and go as often as the rules of JOIN and LEAVE let it.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/protocol/ground/known_run.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/mail/journal.h"
#include "node/wire/evidence_codec.h"
#include "proofs/evidence/handover.h"

namespace ostraka::protocol {

class Handovers {
 public:
  Handovers(const Manifest& manifest, Journal& journal)
      : genesis_(KnownRunOf(manifest)), view_(genesis_), journal_(journal) {}
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, view_.members, static_cast<std::uint64_t>(view_.faults), view_.since);
  }
  friend struct FingerprintProbe;

  const evidence::KnownRun& genesis() const { return genesis_; }
  const evidence::KnownRun& view() const { return view_; }

  // Goes on from the newest handover of this store. InvalidArgument: it is none.
  base::Status Restore(const Record& newest) {
    ASSIGN_OR_RETURN(const wire::Handover handover, wire::DecodeHandover(newest.value));
    ASSIGN_OR_RETURN(const wire::Block block, wire::DecodeBlock(handover.block));
    view_ = evidence::ViewAfter(genesis_, block);
    return base::OkStatus();
  }

  // Whether a handover to `head` is due.
  bool AwaitsCommits(const wire::Block& head) const {
    return !head.genesis && head.members != view_.members && Suffice(view_, head.members);
  }
  // COMMITs of the next step show who builds on `head`.
  void Extend(const wire::Block& head, const std::vector<SharedBytes>& commits) {
    if (AwaitsCommits(head)) {
      const auto made = evidence::MakeHandover(view_, head, commits);
      if (!made.ok()) return;
      journal_.StoreHandover(head, *made);
    }
    if (head.members != view_.members) view_ = evidence::ViewAfter(genesis_, head);
  }

  // Whether more of these are of the view than can be at fault in it.
  static bool Suffice(const evidence::KnownRun& view, const std::vector<PeerId>& peers) {
    const auto of_view = std::count_if(peers.begin(), peers.end(), [&](const PeerId& peer) {
      return IsMember(view.members, peer);
    });
    return static_cast<std::size_t>(of_view) > view.faults;
  }

  void CheckInvariants() const {
    OSTRAKA_CHECK(view_.run_id == genesis_.run_id);
    OSTRAKA_CHECK(std::is_sorted(view_.members.begin(), view_.members.end()));
  }

 private:
  const evidence::KnownRun genesis_;
  evidence::KnownRun view_;
  Journal& journal_;
};

}  // namespace ostraka::protocol
