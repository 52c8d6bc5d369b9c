// Who is heard beside the keys of the run, and who comes in: strangers that ask, and members that
// were away and ask to come back.
//
//   REJOIN of a key without a place -> Door -> Followers (guest, request), which PROOFs then
//   confirm
//
// Promises:
//   D1  Of a key that is neither of the run nor a guest nothing but a REJOIN is looked at. Attack:
//       an open run takes a link from anybody.
//   D2  A stranger becomes a guest only by a signed REJOIN with a good credential, or named by the
//       manifest, within the ration of strangers (Ration, R6).
//   D3  What a member that may return shows beside its name is not looked at.
//
// May not know: what a guest is answered, and which blocks let it in.
//
// Memory: none of its own (followers.h).
//
// What an attacker can do here: have so many REJOINs verified in a second as its ration allows.
//
// Thread safety: none; one owner.
#pragma once

#include "node/protocol/member/components.h"

namespace ostraka::protocol {

class Door {
 public:
  explicit Door(Components& components) : components_(components) {}

  // D1.
  bool MayBeHeard(const PeerId& from) const;
  void OnRejoin(const wire::SignedEnvelope& message, const PeerId& from);
  // No later block takes the refusal back.
  bool IsRefusedForGood(const Voucher& voucher) const;

 private:
  bool IsVouched(const PeerId& sender, const wire::Rejoin& rejoin);
  void AskHowFar(const PeerId& peer, const Followers::Request& request);

  Components& components_;
};

}  // namespace ostraka::protocol
