#include "node/protocol/mail/signature_check.h"

#include "node/base/planted.h"
#include "node/protocol/ground/invite.h"

namespace ostraka::protocol {

bool SignatureCheck::Verified(const wire::SignedEnvelope& message, const PeerId& from) {
  if (base::Planted(base::Bug::kSignatureSkipped)) return true;
  if (!ration_.IsHeard(turn_.now(), from)) return false;
  if (verifier_->Verify(message.envelope.sender, message.digest, message.signature)) return true;
  ration_.CountForgery(turn_.now(), from);
  // Of what was carried nobody here knows who of the two spoilt it.
  if (ration_.carries()) return false;
  voice_.Suspect(from, "signature", "sent a message whose signature is not its sender's");
  return false;
}

bool SignatureCheck::VerifiedCredential(const Digest& run_id, const wire::Credential& credential,
                                        const PeerId& peer, const PeerId& from) {
  if (base::Planted(base::Bug::kAnyCredential)) return true;
  if (!ration_.TakeOddMessage(turn_.now(), from)) return false;
  if (!ration_.TakeOddMessage(turn_.now(), from)) return false;
  if (IsSigned(run_id, credential, peer, *verifier_)) return true;
  ration_.CountForgery(turn_.now(), from);
  return false;
}

}  // namespace ostraka::protocol
