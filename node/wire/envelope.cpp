#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/wire/codec.h"
#include "node/wire/record_codec.h"
#include "ostraka.capnp.h"

namespace ostraka::wire {
namespace {

using crypto::Signature;

Bytes EncodeCore(const Envelope& envelope) {
  return internal::EncodeRecord<schema::Envelope>(envelope);
}

base::StatusOr<Envelope> DecodeCore(base::ByteView core) {
  return internal::DecodeRecord<schema::Envelope, Envelope>("envelope", core, kMaxFrameBytes);
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
  sealed.body = DecodeBody(sealed.envelope.slot.type, sealed.envelope.body);
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
  opened.body = DecodeBody(opened.envelope.slot.type, opened.envelope.body);
  opened.frame = std::move(frame);
  return opened;
}

base::SharedBytes EncodeUnsigned(const Envelope& envelope) {
  return std::make_shared<const Bytes>(EncodeCore(envelope));
}

base::StatusOr<Envelope> OpenUnsigned(base::ByteView frame) { return DecodeCore(frame); }

}  // namespace ostraka::wire
