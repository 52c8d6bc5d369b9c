// What evidence about a run is judged by (proofs/evidence), of its manifest.
//
// Thread safety: pure function.
#pragma once

#include "node/protocol/ground/manifest.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

// REQUIRES: Validate(manifest).
evidence::KnownRun KnownRunOf(const Manifest& manifest);

}  // namespace ostraka::protocol
