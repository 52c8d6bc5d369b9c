// A run that stands still: for whom this node waits, in words, and how often to say so.
//
// Promises:
//   A1  The log gets a line when a wait has lasted kFirstLine, and then each time it has doubled.
//   A2  A wait that had a line gets one more when it ends.
//
// May not know: the machine, sockets, the terminal.
// Memory: three numbers.
// What an attacker can do here: a member that stays away causes a line each time its absence has
// doubled; lines contain no byte of a peer but ids.
//
// Thread safety: pure functions; a WaitLog has one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::host {

struct NodeStatus;

struct Waiting {
  std::uint64_t step = 0;
  bool begun = false;               // a step began, or a block was seen
  base::Duration since;             // since the last progress
  std::vector<base::PeerId> peers;  // for these; not empty
  bool follows = false;             // others have begun the run, and this node comes to it
};

// Longer than ten rounds of the slowest messages that a run on the Internet should have, so that a
// healthy run never shows a wait.
inline constexpr base::Duration kShownAfter = base::Seconds(3);

// Nullopt: the run goes on, has ended, or waits for this node's own work. Members without a link
// explain the wait of all others, so if some are missing only they are named.
std::optional<Waiting> WaitingOf(const NodeStatus& status);

// "step 463: waiting 65 s for 8f93, bbf7 and 2 more; nothing is lost". At most `most` are named,
// each as `shown` says. REQUIRES: `most` is at least 1.
std::string WaitingText(const Waiting& waiting,
                        const std::function<std::string(const base::PeerId&)>& shown,
                        std::size_t most);

class WaitLog {
 public:
  static constexpr base::Duration kFirstLine = base::Seconds(5);

  // The line that is due, or nullopt. `now` is what WaitingOf says of the status at this moment.
  std::optional<std::string> Of(const std::optional<Waiting>& now);

  void CheckInvariants() const;

 private:
  base::Duration next_ = kFirstLine;  // the wait at which the next line is due
  std::uint64_t step_ = 0;            // of the last line
  bool begun_ = false;                // likewise
};

}  // namespace ostraka::host
