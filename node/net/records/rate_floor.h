// Detects a peer that owes progress and makes too little of it.
//
// It counts looks, not seconds. Rationale: a process that was suspended looks only once when it
// resumes, so it blames no peer for its own suspension.
//
// Promises:
//   F1  A peer is called slow only after `looks` looks in a row at which it owed progress.
//   F2  A peer that moves the minimum in every such row is never called slow.
//
// May not know: seconds, sockets, what the bytes are.
//
// Memory: constant.
//
// What an attacker can do here: move exactly the minimum, for ever. It then holds one link, which
// is its own.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>

#include "node/base/check.h"

namespace ostraka::net {

class RateFloor {
 public:
  // REQUIRES: 0 < looks.
  RateFloor(std::uint64_t min_bytes_per_look, int looks)
      : min_bytes_(min_bytes_per_look * static_cast<std::uint64_t>(looks)), looks_(looks) {
    OSTRAKA_CHECK(looks > 0);
  }

  // Call at even intervals. `owes`: the other side could make progress at this moment. `total`:
  // bytes that it has moved so far. Returns true if it owed progress at `looks` looks in a row and
  // moved less than the minimum in that time.
  bool TooSlow(bool owes, std::uint64_t total) {
    if (!owes) {
      seen_ = 0;
      return false;
    }
    OSTRAKA_CHECK(seen_ <= looks_ && (seen_ == 0 || total >= since_));
    if (seen_ == 0) since_ = total;
    if (seen_++ < looks_) return false;
    const bool slow = total - since_ < min_bytes_;
    seen_ = 1;
    since_ = total;
    return slow;
  }

 private:
  const std::uint64_t min_bytes_;
  const int looks_;
  int seen_ = 0;  // consecutive looks at which progress was owed
  std::uint64_t since_ = 0;
};

}  // namespace ostraka::net
