// Whether a PART is acceptable under its sender's COMMIT. This depends on both messages, on the
// bytes, and on whether two versions of the PART are held; members that hold equal messages reach
// equal verdicts. Attack: if they did not, others would state that they held in time a part that
// its owner refused.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/protocol/ground/state.h"
#include "node/protocol/mail/inbox.h"

namespace ostraka::protocol {

// The wire header of every PART and RESULT of that range: float32, raw codec.
wire::TensorHeader RawHeaderOf(const PartRange& range);

// Why no member may accept `part` for `column`; nullopt if it is good. `parts`: the ranges of all
// columns. REQUIRES: `part` carries bulk data.
std::optional<std::string> PartFault(const Inbox::Version& commit, const Inbox::Version& part,
                                     std::uint32_t column, const std::vector<PartRange>& parts);

}  // namespace ostraka::protocol
