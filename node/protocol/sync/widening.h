// Whom of n members to ask for a thing that one of them has, while it does not come: one, then
// three more, nine more, ..., so that one who gives it to a few costs the others some rounds of
// asking and not n of them.
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

// Of attempt 0, 1, ...; once all have been asked one at a time, each once more. REQUIRES: n > 0.
inline Widening WideningAt(std::size_t attempt, std::size_t n) {
  Widening at{0, 1};
  for (; attempt > 0; --attempt) {
    at.first += at.count;
    at.count = at.first < n ? std::min(3 * at.count, n - at.first) : 1;
  }
  at.first %= n;
  return at;
}

// Attempts after which all have been asked.
inline std::size_t WideningSweep(std::size_t n) {
  std::size_t attempts = 0;
  for (std::size_t asked = 0, count = 1; asked < n; ++attempts, count *= 3) asked += count;
  return attempts;
}

}  // namespace ostraka::protocol
