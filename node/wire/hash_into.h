// What of a message counts in a fingerprint: see crypto/hash_into.h. All fields of a record's list
// do, but those that follow from others.
//
// Thread safety: pure.
#pragma once

#include "crypto/hash_into.h"
#include "node/wire/fields.h"

namespace ostraka::wire {

template <Record T>
void HashValue(crypto::Hasher& hasher, const T& value) {
  ForEachField<T>([&](const auto& field) { crypto::Feed(hasher, field.of(value)); });
}

inline void HashValue(crypto::Hasher& hasher, const SignedEnvelope& value) {
  hasher.Update(value.digest);  // the frame and the envelope follow from each other
}

// The other fields follow from what `decision` sealed and from the block before this one; the
// digest of all of them is fed where RecentBlocks keeps it, and in each message that names it.
inline void HashValue(crypto::Hasher& hasher, const Block& value) {
  crypto::Feed(hasher, value.genesis, value.step, value.decision, value.previous, value.randomness,
               value.members, value.thresholds, value.state_root, value.result_roots);
}

}  // namespace ostraka::wire
