// One digest for an ordered list of digests, such as the COMMITs that an AGG includes. Their number
// is hashed too, so that no list is a prefix of another.
//
// Thread safety: pure function.
#pragma once

#include <vector>

#include "node/base/ids.h"

namespace ostraka::crypto {

base::Digest SetRoot(const std::vector<base::Digest>& digests);

}  // namespace ostraka::crypto
