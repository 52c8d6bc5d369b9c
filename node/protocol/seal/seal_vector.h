// The value that a seal agrees on: for each entry of the view, one message, none, or "two".
//
// Thread safety: pure functions and plain values.
#pragma once

#include <cstdint>
#include <optional>
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

// EchoOf(vector).vector is the vector's hash: the value that the seal's messages name.
wire::Echo EchoOf(const SealVector& vector);
wire::Vector WireOf(const SealVector& vector);
// Null unless well-formed: known states, digests zero unless present.
std::optional<SealVector> VectorOf(const wire::Vector& vector);

// What a seal decided, chained to the decision before: every later message names it.
Digest DecisionDigest(const wire::Slot& seal_slot, const Digest& vector, const Digest& previous);

// True iff `bitmap` reaches that far and has the bit. Bitmaps of peers may have any length.
bool BitAt(const base::Bytes& bitmap, std::size_t index);
// What an ECHO's bitmaps say of entry `index`.
SealEntry::State StateIn(const wire::Echo& echo, std::size_t index);

// In words, how `theirs` differs from `mine`: the first entry in another state, or that only
// digests differ. REQUIRES: the values differ; `mine` covers whole rounds of `members`.
std::string DifferenceOf(const wire::Echo& mine, const wire::Echo& theirs,
                         const std::vector<PeerId>& members);

}  // namespace ostraka::protocol
