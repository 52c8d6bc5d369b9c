// Invites: what a moderator signs, what a newcomer signs, and what the run counts of them
// (docs/decisions/0027).
//
// An invite has a key of its own, the holder's, which travels in the link. The newcomer signs its
// own key with it: all members see a REJOIN, and a credential that is copied from it lets nobody
// else in.
//
// A moderator takes an invite back by another signature, which names the whole invite: so everybody
// sees that it is the moderator's own.
//
// Thread safety: pure functions.
#pragma once

#include <optional>

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

// What a moderator signs to take back the invite, or all of its invites.
Digest RevocationDigest(const Digest& run_id, const wire::Revocation& revocation);

// REQUIRES: moderator.id() == invite.moderator.
crypto::Signature SignInvite(const Digest& run_id, const wire::Invite& invite,
                             const crypto::SigningKey& moderator);
// REQUIRES: holder.id() == invite.holder.
wire::Credential UseInvite(const Digest& run_id, const wire::Invite& invite,
                           const crypto::Signature& by_moderator, const crypto::SigningKey& holder,
                           const PeerId& peer);

// REQUIRES: the invite is that moderator's, if there is one.
wire::Revocation SignRevocation(const Digest& run_id, const std::optional<wire::Invite>& invite,
                                const crypto::SigningKey& moderator);
// The moderator's signature is good. Whether the run has such a moderator is not looked at.
bool IsSigned(const Digest& run_id, const wire::Revocation& revocation, crypto::Verifier& verifier);

wire::Voucher VoucherOf(const Digest& run_id, const wire::Invite& invite);
// Both signatures of the credential are good for `peer`. Whether the run has such a moderator is
// not looked at.
bool IsSigned(const Digest& run_id, const wire::Credential& credential, const PeerId& peer,
              crypto::Verifier& verifier);

}  // namespace ostraka::protocol
