// How long a connection may take for each of its states, and how much of a link's peer is held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::net {

using base::Digest;
using base::Duration;
using base::PeerId;
using base::SharedBytes;
using crypto::SharedBlob;

// A connection that never becomes a link is gone after `hello` and a second to hear why.
struct LinkTimeouts {
  Duration opening = base::Seconds(2);    // of one from outside to say what it wants
  Duration handshake = base::Seconds(4);  // TCP connect, opening, TLS and upgrade together
  Duration hello = base::Seconds(8);      // all until it is a link. REQUIRES: > handshake
  Duration idle = base::Seconds(30);      // a peer silent for so long is gone; pinged at half
  Duration close = base::Seconds(2);      // for a link's peer to answer a close
};

struct LinkLimits {
  // Waiting for one peer; more: disconnected.
  std::size_t control_queue_bytes = 1 << 20;
  std::uint64_t bulk_queue_bytes = 0;  // 0: 64 blobs of the largest size, 64 MiB at least
  // Bulk that a member may send before we have taken it, so what control may have to wait behind. A
  // link carries at most so much in a round trip.
  std::uint64_t credit_bytes = 4 << 20;
  // Of a member that could go on: it has credit and a blob of which a part has come, or it was sent
  // something and has not taken it. Judged over `slow_looks` seconds in a row.
  std::uint64_t min_bytes_per_second = 4 << 10;
  int slow_looks = 30;
  Duration look = base::Seconds(1);
};

}  // namespace ostraka::net
