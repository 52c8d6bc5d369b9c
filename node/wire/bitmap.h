// Members as bits: bit i stands for item i of an ordered list, such as the members of a block.
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
// The members that `bitmap` over `members` names; nullopt if the bitmap's length does not fit
// `members` or a bit beyond the last member is set.
std::optional<std::vector<base::PeerId>> SendersOf(const base::Bytes& bitmap,
                                                   const std::vector<base::PeerId>& members);
// A sender that is not in `members` sets no bit.
base::Bytes BitmapOf(const std::vector<base::PeerId>& senders,
                     const std::vector<base::PeerId>& members);

}  // namespace ostraka::wire
