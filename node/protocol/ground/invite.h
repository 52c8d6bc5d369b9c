// Invites: what a moderator signs, what a newcomer signs, and what the run counts of them
// (docs/decisions/0027).
//
// An invite has a key of its own, the holder's, which travels in the link. The newcomer signs its
// own key with it: all members see a REJOIN, and a credential that is copied from it lets nobody
// else in.
//
// Thread safety: pure functions.
#pragma once

#include "crypto/sign.h"
#include "node/base/ids.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;

// What the moderator signs. It names the run, so an invite is of no use in another.
Digest InviteDigest(const Digest& run_id, const wire::Invite& invite);
// What the holder signs, for the key that comes.
Digest InviteUseDigest(const Digest& run_id, const wire::Invite& invite, const PeerId& peer);

// REQUIRES: moderator.id() == invite.moderator.
crypto::Signature SignInvite(const Digest& run_id, const wire::Invite& invite,
                             const crypto::SigningKey& moderator);
// REQUIRES: holder.id() == invite.holder.
wire::Credential UseInvite(const Digest& run_id, const wire::Invite& invite,
                           const crypto::Signature& by_moderator, const crypto::SigningKey& holder,
                           const PeerId& peer);

wire::Voucher VoucherOf(const Digest& run_id, const wire::Invite& invite);
// Both signatures of the credential are good for `peer`. Whether the run has such a moderator is
// not looked at.
bool IsSigned(const Digest& run_id, const wire::Credential& credential, const PeerId& peer,
              crypto::Verifier& verifier);

}  // namespace ostraka::protocol
