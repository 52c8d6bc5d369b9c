#include "node/protocol/ground/invite.h"

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"

namespace ostraka::protocol {

Digest InviteDigest(const Digest& run_id, const wire::Invite& invite) {
  crypto::Hasher hasher(crypto::kDomainInvite);
  hasher.Update(run_id).Update(invite.moderator.view()).Update(invite.holder.view());
  hasher.UpdateU64(invite.uses).UpdateU64(invite.ends_step);
  // An invite without these was signed before there were any.
  if (invite.kind == wire::InviteKind::kAdmit && !invite.anchor) return hasher.Finish();
  return hasher.UpdateU64(static_cast<std::uint64_t>(invite.kind))
      .UpdateU64(invite.anchor ? 1 : 0)
      .Update(invite.anchor.value_or(Digest{}))
      .Finish();
}

Digest InviteUseDigest(const Digest& run_id, const wire::Invite& invite, const PeerId& peer) {
  return crypto::Hasher(crypto::kDomainInviteUse)
      .Update(run_id)
      .Update(InviteDigest(run_id, invite))
      .Update(peer.view())
      .Finish();
}

Digest RevocationDigest(const Digest& run_id, const wire::Revocation& revocation) {
  crypto::Hasher hasher(crypto::kDomainInviteRevoke);
  hasher.Update(run_id).Update(revocation.moderator.view());
  hasher.UpdateU64(revocation.invite ? 1 : 0);
  if (revocation.invite) hasher.Update(InviteDigest(run_id, *revocation.invite));
  return hasher.Finish();
}

crypto::Signature SignInvite(const Digest& run_id, const wire::Invite& invite,
                             const crypto::SigningKey& moderator) {
  OSTRAKA_CHECK(moderator.id() == invite.moderator);
  return moderator.Sign(InviteDigest(run_id, invite));
}

wire::Credential UseInvite(const Digest& run_id, const wire::Invite& invite,
                           const crypto::Signature& by_moderator, const crypto::SigningKey& holder,
                           const PeerId& peer) {
  OSTRAKA_CHECK(holder.id() == invite.holder);
  return {invite, by_moderator, holder.Sign(InviteUseDigest(run_id, invite, peer))};
}

wire::Revocation SignRevocation(const Digest& run_id, const std::optional<wire::Invite>& invite,
                                const crypto::SigningKey& moderator) {
  OSTRAKA_CHECK(!invite || invite->moderator == moderator.id());
  wire::Revocation revocation{moderator.id(), invite, {}};
  revocation.by_moderator = moderator.Sign(RevocationDigest(run_id, revocation));
  return revocation;
}

bool IsSigned(const Digest& run_id, const wire::Revocation& revocation,
              crypto::Verifier& verifier) {
  return verifier.Verify(revocation.moderator, RevocationDigest(run_id, revocation),
                         revocation.by_moderator);
}

wire::Voucher VoucherOf(const Digest& run_id, const wire::Invite& invite) {
  return {.invite = InviteDigest(run_id, invite),
          .moderator = invite.moderator,
          .uses = invite.uses,
          .ends_step = invite.ends_step,
          .kind = invite.kind};
}

bool IsSigned(const Digest& run_id, const wire::Credential& credential, const PeerId& peer,
              crypto::Verifier& verifier) {
  const wire::Invite& invite = credential.invite;
  return verifier.Verify(invite.moderator, InviteDigest(run_id, invite), credential.by_moderator) &&
         verifier.Verify(invite.holder, InviteUseDigest(run_id, invite, peer),
                         credential.by_holder);
}

}  // namespace ostraka::protocol
