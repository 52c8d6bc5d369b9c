#include "node/protocol/recording/said.h"

#include "node/wire/codec.h"

namespace ostraka::protocol {
base::Status Said::Add(const PeerId& self, const base::Bytes& frame) {
  ASSIGN_OR_RETURN(const wire::SignedEnvelope opened,
                   wire::Open(std::make_shared<const base::Bytes>(frame)));
  if (opened.envelope.sender != self) {
    return base::InvalidArgument("a message that the member is said to have signed is of another");
  }
  const wire::Slot& slot = opened.envelope.slot;
  signatures_[opened.digest] = opened.signature;
  if (const auto* commit = opened.As<wire::Commit>()) coins_roots_[slot.step] = commit->coins_root;
  if (const auto* reveal = opened.As<wire::Reveal>()) {
    openings_[{slot.step, slot.draw}] = reveal->opening;
  }
  if (const auto* boot = opened.As<wire::Boot>()) boots_[slot.step] = boot->boot_id;
  if (const auto* rejoin = opened.As<wire::Rejoin>()) rejoins_[slot.step] = rejoin->nonce;
  return base::OkStatus();
}

crypto::Signature Said::SignatureOf(const Digest& message) const {
  crypto::Signature none;  // zero would say that the message needs none
  none.bytes.fill(0xff);
  const auto found = signatures_.find(message);
  return found == signatures_.end() ? none : found->second;
}

Digest Said::CoinsRoot(std::uint64_t step) const { return Content(coins_roots_, step); }

crypto::CoinOpening Said::Opening(std::uint64_t step, std::uint32_t draw) const {
  return Content(openings_, {step, draw});
}

Digest Said::BootNonce() const { return Content(boots_, 0); }

Digest Said::RejoinNonce(std::uint64_t step) const { return Content(rejoins_, step); }

}  // namespace ostraka::protocol
