// What a member keeps of a past step, so that claims about it can be checked, and so that others
// can have from it what they lack (docs/protocol.md, 5: x, ghat, parts and blocks of 16 steps).
//
// Thread safety: a plain value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/roles.h"
#include "node/wire/block.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

inline constexpr std::uint64_t kPastSteps = 16;

// A PART as its author signed it, with its bytes.
struct SignedPart {
  base::SharedBytes frame;
  SharedBlob blob;
};
// Whose part of which column.
struct PartKey {
  std::uint32_t column = 0;
  PeerId author;
  auto operator<=>(const PartKey&) const = default;
};

struct PastStep {
  std::vector<PeerId> members;  // who sealed the step
  ModelState state;             // x^s
  double tau = 0;
  Digest previous_randomness;   // r^{s-1}
  std::vector<Column> columns;  // all; the result is null where there is none
  std::vector<wire::ColumnFate> fates;
  std::map<PeerId, wire::Commit> commits;  // sealed and well-formed
  // Sealed, with numbers for every column. Read again when somebody is to be judged, which is rare:
  // sixteen steps of n proofs of n columns would be held by all.
  std::map<PeerId, wire::SharedMessage> proofs;
  std::map<PartKey, SignedPart> parts;  // held: those of the own column, and exhibits of cases

  // Nullopt if `author` proved nothing.
  std::optional<std::vector<wire::ColumnNumbers>> NumbersOf(const PeerId& author) const {
    const auto proof = proofs.find(author);
    if (proof == proofs.end()) return std::nullopt;
    auto body = wire::DecodeProof(proof->second->envelope.body);
    OSTRAKA_CHECK(body.ok());  // as when it was sealed
    return std::move(body->columns);
  }
};

}  // namespace ostraka::protocol
