// The checks of each kind of evidence. Internal to proofs/evidence: Verify checks the file's form
// before and signatures after.
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

// The reason why a file is not proven or malformed.
struct Objection {
  Outcome outcome;
  std::string reason;
};
using Objections = std::optional<Objection>;  // nullopt: the check passed

Objections Malformed(std::string reason);
Objections NotProven(std::string reason);

using Frames = std::vector<wire::SignedEnvelope>;  // the file's frames, opened, in its order

// Number of frames in a file of the kind. For kinds that are not IsOwnWord: the minimum.
std::size_t FramesOf(EvidenceKind kind);

// Checks that the frames show what the file claims, except signatures. REQUIRES: FramesOf frames;
// if IsOwnWord, the accused sent all of them.
Objections CheckKind(const wire::EvidenceFile& file, const Frames& frames);

// For a verdict: whether votes such as these ban in the run. REQUIRES: CheckKind has passed.
Objections CheckBan(const wire::EvidenceFile& file, const Frames& frames, const KnownRun& run);

// One line that states what a proven file shows.
std::string ProvenReason(EvidenceKind kind);

}  // namespace ostraka::evidence::internal
