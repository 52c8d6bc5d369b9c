// Which situations of docs/protocol.md 7, "Coming in", and of disputes with newcomers a block
// shows: the part of rules_coverage.h that is about keys from outside.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "tests/property/rules_coverage.h"

namespace ostraka::protocol {

std::vector<const char*> AdmissionSituations();
// REQUIRES: `block` follows `head` by `sealed`; `coverage` has the situations.
void NoteAdmissions(const wire::Block& head, const Manifest& manifest, const naive::Sealed& sealed,
                    const wire::Block& block, Coverage& coverage);

}  // namespace ostraka::protocol
