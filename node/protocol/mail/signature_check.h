// Verifies signatures for one member, within what each link may cost.
//
// Promises:
//   Y1  A link that brought too many bad signatures in a second is not heard until the second is
//       over.
//   Y2  Messages that hardly ever matter are verified only within a ration of their own.
//
// May not know: what a message means.
//
// Memory: none of its own. What an attacker can do here: use up its own link's ration.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <utility>

#include "crypto/sign.h"
#include "node/protocol/mail/ration.h"
#include "node/protocol/mail/voice.h"

namespace ostraka::protocol {

class SignatureCheck {
 public:
  SignatureCheck(std::shared_ptr<crypto::Verifier> verifier, Ration& ration, const Turn& turn,
                 const Voice& voice)
      : verifier_(std::move(verifier)), ration_(ration), turn_(turn), voice_(voice) {}

  // The message is its sender's; else its link is suspected.
  bool Verified(const wire::SignedEnvelope& message, const PeerId& from);
  // The same for a message of another history, say (Y2).
  bool VerifiedOdd(const wire::SignedEnvelope& message, const PeerId& from) {
    return ration_.TakeOddMessage(turn_.now(), from) && Verified(message, from);
  }

  // Both signatures of the credential are good for `peer`, and a ration of `from` had room for them
  // (Y2).
  bool VerifiedCredential(const Digest& run_id, const wire::Credential& credential,
                          const PeerId& peer, const PeerId& from);

 private:
  std::shared_ptr<crypto::Verifier> verifier_;
  Ration& ration_;
  const Turn& turn_;
  const Voice& voice_;
};

}  // namespace ostraka::protocol
