// Counts of a connection.
#pragma once

#include <cstdint>

namespace ostraka::net {

// Bytes of records passed to or from TLS. The framing of TLS and TCP is not counted.
struct Traffic {
  std::uint64_t control_sent = 0;  // messages, headers, leaf hashes
  std::uint64_t control_received = 0;
  std::uint64_t payload_sent = 0;  // chunks of blobs
  std::uint64_t payload_received = 0;
  // Messages, not bytes: they were to be passed on for other peers, and too many waited.
  std::uint64_t carried_dropped = 0;
};

}  // namespace ostraka::net
