// Until when a node that ends may be in its run again, in steps and in time.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/protocol/rules/coming.h"

namespace ostraka::cli {

struct WayBackFacts {
  protocol::WayBack way;
  bool is_member = false;   // by the newest block that it has
  bool was_one = false;     // or it was one before
  std::uint64_t step = 0;   // the next one
  std::uint64_t steps = 0;  // of the run
  std::optional<double> step_seconds = {};
};
// One line without a full stop; empty if nothing lets it in again, or the run is over.
std::string WayBackText(const WayBackFacts& facts);

}  // namespace ostraka::cli
