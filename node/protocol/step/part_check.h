// Whether a PART can be taken in under its sender's COMMIT: a function of the two messages and the
// part's bytes, so all members that hold them reach one result. Attack: otherwise other members
// would state that they held in time a part that its owner refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/protocol/ground/state.h"
#include "node/protocol/mail/inbox.h"

namespace ostraka::protocol {

// The header of a raw float32 tensor of that range.
wire::TensorHeader HeaderOf(const PartRange& range);

// Why no member may take `part` in for `column`; nullopt if it is good. `parts`: of the step.
std::optional<std::string> PartFault(const Inbox::Item& commit, const Inbox::Item& part,
                                     std::uint32_t column, const std::vector<PartRange>& parts);

}  // namespace ostraka::protocol
