// Starts the process that talks to the router: a program with a pipe to its stdin, by whose end it
// learns that its parent is gone, and a pipe from its stdout. It gets no environment (which may
// hold a passphrase), no other open file, no new privileges, and may write no file.
//
// The child's own parent is init: it needs no wait(2), and ends by itself once stdin has ended.
//
// Thread safety: a free function.
#pragma once

#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/os/descriptor.h"

namespace ostraka::net {

struct MapperChild {
  os::Descriptor to;    // its stdin
  os::Descriptor from;  // its stdout, which does not block
};

// Unavailable: no process or pipe. A program that does not exist ends at once, without a line.
// REQUIRES: `command` is not empty.
base::StatusOr<MapperChild> StartMapper(const std::vector<std::string>& command);

}  // namespace ostraka::net
