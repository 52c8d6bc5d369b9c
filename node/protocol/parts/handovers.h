// The handovers that this member makes (proofs/evidence/handover.h): with them a stranger who
// trusts the genesis knows the members of later blocks, also when nobody of the genesis is left.
//
// Promises:
//   H1  Each stored handover leads on from the view that the one before it led to, the first one
//       from the genesis; of a key that the genesis does not name from where it came in, if no
//       handover leads there.
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
#include "node/protocol/mail/journal.h"
#include "node/wire/evidence_codec.h"
#include "proofs/evidence/handover.h"

namespace ostraka::protocol {

class Handovers {
 public:
  Handovers(const PeerId& self, const Manifest& manifest, Journal* journal)
      : genesis_(KnownRunOf(manifest)),
        view_(genesis_),
        may_begin_late_(
            !std::binary_search(genesis_.members.begin(), genesis_.members.end(), self)),
        journal_(journal) {}
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, view_.members, view_.since, may_begin_late_);
  }
  friend struct FingerprintProbe;

  const evidence::KnownRun& genesis() const { return genesis_; }
  const evidence::KnownRun& view() const { return view_; }

  // Goes on from the newest handover of this store. InvalidArgument: it is none.
  base::Status Restore(const Record& newest) {
    ASSIGN_OR_RETURN(const wire::Handover handover, wire::DecodeHandover(newest.value));
    ASSIGN_OR_RETURN(const wire::Block block, wire::DecodeBlock(handover.block));
    GoTo(block);
    return base::OkStatus();
  }

  // COMMITs of the next step show who builds on `head`.
  void Extend(const wire::Block& head, const std::vector<SharedBytes>& commits) {
    if (head.genesis || head.members == view_.members) return;
    const auto made = evidence::MakeHandover(view_, head, commits);
    if (made.ok()) journal_->StoreHandover(head, *made);
    if (made.ok() || may_begin_late_) GoTo(head);
  }

  void CheckInvariants() const {
    OSTRAKA_CHECK(view_.run_id == genesis_.run_id);
    OSTRAKA_CHECK(!may_begin_late_ || view_.since == 0);  // H1
  }

 private:
  void GoTo(const wire::Block& block) {
    view_ = evidence::ViewAfter(genesis_, block);
    may_begin_late_ = false;
  }

  const evidence::KnownRun genesis_;
  evidence::KnownRun view_;
  bool may_begin_late_;
  Journal* journal_;
};

}  // namespace ostraka::protocol
