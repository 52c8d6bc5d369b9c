// What of the ground types counts in a fingerprint: see crypto/hash_into.h.
//
// Thread safety: pure.
#pragma once

#include "node/protocol/ground/state.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

// The numbers of a model count nowhere: they are a function of the genesis block, the heads and the
// results, which are fed by their digests and roots.
inline void HashValue(crypto::Hasher& hasher, const ModelState& value) {
  const auto& [parameters, slots] = value;
  crypto::Feed(hasher, parameters != nullptr);
  for (const StateSlot& slot : slots) crypto::Feed(hasher, slot.values != nullptr);
}

}  // namespace ostraka::protocol
