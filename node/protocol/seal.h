// SEAL's fast path: agreement on the vector (peer -> message digest | absent | equivocated) of a
// phase, decided when the echoes of ALL members are identical. (A quorum of equal echoes is not
// enough: research/network.md 3.4 has the fork.) The slow path is not built yet: where the fast
// path cannot be taken the caller stops the run with the reason given here.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;

struct SealEntry {
  enum class State : std::uint8_t { kAbsent = 0, kPresent = 1, kEquivocated = 2 };
  State state = State::kAbsent;
  Digest digest;  // of the envelope if present, else zero
  bool operator==(const SealEntry&) const = default;
};

// entries[e * n + i]: entry e of the i-th member by key. Seal A has two entries a member
// (0: COMMIT, 1: AGG), the others one.
using SealVector = std::vector<SealEntry>;

wire::Echo EchoOf(const SealVector& vector);

// What a seal decided, chained to the decision before: every later message names it.
Digest DecisionDigest(const wire::Slot& seal_slot, const Digest& vector, const Digest& previous);

struct FastPath {
  enum class State : std::uint8_t { kWaiting, kDecided, kImpossible };
  State state = State::kWaiting;
  std::string reason;  // of kImpossible: who echoed what otherwise
};

// REQUIRES: `members` sorted; `echoes` holds own echo under `self`.
FastPath TryFastPath(const PeerId& self, const std::vector<PeerId>& members,
                     const std::map<PeerId, wire::Echo>& echoes);

}  // namespace ostraka::protocol
