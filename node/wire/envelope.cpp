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

base::StatusOr<Envelope> ReadEnvelope(schema::Envelope::Reader root) {
  Envelope envelope;
  RETURN_IF_ERROR(internal::ReadSlot(root.getSlot(), envelope.slot));
  RETURN_IF_ERROR(internal::ReadId(root.getEntry(), "entry", envelope.entry));
  RETURN_IF_ERROR(internal::ReadId(root.getSender(), "sender", envelope.sender));
  const std::size_t max_body =
      envelope.slot.type == MessageType::kProof ? kMaxFrameBytes : kMaxSmallBodyBytes;
  RETURN_IF_ERROR(internal::ReadBytes(root.getBody(), "body", max_body, envelope.body));
  return envelope;
}

base::StatusOr<Envelope> DecodeCore(base::ByteView core) {
  return internal::DecodeCanonical<schema::Envelope, Envelope>("envelope", core, kMaxFrameBytes,
                                                               ReadEnvelope, EncodeCore);
}

}  // namespace

SignedEnvelope Seal(Envelope envelope, const crypto::SigningKey& key) {
  OSTRAKA_CHECK(key.id() == envelope.sender);
  const Bytes core = EncodeCore(envelope);
  SignedEnvelope sealed;
  sealed.digest = crypto::Hash(crypto::kDomainEnvelope, core);
  sealed.signature = key.Sign(sealed.digest);
  Bytes frame;
  frame.reserve(Signature::kSize + core.size());
  frame.insert(frame.end(), sealed.signature.bytes.begin(), sealed.signature.bytes.end());
  frame.insert(frame.end(), core.begin(), core.end());
  sealed.frame = std::make_shared<const Bytes>(std::move(frame));
  sealed.envelope = std::move(envelope);
  return sealed;
}

Digest DigestOf(const Envelope& envelope) {
  return crypto::Hash(crypto::kDomainEnvelope, EncodeCore(envelope));
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
  opened.digest = crypto::Hash(crypto::kDomainEnvelope, core);
  opened.frame = std::move(frame);
  return opened;
}

base::SharedBytes EncodeUnsigned(const Envelope& envelope) {
  return std::make_shared<const Bytes>(EncodeCore(envelope));
}

base::StatusOr<Envelope> OpenUnsigned(base::ByteView frame) { return DecodeCore(frame); }

}  // namespace ostraka::wire
