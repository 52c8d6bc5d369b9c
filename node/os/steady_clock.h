// The clock of the real node: monotonic, with an arbitrary origin.
//
// Thread safety: any thread.
#pragma once

#include <chrono>

#include "node/base/time.h"

namespace ostraka::os {

inline base::Time SteadyNow() {
  return {std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

}  // namespace ostraka::os
