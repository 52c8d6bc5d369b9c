// What each kind of evidence asks of its frames. Internal to proofs/evidence: Verify has checked
// the form of the file before, and checks signatures after.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::evidence::internal {

// Why a file is not proven or malformed.
struct Objection {
  Outcome outcome;
  std::string reason;
};
using Objections = std::optional<Objection>;  // nullopt: the check passed

Objections Malformed(std::string reason);
Objections NotProven(std::string reason);

using Frames = std::vector<wire::SignedEnvelope>;  // of the file, opened, in its order

// How many frames a file of the kind has. Kinds that are not IsOwnWord: at least so many.
std::size_t FramesOf(EvidenceKind kind);

// The frames show what the file claims; signatures apart. REQUIRES: FramesOf frames, and if
// IsOwnWord all of them name the accused as sender.
Objections CheckKind(const wire::EvidenceFile& file, const Frames& frames);

// One line: what a proven file shows.
std::string ProvenReason(EvidenceKind kind);

}  // namespace ostraka::evidence::internal
