// Says when somebody who should be making progress makes too little of it.
//
// It counts looks, not seconds: a process that was stopped for a while looks once when it goes on,
// and so accuses nobody of its own sleep.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>

namespace ostraka::net {

class RateFloor {
 public:
  // REQUIRES: 0 < looks.
  RateFloor(std::uint64_t min_bytes_per_look, int looks)
      : min_bytes_(min_bytes_per_look * static_cast<std::uint64_t>(looks)), looks_(looks) {}

  // At even intervals. `owes`: the other side could go on at this moment; `total`: bytes that it
  // ever moved. True: at `looks` looks in a row it owed, and it moved less than the minimum since.
  bool TooSlow(bool owes, std::uint64_t total) {
    if (!owes) {
      seen_ = 0;
      return false;
    }
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
  int seen_ = 0;  // looks in a row at which it owed
  std::uint64_t since_ = 0;
};

}  // namespace ostraka::net
