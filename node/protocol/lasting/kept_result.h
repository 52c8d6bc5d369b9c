// An aggregate that is kept is durable before anything that is said from then on: when a PROOF
// helps to seal the step, its author can still apply and serve the aggregate after a crash of all.
// It takes the place of another one of its column: one that was spoilt on the disk, or the own one
// of before a crash, whose AGG was never said.
#pragma once

#include "node/protocol/lasting/chain.h"
#include "node/protocol/mail/journal.h"

namespace ostraka::protocol {

// Nothing if the chain keeps that very result already.
inline void KeepResult(Chain& chain, Journal& journal, std::uint64_t step, std::uint32_t column,
                       const SharedBlob& blob) {
  if (chain.KeepResult(step, column, blob)) journal.StoreResult(step, column, blob);
}

}  // namespace ostraka::protocol
