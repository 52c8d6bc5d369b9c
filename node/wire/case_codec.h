// Internal to node/wire, included by its .cpp files only: case ids, which votes and blocks share.
#pragma once

#include "node/base/status.h"
#include "node/wire/messages.h"
#include "ostraka.capnp.h"

namespace ostraka::wire::internal {

void WriteCaseId(const CaseId& id, schema::CaseId::Builder builder);

// Refuses a column out of range, and a column other than 0 in a case about a whole gradient:
// otherwise one case would have several ids.
base::Status ReadCaseId(schema::CaseId::Reader reader, CaseId& out);

// The index of a column, below kMaxParts.
base::Status ReadColumnIndex(std::uint32_t column, std::uint32_t& out);

}  // namespace ostraka::wire::internal
