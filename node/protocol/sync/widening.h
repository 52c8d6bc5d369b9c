// The order in which to ask n members for a thing that one of them holds, while it does not come:
// one member, then three more, nine more, and so on. Rationale: if a member gives the thing to a
// few others only, finding it takes O(log n) rounds and not n.
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>

namespace ostraka::protocol {

struct Widening {
  std::size_t first = 0;  // of the n
  std::size_t count = 0;
};

// The members to ask in attempt 0, 1, ... After the sweep, when all have been asked, one member at
// a time is asked again. REQUIRES: n > 0.
inline Widening WideningAt(std::size_t attempt, std::size_t n) {
  Widening at{0, 1};
  for (; attempt > 0; --attempt) {
    at.first += at.count;
    at.count = at.first < n ? std::min(3 * at.count, n - at.first) : 1;
  }
  at.first %= n;
  return at;
}

// The number of attempts after which all n members have been asked.
inline std::size_t WideningSweep(std::size_t n) {
  std::size_t attempts = 0;
  for (std::size_t asked = 0, count = 1; asked < n; ++attempts, count *= 3) asked += count;
  return attempts;
}

}  // namespace ostraka::protocol
