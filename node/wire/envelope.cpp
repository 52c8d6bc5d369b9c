#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/wire/canonical.h"
#include "node/wire/codec.h"
#include "node/wire/slot_codec.h"

namespace ostraka::wire {
namespace {

using crypto::Signature;

Bytes EncodeCore(const Envelope& envelope) {
  return internal::EncodeCanonical<schema::Envelope>([&](schema::Envelope::Builder root) {
    internal::WriteSlot(envelope.slot, root.initSlot());
    root.setEntry(internal::AsData(envelope.entry));
    root.setSender(internal::AsData(envelope.sender));
    if (!envelope.body.empty()) root.setBody(internal::AsData(envelope.body));
  });
}

// Services are never evidence, so their bodies may be as large as a frame.
std::size_t MaxBody(MessageType type) {
  if (type == MessageType::kProof) return kMaxProofBodyBytes;
  return IsService(type) ? kMaxFrameBytes : kMaxSmallBodyBytes;
}

base::StatusOr<Envelope> ReadEnvelope(schema::Envelope::Reader root) {
  Envelope envelope;
  RETURN_IF_ERROR(internal::ReadSlot(root.getSlot(), envelope.slot));
  RETURN_IF_ERROR(internal::ReadId(root.getEntry(), "entry", envelope.entry));
  RETURN_IF_ERROR(internal::ReadId(root.getSender(), "sender", envelope.sender));
  RETURN_IF_ERROR(
      internal::ReadBytes(root.getBody(), "body", MaxBody(envelope.slot.type), envelope.body));
  return envelope;
}

base::StatusOr<Envelope> DecodeCore(base::ByteView core) {
  return internal::DecodeCanonical<schema::Envelope, Envelope>("envelope", core, kMaxFrameBytes,
                                                               ReadEnvelope, EncodeCore);
}

Bytes JoinFrame(const Signature& signature, base::ByteView core) {
  Bytes frame;
  frame.reserve(Signature::kSize + core.size());
  frame.insert(frame.end(), signature.bytes.begin(), signature.bytes.end());
  frame.insert(frame.end(), core.begin(), core.end());
  return frame;
}

// A zero signature means "unsigned": required on services and refused on everything else.
base::Status CheckSignedness(const SignedEnvelope& opened) {
  const bool is_signed = opened.signature != Signature{};
  if (IsService(opened.envelope.slot.type)) {
    return is_signed ? internal::Refuse("frame", "a service is not signed") : base::OkStatus();
  }
  return is_signed ? base::OkStatus() : internal::Refuse("frame", "not signed");
}

}  // namespace

SignedEnvelope Seal(Envelope envelope, const crypto::SigningKey& key) {
  OSTRAKA_CHECK(key.id() == envelope.sender);
  OSTRAKA_CHECK(!IsService(envelope.slot.type));
  const Bytes core = EncodeCore(envelope);
  SignedEnvelope sealed;
  sealed.digest = crypto::Hash(crypto::kDomainEnvelope, core);
  sealed.signature = key.Sign(sealed.digest);
  sealed.frame = std::make_shared<const Bytes>(JoinFrame(sealed.signature, core));
  sealed.envelope = std::move(envelope);
  return sealed;
}

Digest DigestOf(const Envelope& envelope) {
  return crypto::Hash(crypto::kDomainEnvelope, EncodeCore(envelope));
}

base::SharedBytes EncodeService(const Envelope& envelope) {
  OSTRAKA_CHECK(IsService(envelope.slot.type));
  return std::make_shared<const Bytes>(JoinFrame(Signature{}, EncodeCore(envelope)));
}

base::StatusOr<SignedEnvelope> Open(base::SharedBytes frame) {
  if (frame == nullptr || frame->size() < Signature::kSize) {
    return internal::Refuse("frame", "shorter than a signature");
  }
  if (frame->size() > kMaxFrameBytes) return internal::Refuse("frame", "too long");
  const base::ByteView core = base::ByteView(*frame).subspan(Signature::kSize);
  SignedEnvelope opened;
  ASSIGN_OR_RETURN(opened.envelope, DecodeCore(core));
  std::copy_n(frame->begin(), Signature::kSize, opened.signature.bytes.begin());
  RETURN_IF_ERROR(CheckSignedness(opened));
  opened.digest = crypto::Hash(crypto::kDomainEnvelope, core);
  opened.frame = std::move(frame);
  return opened;
}

base::SharedBytes EncodeUnsigned(const Envelope& envelope) {
  return std::make_shared<const Bytes>(EncodeCore(envelope));
}

base::StatusOr<Envelope> OpenUnsigned(base::ByteView frame) { return DecodeCore(frame); }

}  // namespace ostraka::wire
