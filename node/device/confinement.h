// Takes from this process what a driver has no business with: sockets of a network, other
// processes' memory, and more rights by programs that it starts. It is a fence against a driver's
// bugs. A driver that means harm still reads what this user's files allow.
//
// Thread safety: called once.
#pragma once

#include "node/base/status.h"

namespace ostraka::device {

// For good, and for all threads. Unavailable: this system cannot (seccomp).
base::Status Confine();

}  // namespace ostraka::device
