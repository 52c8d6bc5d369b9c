// Members as bits: bit i of a bitmap is the i-th of an ordered list, such as the members of a
// block.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::wire {

bool HasBit(const base::Bytes& bitmap, std::size_t bit);  // false beyond its end
// The members that `bitmap` over `members` names; nullopt if its length is not theirs, or if it has
// bits beyond them.
std::optional<std::vector<base::PeerId>> SendersOf(const base::Bytes& bitmap,
                                                   const std::vector<base::PeerId>& members);
// Of `senders`, those that are no members have no bit.
base::Bytes BitmapOf(const std::vector<base::PeerId>& senders,
                     const std::vector<base::PeerId>& members);

}  // namespace ostraka::wire
