// What a machine observes of its own fate, as lines for a log.
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
  // A node's own slowness is told whenever it has grown. Nullopt for what NodeEvents has an event
  // of its own for, and for what people know already: how far a node has caught up is told once a
  // second, and when it is there.
  std::optional<ObservationLine> Of(base::Time now, const protocol::Observation& seen);

 private:
  std::optional<base::Time> told_of_way_;
  std::uint64_t told_late_ms_ = 0;
};

}  // namespace ostraka::host
