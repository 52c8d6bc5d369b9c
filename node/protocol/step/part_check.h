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

#include "node/protocol/ground/codec.h"
#include "node/protocol/ground/state.h"
#include "node/protocol/mail/inbox.h"

namespace ostraka::protocol {

// The wire header of every PART or RESULT of that range.
wire::TensorHeader HeaderOf(const PartRange& range, Codec codec);

// Why no member may accept `part` for `column`; nullopt if it is good. `parts`: the ranges of all
// columns; `codec` is that of the run's parts. REQUIRES: `part` carries bulk data.
std::optional<std::string> PartFault(const Inbox::Version& commit, const Inbox::Version& part,
                                     std::uint32_t column, const std::vector<PartRange>& parts,
                                     Codec codec);

}  // namespace ostraka::protocol
