// A stop that somebody asked for, and that waits for the block of the step in progress.
//
// Promises:
//   W1  The wait is given up `at_most` after it began, or when fewer than a quorum of the members
//       have been reachable for kAlone, and not before.
//
// A step cannot end without a quorum, and nobody is dropped while it does not. So a member that
// waits alone ends when the others are stopped too, and loses nothing by it. If it was cut off, and
// the others go on, the coin is late by then (seal B waits for 3 Delta).
//
// May not know: machines, links, clocks.
// Memory: two times and a name.
// What an attacker can do here: make the wait last to its end.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "node/base/time.h"

namespace ostraka::host {

class StopWait {
 public:
  static constexpr base::Duration kAlone = base::Seconds(10);

  // `by`: who asked, as in "stopped by ...". REQUIRES: it has not begun (CHECKed).
  void Begin(base::Time now, const std::string& by, base::Duration at_most);
  bool begun() const { return !by_.empty(); }
  const std::string& by() const { return by_; }

  // Why it is given up now; nullopt: it goes on. `reachable` members of the last block, this one
  // included. REQUIRES: begun, and `now` never falls.
  std::optional<std::string> GivenUp(base::Time now, std::size_t reachable, std::size_t quorum);

 private:
  std::string by_;
  base::Time until_;
  base::Duration at_most_;
  std::optional<base::Time> alone_since_;
};

}  // namespace ostraka::host
