// The rows of a data set that a batch seed draws. Every peer must draw equal rows.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "node/base/ids.h"

namespace ostraka::train {

// `batch_size` distinct rows of 0..row_count-1 in ascending order, a function of the arguments
// alone. Every set of rows is equally likely (Floyd's sampling: Bentley and Floyd, CACM 30(9),
// 1987). The order is fixed because a mean over rows rounds differently in another order. Takes
// O(batch_size log batch_size) time, whatever row_count. REQUIRES: batch_size <= row_count.
std::vector<std::uint32_t> DrawBatch(const base::Digest& batch_seed, std::uint32_t row_count,
                                     std::uint32_t batch_size);

}  // namespace ostraka::train
