// The messages queued for one peer: control first, then what is carried for others, then blobs one
// at a time, cut into chunks as far as the peer's credit allows (node/net/records/record.h), and
// last a chunk of data that the peer borrows (data_records.h).
//
// Promises:
//   Q1  control_bytes and bulk_bytes are the bytes of what waits, in memory or on a disk, and are
//       zero in an empty queue.
//   Q2  A message beyond a limit is not queued. Others than messages always are. What is carried
//       has a limit of its own, and fills no other.
//   Q3  The bulk records taken from the queue never exceed the credit of the peer.
//   Q4  Control leaves in the order of arrival, before all else; what is carried and bulk take
//       turns, a record each; carried_lane.h has the order of the one, and blobs leave in the order
//       of arrival, each whole before the next begins. [Carried before bulk, peers that flooded it
//       kept the owner's own parts and results back.] A piece of a lent chunk leaves when no blob
//       waits.
//
// May not know: sockets, pace, the meaning of a frame.
//
// Memory: max_control_bytes, max_carried_bytes, and max_bulk_bytes of blobs, which the queues of
// all receivers share; one lent chunk, which the caller counts.
//
// The queues of guests (keys that are no members) are bounded together besides (mesh.h, X5).
//
// What an attacker can do here: read slowly, so that the queue fills; the caller then closes the
// connection. Grant much credit: it only shortens the wait. As a peer for which others carry, fill
// the lane of what is carried: that closes nothing.
//
// Thread safety: none; one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/net/records/carried_lane.h"
#include "node/net/records/record.h"

namespace ostraka::net {

// An outgoing blob with the leaf hashes that precede its chunks. The queues of all its receivers
// share it, so that it is hashed once.
//
// Promises: B1  leaves() returns one vector, whose contents never change.
class OutgoingBlob {
 public:
  explicit OutgoingBlob(crypto::SharedBlob blob) : blob_(std::move(blob)) {}
  const crypto::Blob& blob() const { return *blob_; }
  // The leaves of the blob if it has them; otherwise computed by the first call. REQUIRES: a blob
  // with a source has them.
  const std::vector<base::Digest>& leaves();

 private:
  crypto::SharedBlob blob_;
  bool hashed_ = false;
  std::vector<base::Digest> leaves_;
};

class SendQueue {
 public:
  SendQueue(std::size_t max_control_bytes, std::uint64_t max_bulk_bytes,
            std::size_t max_carried_bytes = 0)
      : max_control_bytes_(max_control_bytes),
        max_bulk_bytes_(max_bulk_bytes),
        carried_(max_carried_bytes) {}

  // One WebSocket message: `head` followed by `body`, which `owner` keeps alive.
  struct Record {
    std::array<std::uint8_t, 1 + kAnnounceHeadBytes> head_bytes{};
    std::size_t head_size = 0;
    base::ByteView body;
    std::shared_ptr<const void> owner;
    bool is_payload = false;  // a chunk

    base::ByteView head() const { return base::ByteView(head_bytes).first(head_size); }
  };

  // Queues HELLO, GO, CREDIT, DIALBACK, DIALED, DATAASK or DATATOLD in order with control.
  // REQUIRES: a few bytes, and at most a few hundred of each wait.
  void PushRecord(RecordType type, base::Bytes body);
  // FailedPrecondition: the queue is over its limit because the peer reads too slowly.
  base::Status PushControl(base::SharedBytes frame);
  base::Status PushBulk(base::SharedBytes frame, std::shared_ptr<OutgoingBlob> blob);
  // A message that is passed on for `peer`. Returns how many such messages are dropped for it.
  std::size_t PushCarried(const base::PeerId& peer, base::SharedBytes frame) {
    return carried_.Push(peer, std::move(frame));
  }

  // False: a blob waits, or a chunk is on its way to the peer, and this one is not queued.
  // REQUIRES: `bytes` are some, fewer than 2^32.
  bool PushLent(std::uint64_t chunk, base::SharedBytes bytes);

  void DropLent() { lent_.reset(); }

  // The other side's CREDIT. InvalidArgument, phrased about the other side: less than an earlier
  // CREDIT.
  base::Status Grant(std::uint64_t total);

  bool empty() const { return !has_control() && bulk_.empty() && !lent_; }
  // Something without a blob waits, for which there is no credit.
  bool has_control() const { return !control_.empty() || !carried_.empty(); }
  // True if credit suffices for the next bulk record.
  bool has_credit() const {
    return (!bulk_.empty() || lent_) && bulk_sent_ + NextSize() <= credit_;
  }
  std::uint64_t control_bytes() const { return control_bytes_ + carried_.bytes(); }
  std::uint64_t bulk_bytes() const { return bulk_bytes_; }
  // The next record is one of bulk.
  bool wants_bulk() const {
    return control_.empty() && has_credit() && (carried_.empty() || (bulk_is_next_ && !lends()));
  }
  // The next record of bulk is a piece of a lent chunk.
  bool lends() const { return bulk_.empty() && lent_; }
  // `may_send_bulk`: if not, another record goes first. REQUIRES: has_control(), or has_credit()
  // and may_send_bulk. The errors of crypto::BulkSource, of what would be refused as well: its
  // disk has changed it. Then nothing more may be sent.
  base::StatusOr<Record> Next(bool may_send_bulk = true);
  // Drops everything that waits and frees its memory.
  void Clear();

  // Q1 and Q3, in time linear in the number of waiting messages.
  void CheckInvariants() const;

 private:
  struct Control {
    RecordType type;
    base::SharedBytes body;
  };
  struct Bulk {
    base::SharedBytes frame;
    std::shared_ptr<OutgoingBlob> blob;
    bool announced = false;
    std::size_t leaves_sent = 0;
    std::size_t bytes_sent = 0;
  };
  struct Lent {
    std::uint64_t chunk = 0;
    base::SharedBytes bytes;
    std::size_t sent = 0;
  };
  static Record RecordOf(RecordType type, base::SharedBytes body);
  // Size of the next bulk record. REQUIRES: !bulk_.empty() or lends().
  std::uint64_t NextSize() const;
  Record NextOfLent();
  static base::StatusOr<Record> NextOf(Bulk& bulk);
  static base::StatusOr<Record> ChunkOf(Bulk& bulk);
  static bool IsDone(const Bulk& bulk);

  const std::size_t max_control_bytes_;
  const std::uint64_t max_bulk_bytes_;
  std::deque<Control> control_;
  CarriedLane carried_;
  bool bulk_is_next_ = false;  // the last record of the two kinds that take turns was a carried one
  std::deque<Bulk> bulk_;
  std::optional<Lent> lent_;
  std::size_t control_bytes_ = 0;  // of the bodies in control_
  std::uint64_t bulk_bytes_ = 0;   // of the frames and blobs in bulk_
  std::uint64_t bulk_sent_ = 0;    // total, in bulk records
  std::uint64_t credit_ = kInitialCredit;
};

}  // namespace ostraka::net
