// What the seals of the step in progress have decided so far, and what follows for this member: the
// facts that all parts of a step read. The step alone writes them.
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
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, reading, parent_a, parent_b, parent_c, my_part, muted);
  }

  StepReading reading;
  Digest parent_a, parent_b, parent_c;   // decisions that open the seals; zero until then
  std::optional<std::uint32_t> my_part;  // index of the part that this member aggregates
  std::set<PeerId> muted;  // of reading.absent: not waited for, and not heard any more

  std::uint64_t number() const { return reading.sealed.step; }
  const Roles& roles() const { return reading.sealed.roles; }
  // Zero for the genesis.
  const Digest& ParentOf(wire::Phase phase) const;
  Inbox::Place PlaceOf(wire::Phase phase, wire::MessageType type, std::uint32_t draw = 0,
                       std::uint32_t index = 0) const {
    return {number(), phase, type, draw, index};
  }
};

// The message of that place, if it names the right parent; null if there is none (yet).
const Inbox::Item* Usable(const Inbox& inbox, const StepFacts& facts, const Inbox::Place& place,
                          const PeerId& sender);

// Durations that the parts of a step share.
inline base::Duration SealDeadline(const Manifest& manifest, base::Duration delta) {
  return manifest.part_timeout * 2 + delta * 2;
}
// SealOptions::moment. Of the manifest's Delta, which does not grow with what is measured: a lag
// holds such a moment, so that with one of the head's Delta each measurement would raise Delta, and
// Delta the next measurement [one cheat of eight, that gave its messages to one honest member at
// first, drove Delta to 21 s in 155 steps].
inline base::Duration MomentOf(const Manifest& manifest) { return {manifest.delta.ns / 8}; }

}  // namespace ostraka::protocol
