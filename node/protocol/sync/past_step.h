// The record of a past step: it serves to check claims about the step, and to answer requests of
// members that lack some of it (docs/protocol/step.md, "Kept for cases").
//
// Memory: the owner keeps kPastSteps of them, and of few the aggregates, a model's parameters, the
// parts of the own column and the exhibits of cases (Chain::TrimPast).
// Everything here was sealed or verified: an attacker adds to it only the one part that a case
// about it is about.
//
// Thread safety: a plain value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/ground/hash_into.h"
#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/roles.h"
#include "node/wire/block.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

inline constexpr std::uint64_t kPastSteps = 16;

// A PART as its author signed it, with its blob.
struct SignedPart {
  base::SharedBytes frame;
  SharedBlob blob;
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, frame, blob); }
};
// The part of `author` for `column`.
struct PartKey {
  std::uint32_t column = 0;
  PeerId author;
  auto operator<=>(const PartKey&) const = default;
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, column, author); }
};

struct PastStep {
  std::vector<PeerId> members;  // members that sealed the step
  // x^s, without the slots: gradients are recomputed from it alone. Null once no rule needs it
  // (Chain::TrimPast).
  SharedVector parameters;
  double tau = 0;
  BatchPlan batches;            // of the step's workers
  std::vector<Column> columns;  // all; a result that is missing or that no rule needs is null
  std::vector<wire::ColumnFate> fates;
  std::map<PeerId, wire::Commit> commits;             // sealed and well-formed
  std::map<PeerId, base::SharedBytes> commit_frames;  // of workers, as they signed them
  // Sealed, with numbers for every column; encoded, as decoded ones of kPastSteps steps would take
  // n^2 records each. NumbersOf decodes one when a member is judged, which is rare.
  std::map<PeerId, wire::SharedMessage> proofs;
  std::map<PartKey, SignedPart> parts;  // held: those of the own column, and exhibits of cases
  // The rest follows from the block of the step, of which RecentBlocks has the digest, and from
  // the messages that the block's decision names.
  void HashInto(crypto::Hasher& hasher) const {
    const auto missing = std::count_if(columns.begin(), columns.end(), [](const Column& column) {
      return column.result == nullptr;
    });
    crypto::Feed(hasher, missing, parts.size());
    for (const auto& [key, part] : parts) crypto::Feed(hasher, key);
  }

  // Nullopt if no PROOF of `author` was sealed.
  std::optional<std::vector<wire::ColumnNumbers>> NumbersOf(const PeerId& author) const {
    const auto proof = proofs.find(author);
    if (proof == proofs.end()) return std::nullopt;
    const auto* body = proof->second->As<wire::Proof>();
    OSTRAKA_CHECK(body != nullptr);  // as when it was sealed
    return body->columns;
  }
};

}  // namespace ostraka::protocol
