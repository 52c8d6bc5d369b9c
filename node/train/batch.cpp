#include "node/train/batch.h"

#include <set>

#include "crypto/stream.h"
#include "node/base/check.h"

namespace ostraka::train {

std::vector<std::uint32_t> DrawBatch(const base::Digest& batch_seed, std::uint32_t row_count,
                                     std::uint32_t batch_size) {
  OSTRAKA_CHECK(batch_size <= row_count);
  crypto::Stream stream("batch rows", batch_seed);
  std::set<std::uint32_t> rows;
  for (std::uint64_t last = row_count - batch_size; last < row_count; ++last) {
    const auto row = static_cast<std::uint32_t>(stream.Below(last + 1));
    // On a collision `last` takes the row's place; no earlier draw could have reached `last`.
    if (!rows.insert(row).second) rows.insert(static_cast<std::uint32_t>(last));
  }
  return {rows.begin(), rows.end()};
}

}  // namespace ostraka::train
