// Which situations of docs/protocol/admission.md, "Coming in", of disputes with newcomers, and of
// docs/protocol/waits.md, "The wait for parts", a block shows: the part of rules_coverage.h about
// what came after version 8.
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
