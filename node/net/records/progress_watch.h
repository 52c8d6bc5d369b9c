// Watches whether the peer of a link makes the progress that it owes, in both directions
// (rate_floor.h).
//
// A peer owes progress in taking while a record of ours is being written or our bulk waits for its
// credit, and in giving while a record or a blob of its own is incomplete and it has credit. It
// owes nothing while it waits for our pacer or for our credit: the caller says so.
//
// Promises:
//   W1  A peer is reported only for a direction in which it owed progress at `looks` looks, one
//       after the other.
//   W2  Taking is judged before giving, and each look judges both until one is too slow.
//
// May not know: records, sockets, time.
//
// Memory: constant.
//
// What an attacker can do here: see rate_floor.h.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/net/records/rate_floor.h"

namespace ostraka::net {

class ProgressWatch {
 public:
  // `min_bytes_per_second` is what the reason names. REQUIRES: 0 < looks.
  ProgressWatch(std::uint64_t min_bytes_per_look, int looks, std::uint64_t min_bytes_per_second)
      : taking_(min_bytes_per_look, looks),
        giving_(min_bytes_per_look, looks),
        rate_(std::to_string(min_bytes_per_second) + " bytes a second") {}

  struct Progress {
    bool owes_taking = false;
    std::uint64_t sent = 0;  // bytes that the peer has taken so far
    bool owes_giving = false;
    std::uint64_t received = 0;  // bytes that the peer has given so far
  };
  // Call at even intervals. Returns the reason to close the link, phrased about the peer, if it is
  // too slow.
  std::optional<std::string> Look(const Progress& progress) {
    if (taking_.TooSlow(progress.owes_taking, progress.sent)) {
      return "takes what we send too slowly: less than " + rate_;
    }
    if (giving_.TooSlow(progress.owes_giving, progress.received)) {
      return "sends what it has begun too slowly: less than " + rate_;
    }
    return std::nullopt;
  }

 private:
  RateFloor taking_;
  RateFloor giving_;
  const std::string rate_;
};

}  // namespace ostraka::net
