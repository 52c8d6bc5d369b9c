// The facts that most components of a step read: the decisions of its seals so far, and what this
// member derives from them. Step alone writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "crypto/hash_into.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/rules/step_reading.h"

namespace ostraka::protocol {

struct StepFacts {
  explicit StepFacts(StepReading before) : reading(std::move(before)) {}
  void HashInto(crypto::Hasher& hasher) const;

  StepReading reading;
  // The parent of seal A (the head block), of seal B (the last decision: it changes with each draw)
  // and of seal C; zero until known. Once seal B has decided, parent_b is that decision, which the
  // ECHOs of seal B do not name.
  Digest parent_a, parent_b, parent_c;
  std::optional<std::uint32_t> my_column;  // the column that this member owns
  // Either all of reading.absent or an earlier set: the seals do not wait for the ECHOs of these
  // members, and nobody listens to them. Absent members that are not muted owe no messages, but
  // still take part in seals. The bound: Step::MuteAbsent.
  std::set<PeerId> muted;

  std::uint64_t number() const { return reading.sealed.step; }
  const Roles& roles() const { return reading.sealed.roles; }
  bool seal_a_decided() const { return !parent_b.is_zero(); }
  bool coin_known() const { return !reading.randomness.is_zero(); }
  // Zero for phase kGenesis.
  const Digest& ParentOf(wire::Phase phase) const;
  // The present draw in phase B; the other phases have draw 0 alone.
  std::uint32_t DrawOf(wire::Phase phase) const;
  Inbox::Place PlaceOf(wire::Phase phase, wire::MessageType type, std::uint32_t draw = 0,
                       std::uint32_t index = 0) const {
    return {number(), phase, type, draw, index};
  }
};

// The message of that place that names the right parent; null if there is none (yet). Its sender
// may have signed another one for the slot.
const Inbox::Version* Usable(const Inbox& inbox, const StepFacts& facts, const Inbox::Place& place,
                             const PeerId& sender);

// Delay for SealOptions::moment. Uses the manifest's Delta, not the head's, which grows with
// measured lag: each lag contains such a moment, so using the head's Delta would feed growth back
// into itself [one cheat of eight, that gave its messages to one honest member at first, drove
// Delta to 21 s in 155 steps].
inline base::Duration MomentOf(const Manifest& manifest) { return {manifest.delta.ns / 8}; }

}  // namespace ostraka::protocol
