// Timeouts for the states of a connection, and limits on the memory and progress of a link.
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

// A connection that does not become a link within `hello` is closed, after one more second for the
// close reason to arrive.
struct LinkTimeouts {
  Duration opening = base::Seconds(2);    // for an incoming connection to name its run
  Duration handshake = base::Seconds(4);  // TCP connect, opening, TLS and upgrade together
  Duration hello = base::Seconds(8);      // in all, until it is a link. REQUIRES: > handshake
  Duration idle = base::Seconds(30);  // a peer silent for this long is disconnected; pinged after
                                      // half of it
  Duration close = base::Seconds(2);  // for a link's peer to answer a close frame
};

struct LinkLimits {
  // Bytes queued for one peer; more disconnect it.
  std::size_t control_queue_bytes = 1 << 20;
  // Besides, what is passed on to it for other peers: more of that is dropped, and disconnects
  // nobody. At least a message of the largest size that is carried (wire::kMaxForwardedBytes).
  std::size_t carried_queue_bytes = 256 << 10;
  std::uint64_t bulk_queue_bytes = 0;  // 0: 64 blobs of the largest size, at least 64 MiB
  // Bulk bytes that a member may send before this node has consumed them. This bounds the bulk in
  // front of a control message, and the bytes that a link carries per round trip.
  std::uint64_t credit_bytes = 4 << 20;
  // Minimum rate of a member that could progress: it has credit and an incomplete blob, or it was
  // sent something and has not read it. Measured over `slow_looks` intervals of `look` in a row.
  std::uint64_t min_bytes_per_second = 4 << 10;
  int slow_looks = 30;
  Duration look = base::Seconds(1);
};

}  // namespace ostraka::net
