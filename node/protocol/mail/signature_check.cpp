#include "node/protocol/mail/signature_check.h"

#include "node/base/planted.h"

namespace ostraka::protocol {

bool SignatureCheck::Verified(const wire::SignedEnvelope& message, const PeerId& from) {
  if (base::Planted(base::Bug::kSignatureSkipped)) return true;
  if (!ration_->IsHeard(turn_->now(), from)) return false;
  if (verifier_->Verify(message.envelope.sender, message.digest, message.signature)) return true;
  ration_->CountForgery(turn_->now(), from);
  // Of what was carried nobody here knows who of the two spoilt it.
  if (ration_->carries()) return false;
  voice_->Suspect(from, "signature", "sent a message whose signature is not its sender's");
  return false;
}

}  // namespace ostraka::protocol
