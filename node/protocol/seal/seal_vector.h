// The value that a seal agrees on: for each entry one message, none, or "equivocated" (two).
//
// Thread safety: pure functions and plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crypto/hash_into.h"
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
  void HashInto(crypto::Hasher& hasher) const;
};

// vector[e * n + i] is entry e of the i-th member by key, n being the number of members. Seal A has
// two entries for each member (0: COMMIT, 1: AGG), the other seals have one.
using SealVector = std::vector<SealEntry>;

// The value of a vector: its hash, which the seal's messages name. All members must compute the
// same: never change it within a run.
Digest HashOf(const SealVector& vector);
// Its value, and bitmaps of the entries that it names as present and as equivocated.
wire::Echo EchoOf(const SealVector& vector);
wire::Vector WireOf(const SealVector& vector);
// Nullopt unless well-formed: known states, and a zero digest unless present.
std::optional<SealVector> VectorOf(const wire::Vector& vector);

// Identifies a decision, chained to the one before (`previous`). Messages of the next seal name it
// as their parent.
Digest DecisionDigest(const wire::Slot& seal_slot, const Digest& vector, const Digest& previous);

// False beyond the end of `bitmap`: a peer's bitmap may have any length.
bool BitAt(const base::Bytes& bitmap, std::size_t index);
// The state of entry `index` by an ECHO's bitmaps.
SealEntry::State StateIn(const wire::Echo& echo, std::size_t index);

// For people: how `theirs` differs from `mine`, by the first entry whose state differs, or that
// only digests differ. Bits beyond the seal's `entries` are padding, which may hold anything.
// REQUIRES: the values differ; `members` is not empty.
std::string DifferenceOf(const wire::Echo& mine, const wire::Echo& theirs, std::size_t entries,
                         const std::vector<PeerId>& members);

}  // namespace ostraka::protocol
