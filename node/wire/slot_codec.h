// Internal to node/wire, included by its .cpp files only: slots, which envelopes and evidence
// share.
#pragma once

#include "node/base/status.h"
#include "node/wire/messages.h"
#include "ostraka.capnp.h"

namespace ostraka::wire::internal {

void WriteSlot(const Slot& slot, schema::Slot::Builder builder);

// Refuses a slot that no honest peer signs: a phase in which messages of its type are not sent, or
// a draw or iteration that its type does not use. Attack: otherwise a peer could sign two messages
// under two slots of equal meaning, and no pair of frames would prove the equivocation.
base::Status ReadSlot(schema::Slot::Reader reader, Slot& out);

}  // namespace ostraka::wire::internal
