// The rows of a data set that a batch seed draws. Every peer must draw equal rows.
//
// Thread safety: pure functions, but for the stream, which has one owner.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "crypto/stream.h"
#include "node/base/ids.h"

namespace ostraka::train {

// `count` distinct numbers below `bound`, drawn from the stream. Every set of them is equally
// likely (Floyd's sampling: Bentley and Floyd, CACM 30(9), 1987). Takes O(count log count) time,
// whatever `bound`. REQUIRES: count <= bound.
std::set<std::uint32_t> DrawDistinct(crypto::Stream& stream, std::uint32_t bound,
                                     std::uint32_t count);

// `batch_size` distinct rows of 0..row_count-1 in ascending order, a function of the arguments
// alone. The order is fixed because a mean over rows rounds differently in another order.
// REQUIRES: batch_size <= row_count.
std::vector<std::uint32_t> DrawBatch(const base::Digest& batch_seed, std::uint32_t row_count,
                                     std::uint32_t batch_size);

}  // namespace ostraka::train
