// The signers of files whose frames are not the accused's: members that judge. Internal to
// proofs/evidence.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "node/base/bytes.h"
#include "node/wire/block.h"
#include "proofs/evidence/evidence.h"
#include "proofs/evidence/kinds.h"

namespace ostraka::evidence::internal {

// Frames of members, ordered by sender, as many as needed. An error if one cannot be opened.
base::StatusOr<std::vector<Bytes>> JudgesOf(const std::vector<base::SharedBytes>& frames,
                                            const KnownRun& run);
// The signers must be members of the run, exactly one more than the fault bound, so that one of
// them is honest. The exact number ensures that nobody can add or omit signatures.
Objections CheckSigners(const Frames& frames, const KnownRun& run);
// One frame per judge, ordered by sender.
Objections CheckOrder(const Frames& frames);
// COMMITs of the step after `block`, in that order, that name it as their parent.
Objections CheckBuilding(const Frames& frames, const Digest& run_id, const wire::Block& block);

}  // namespace ostraka::evidence::internal
