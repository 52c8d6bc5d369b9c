// Internal to node/wire, included by its .cpp files only: names of cases, which votes and blocks
// share.
#pragma once

#include "node/base/status.h"
#include "node/wire/messages.h"
#include "ostraka.capnp.h"

namespace ostraka::wire::internal {

void WriteCaseId(const CaseId& id, schema::CaseId::Builder builder);

// Refuses a column that is none, or one in a case that is about a whole gradient: one case has one
// name.
base::Status ReadCaseId(schema::CaseId::Reader reader, CaseId& out);

// The index of a column, below kMaxParts.
base::Status ReadColumnIndex(std::uint32_t column, std::uint32_t& out);

}  // namespace ostraka::wire::internal
