// Log lines for a machine's observations about its own state.
//
// Thread safety: none; one owner.
#pragma once

#include <optional>
#include <string>

#include "node/base/time.h"
#include "node/net/mesh/transport.h"
#include "node/protocol/ground/observation.h"

namespace ostraka::host {

struct ObservationLine {
  net::NoticeLevel level = net::NoticeLevel::kInfo;
  std::string line;
  bool operator==(const ObservationLine&) const = default;
};

class ObservationLines {
 public:
  // The line for `seen`. Nullopt for observations that have an event in NodeEvents, and for
  // repetitions: catching up is reported once a second and at its end, and the node's own slowness
  // whenever it has grown.
  std::optional<ObservationLine> Of(base::Time now, const protocol::Observation& seen);

 private:
  std::optional<base::Time> told_of_way_;
  std::uint64_t told_late_ms_ = 0;
};

}  // namespace ostraka::host
