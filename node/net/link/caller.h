// A socket that was accepted, and what was read from it before TLS begins.
#pragma once

#include <string>

#include "node/base/bytes.h"
#include "node/base/time.h"

namespace ostraka::net {

struct AcceptedSocket {
  int fd = -1;          // the receiver's to close
  std::string address;  // AddressGroup
  std::string prefix;   // AddressPrefix
  std::string remote;   // "host:port"
  bool is_loopback = false;
};

// Who has said enough for TLS to begin.
struct Caller {
  AcceptedSocket socket;    // the receiver's to close
  base::Bytes first_bytes;  // what was read from it, which TLS must see first
  bool names_run = false;
  base::Duration waited;  // since it came
};

}  // namespace ostraka::net
