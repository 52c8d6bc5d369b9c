// What of a message counts in a fingerprint: see crypto/hash_into.h. A signed message counts by its
// digest.
//
// Thread safety: pure.
#pragma once

#include "crypto/hash_into.h"
#include "node/wire/block.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

inline void HashValue(crypto::Hasher& hasher, const Slot& value) {
  const auto& [run, incarnation, step, phase, type, draw, iteration] = value;
  crypto::Feed(hasher, run, incarnation, step, phase, type, draw, iteration);
}

inline void HashValue(crypto::Hasher& hasher, const Envelope& value) {
  const auto& [slot, entry, sender, body] = value;
  crypto::Feed(hasher, slot, entry, sender, body);
}

inline void HashValue(crypto::Hasher& hasher, const SignedEnvelope& value) {
  hasher.Update(value.digest);  // the frame and the envelope follow from each other
}

inline void HashValue(crypto::Hasher& hasher, const Echo& value) {
  const auto& [vector, present, equivocated] = value;
  crypto::Feed(hasher, vector, present, equivocated);
}

inline void HashValue(crypto::Hasher& hasher, const Aggregate& value) {
  const auto& [index, result_root, included, leaves_root, commits_root, slowest] = value;
  crypto::Feed(hasher, index, result_root, included, leaves_root, commits_root, slowest);
}

inline void HashValue(crypto::Hasher& hasher, const ColumnNumbers& value) {
  const auto& [missing, s, norm, size] = value;
  crypto::Feed(hasher, missing, s, norm, size);
}

inline void HashValue(crypto::Hasher& hasher, const Voucher& value) {
  const auto& [invite, moderator, uses, ends_step, kind] = value;
  crypto::Feed(hasher, invite, moderator, uses, ends_step, kind);
}

inline void HashValue(crypto::Hasher& hasher, const Arrival& value) {
  const auto& [peer, voucher] = value;
  crypto::Feed(hasher, peer, voucher);
}

inline void HashValue(crypto::Hasher& hasher, const Credential& value) {
  const auto& [invite, by_moderator, by_holder] = value;
  crypto::Feed(hasher, invite.moderator, invite.holder, invite.uses, invite.ends_step, invite.kind,
               invite.anchor, by_moderator.bytes, by_holder.bytes);
}

inline void HashValue(crypto::Hasher& hasher, const Accusation& value) {
  const auto& [target, step] = value;
  crypto::Feed(hasher, target, step);
}

inline void HashValue(crypto::Hasher& hasher, const Naming& value) {
  const auto& [target, step, column] = value;
  crypto::Feed(hasher, target, step, column);
}

inline void HashValue(crypto::Hasher& hasher, const CaseId& value) {
  const auto& [kind, accuser, target, step, column] = value;
  crypto::Feed(hasher, kind, accuser, target, step, column);
}

inline void HashValue(crypto::Hasher& hasher, const Status& value) {
  const auto& [rank, locked] = value;
  crypto::Feed(hasher, rank, locked);
}

inline void HashValue(crypto::Hasher& hasher, const Propose& value) {
  const auto& [rank, proposed, statuses, statuses_root] = value;
  crypto::Feed(hasher, rank, proposed, statuses, statuses_root);
}

inline void HashValue(crypto::Hasher& hasher, const Thresholds& value) {
  const auto& [n, t_s, t_a] = value;
  crypto::Feed(hasher, n, t_s, t_a);
}

// The other fields follow from what `decision` sealed and from the block before this one; the
// digest of all of them is fed where RecentBlocks keeps it, and in each message that names it.
inline void HashValue(crypto::Hasher& hasher, const Block& value) {
  crypto::Feed(hasher, value.genesis, value.step, value.decision, value.previous, value.randomness,
               value.members, value.thresholds, value.state_root, value.result_roots);
}

}  // namespace ostraka::wire
