// A relay between the nodes of a swarm, so that their links are as slow as lines of the Internet
// (wan_lines.h). Each node dials each other one by a port of its own here, and what passes is held
// back and never changed. Nodes and relay share a machine: kernel buffers hold what a line has not
// taken yet, as a router's would.
//
// Promises:
//   R1  The bytes of a connection arrive in order, all or a beginning of them, and never sooner
//       than the lines allow.
//   R2  A chunk is read from its sender when the one before has left, and while what waits for the
//       receiver's line takes no longer than kMostQueued.
//   R3  A receiver that does not read stops its sender, as on a real line.
//
// Memory: two chunks a connection and direction, and what a line holds for a delay and twice
// kMostQueued.
//
// What an attacker can do here: nothing; it listens on loopback for the processes of one command.
//
// Thread safety: the owner's thread and one of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/cli/swarm/wan_lines.h"

namespace ostraka::cli {

class WanRelay {
 public:
  static constexpr base::Duration kMostQueued = base::Milliseconds(100);

  // Node i listens on ports[i] of loopback. Unavailable: the system gives too few sockets.
  static base::StatusOr<std::unique_ptr<WanRelay>> Start(const WanLine& line,
                                                         const std::vector<std::uint16_t>& ports);
  ~WanRelay();  // ends all connections
  WanRelay(const WanRelay&) = delete;
  WanRelay& operator=(const WanRelay&) = delete;

  // Where node `from` dials node `to`. REQUIRES: they differ.
  std::uint16_t PortFor(std::size_t from, std::size_t to) const;
  // That have arrived so far.
  std::uint64_t bytes() const;

 private:
  class Impl;
  explicit WanRelay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::cli
