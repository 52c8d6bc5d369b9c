// Log lines for a machine's observations about its own state.
//
// Promises:
//   X1  A line for every observation that has no event in NodeEvents, except the beginning of a
//       step, a seal and what a restart found, and except repetitions: catching up is reported once
//       in five seconds and when it arrives, and the node's own slowness whenever it has grown.
// Memory: a time and a number.
// What an attacker can do here: a slow or absent member causes a line for each iteration of a seal
// (SlowSeal, for debugging); lines contain no byte of a peer but ids.
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
  // The line for `seen`, or nullopt (X1).
  std::optional<ObservationLine> Of(base::Time now, const protocol::Observation& seen);

 private:
  std::optional<base::Time> last_catching_up_line_;
  bool was_at_head_ = false;  // as of the last CatchingUp
  std::uint64_t told_late_ms_ = 0;
};

}  // namespace ostraka::host
