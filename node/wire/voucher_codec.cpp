#include "node/wire/voucher_codec.h"

#include <algorithm>

#include "node/wire/canonical.h"

namespace ostraka::wire::internal {
namespace {

base::Status ReadSignature(capnp::Data::Reader data, crypto::Signature& out) {
  if (data.size() != crypto::Signature::kSize) return Refuse("signature", "must be 64 bytes");
  std::copy_n(data.begin(), crypto::Signature::kSize, out.bytes.begin());
  return base::OkStatus();
}

base::Status ReadUses(std::uint32_t uses, std::uint32_t& out) {
  if (uses == 0 || uses > kMaxInviteUses) return Refuse("uses", "out of range");
  out = uses;
  return base::OkStatus();
}

void WriteInvite(const Invite& invite, schema::Invite::Builder item) {
  item.setModerator(AsData(invite.moderator));
  item.setHolder(AsData(invite.holder));
  item.setUses(invite.uses);
  item.setEndsStep(invite.ends_step);
  item.setKind(static_cast<schema::InviteKind>(invite.kind));
  if (invite.anchor) item.setAnchor(AsData(*invite.anchor));
}

base::Status ReadInvite(schema::Invite::Reader item, Invite& out) {
  RETURN_IF_ERROR(ReadId(item.getModerator(), "moderator", out.moderator));
  RETURN_IF_ERROR(ReadId(item.getHolder(), "holder", out.holder));
  RETURN_IF_ERROR(ReadUses(item.getUses(), out.uses));
  out.ends_step = item.getEndsStep();
  RETURN_IF_ERROR(ReadEnum(item.getKind(), "invite kind", kInviteKindCount, out.kind));
  return ReadOptionalId(item.getAnchor(), "anchor", out.anchor);
}

}  // namespace

void WriteCredential(const Credential& credential, schema::Credential::Builder item) {
  WriteInvite(credential.invite, item.initInvite());
  item.setByModerator(AsData(base::ByteView(credential.by_moderator.bytes)));
  item.setByHolder(AsData(base::ByteView(credential.by_holder.bytes)));
}

base::Status ReadCredential(schema::Credential::Reader item, Credential& out) {
  RETURN_IF_ERROR(ReadInvite(item.getInvite(), out.invite));
  RETURN_IF_ERROR(ReadSignature(item.getByModerator(), out.by_moderator));
  return ReadSignature(item.getByHolder(), out.by_holder);
}

void WriteRevocation(const Revocation& revocation, schema::Revocation::Builder item) {
  item.setModerator(AsData(revocation.moderator));
  if (revocation.invite) WriteInvite(*revocation.invite, item.initInvite());
  item.setByModerator(AsData(base::ByteView(revocation.by_moderator.bytes)));
}

base::Status ReadRevocation(schema::Revocation::Reader item, Revocation& out) {
  RETURN_IF_ERROR(ReadId(item.getModerator(), "moderator", out.moderator));
  if (item.hasInvite()) {
    RETURN_IF_ERROR(ReadInvite(item.getInvite(), out.invite.emplace()));
    if (out.invite->moderator != out.moderator) {
      return Refuse("revoked invite", "is of another moderator");
    }
  }
  return ReadSignature(item.getByModerator(), out.by_moderator);
}

void WriteVoucher(const Voucher& voucher, schema::Voucher::Builder item) {
  item.setInvite(AsData(voucher.invite));
  item.setModerator(AsData(voucher.moderator));
  item.setUses(voucher.uses);
  item.setEndsStep(voucher.ends_step);
  item.setKind(static_cast<schema::InviteKind>(voucher.kind));
}

base::Status ReadVoucher(schema::Voucher::Reader item, Voucher& out) {
  RETURN_IF_ERROR(ReadId(item.getInvite(), "invite", out.invite));
  RETURN_IF_ERROR(ReadId(item.getModerator(), "moderator", out.moderator));
  RETURN_IF_ERROR(ReadUses(item.getUses(), out.uses));
  out.ends_step = item.getEndsStep();
  return ReadEnum(item.getKind(), "invite kind", kInviteKindCount, out.kind);
}

void WriteArrival(const Arrival& arrival, schema::Arrival::Builder item) {
  item.setPeer(AsData(arrival.peer));
  if (arrival.voucher) WriteVoucher(*arrival.voucher, item.initVoucher());
}

base::Status ReadArrival(schema::Arrival::Reader item, Arrival& out) {
  RETURN_IF_ERROR(ReadId(item.getPeer(), "arriving peer", out.peer));
  if (!item.hasVoucher()) return base::OkStatus();
  return ReadVoucher(item.getVoucher(), out.voucher.emplace());
}

}  // namespace ostraka::wire::internal
