// The facts of a manifest by which evidence about its run is judged (proofs/evidence).
//
// Thread safety: pure function.
#pragma once

#include "node/protocol/ground/manifest.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

// REQUIRES: Validate(manifest) is OK.
evidence::KnownRun KnownRunOf(const Manifest& manifest);

}  // namespace ostraka::protocol
