#include "node/train/batch.h"

#include "node/base/check.h"

namespace ostraka::train {

std::set<std::uint32_t> DrawDistinct(crypto::Stream& stream, std::uint32_t bound,
                                     std::uint32_t count) {
  OSTRAKA_CHECK(count <= bound);
  std::set<std::uint32_t> drawn;
  for (std::uint64_t last = bound - count; last < bound; ++last) {
    const auto number = static_cast<std::uint32_t>(stream.Below(last + 1));
    // On a collision `last` takes the number's place; no earlier draw could have reached `last`.
    if (!drawn.insert(number).second) drawn.insert(static_cast<std::uint32_t>(last));
  }
  return drawn;
}

std::vector<std::uint32_t> DrawBatch(const base::Digest& batch_seed, std::uint32_t row_count,
                                     std::uint32_t batch_size) {
  crypto::Stream stream("batch rows", batch_seed);
  const std::set<std::uint32_t> rows = DrawDistinct(stream, row_count, batch_size);
  return {rows.begin(), rows.end()};
}

}  // namespace ostraka::train
