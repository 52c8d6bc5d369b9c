// An accepted socket, and the bytes that were read from it before TLS begins.
#pragma once

#include <string>

#include "node/base/bytes.h"
#include "node/base/time.h"

namespace ostraka::net {

struct AcceptedSocket {
  int fd = -1;          // the receiver must close it
  std::string address;  // AddressGroup
  std::string prefix;   // AddressPrefix
  std::string remote;   // "host:port"
  bool is_loopback = false;
};

// A caller that has sent enough for TLS to begin.
struct Caller {
  AcceptedSocket socket;    // the receiver must close it
  base::Bytes first_bytes;  // bytes already read from it, which TLS must process first
  bool names_run = false;
  base::Duration waited;  // since it was accepted
};

}  // namespace ostraka::net
