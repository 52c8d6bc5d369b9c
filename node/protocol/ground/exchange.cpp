#include "node/protocol/ground/exchange.h"

#include <algorithm>

#include "node/protocol/ground/codec.h"
#include "node/protocol/ground/roles.h"

namespace ostraka::protocol {

Exchange ExchangeOf(const Manifest& manifest, std::uint64_t dimension) {
  const auto members = static_cast<std::uint32_t>(manifest.members.size());
  const wire::Thresholds thresholds =
      ThresholdsFor(manifest.mode, members, GenesisAsynchronousFaults(manifest.mode, members));
  const std::uint32_t workers =
      members - SparedValidators(members, FaultBound(thresholds), manifest.validators);
  const auto dialed = static_cast<std::uint32_t>(
      std::count_if(manifest.members.begin(), manifest.members.end(),
                    [](const Member& member) { return !member.only_dials; }));
  const std::uint64_t owners = std::clamp<std::uint32_t>(dialed, 1, workers);
  const std::uint64_t part = (dimension + owners - 1) / owners;
  const std::uint64_t part_bytes = EncodedBytes(manifest.codecs.parts, part);
  const std::uint64_t result_bytes = EncodedBytes(manifest.codecs.results, part);
  return {.sent_bytes = (owners - 1) * part_bytes + (members - 1) * result_bytes,
          .received_bytes = (workers - 1) * part_bytes + (owners - 1) * result_bytes};
}

}  // namespace ostraka::protocol
