// Assembles the message with a blob that one peer is sending, and trusts none of its claims.
//
// Promises:
//   A1  A chunk is kept only if it has the announced leaf hash, and leaves are kept only if they
//       hash to the announced root.
//   A2  What is kept never exceeds what was announced, and what was announced never exceeds
//       max_blob_bytes.
//   A3  Take returns a message once, and only when every chunk of its blob is there.
//   A4  After an error nothing more is kept; the caller closes the connection.
//
// May not know: credit, sockets, the meaning of a frame.
//
// Memory: whatever was announced, written memory is at most 17/16 of the bytes received so far, and
// reserved address space is at most 16 times that.
//
// What an attacker can do here: announce much and send little. It costs address space, not memory.
// Send a blob slowly: the rate floor (rate_floor.h) ends the link.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::net {

class BlobReceiver {
 public:
  struct Message {
    base::SharedBytes frame;
    crypto::SharedBlob blob;
  };

  BlobReceiver(std::uint64_t max_blob_bytes, bool allow_unhashed)
      : max_blob_bytes_(max_blob_bytes), allow_unhashed_(allow_unhashed) {}

  // Take the bodies of ANNOUNCE, LEAVES and CHUNK records (node/net/records/record.h) in the order
  // of arrival. An error is the reason to close the connection, phrased about the other side.
  base::Status Announce(base::ByteView body);
  base::Status Leaves(base::ByteView body);
  base::Status Chunk(base::ByteView body);

  // True if a blob was announced and is incomplete.
  bool active() const { return active_; }

  // Returns the message once its blob is complete; after that nullopt.
  std::optional<Message> Take();

  // A2 and A3.
  void CheckInvariants() const;

 private:
  bool hashed() const { return !root_.is_zero(); }
  bool leaves_complete() const { return !hashed() || leaves_.size() == chunk_count_; }
  base::Status CheckLeaves() const;

  const std::uint64_t max_blob_bytes_;
  const bool allow_unhashed_;

  bool active_ = false;
  base::Bytes frame_;
  base::Digest root_;
  std::size_t blob_bytes_ = 0;
  std::size_t chunk_count_ = 0;
  std::size_t chunks_taken_ = 0;
  std::vector<base::Digest> leaves_;
  base::Bytes data_;
};

}  // namespace ostraka::net
