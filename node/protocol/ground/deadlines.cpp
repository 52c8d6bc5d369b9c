#include "node/protocol/ground/deadlines.h"

#include <algorithm>

namespace ostraka::protocol {

std::uint64_t PartWaitAtGenesis(const Manifest& manifest) {
  return static_cast<std::uint64_t>(manifest.part_timeout.ns / 2'000);
}

base::Duration PartWaitAfter(const wire::Block& head, const Manifest& manifest) {
  if (!manifest.adaptive || head.part_us == 0) return manifest.part_timeout;
  const auto most = static_cast<std::uint64_t>(manifest.part_timeout.ns / 1'000);
  return base::Microseconds(static_cast<std::int64_t>(std::min(head.part_us, most)));
}

base::Duration SealDeadlineAfter(const wire::Block& head, const Manifest& manifest) {
  const base::Duration delta = base::Microseconds(static_cast<std::int64_t>(head.delta_us));
  return PartWaitAfter(head, manifest) * 2 + delta * 2;
}

}  // namespace ostraka::protocol
