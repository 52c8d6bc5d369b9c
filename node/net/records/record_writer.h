// What goes out on one connection: one record is written at a time, and the next is chosen when the
// one before is written.
//
// Promises:
//   O1  At most one record is being written.
//   O2  Control goes before the next bulk record. Bulk goes only with the peer's credit and a turn
//       of the pace that all connections share; control waits for neither.
//   O3  idle() means that every record queued so far was handed to the connection and written.
//   O4  After Drop nothing waits, and what is queued later is dropped.
//
// May not know: sockets, timers. The caller asks for turns and writes the bytes.
//
// Memory: the queue (send_queue.h). The record being written lies with the caller.
//
// What an attacker can do here: read slowly. The queue's limits and the progress watch end that.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/net/records/record.h"
#include "node/net/records/send_queue.h"
#include "node/net/records/traffic.h"

namespace ostraka::net {

class RecordWriter {
 public:
  // `may_send_bulk` asks for a turn and uses it up: true if one bulk record may go now, `lent`: one
  // of a lent chunk. After false the caller calls Next again once the turn has come.
  RecordWriter(std::size_t max_control_bytes, std::uint64_t max_bulk_bytes,
               std::size_t max_carried_bytes, std::function<bool(bool lent)> may_send_bulk)
      : queue_(max_control_bytes, max_bulk_bytes, max_carried_bytes),
        may_send_bulk_(std::move(may_send_bulk)) {}

  // All but messages and lent chunks (SendQueue::PushRecord).
  void QueueRecord(RecordType type, base::Bytes body);
  // A message; `blob` may be null. FailedPrecondition, phrased about the peer: it reads too slowly.
  base::Status QueueMessage(base::SharedBytes frame, std::shared_ptr<OutgoingBlob> blob);
  // A message that is passed on for `peer`. Returns what is dropped for it.
  Traffic QueueCarried(const base::PeerId& peer, base::SharedBytes frame);
  // SendQueue::PushLent.
  bool QueueLent(std::uint64_t chunk, base::SharedBytes bytes) {
    return !dropped_ && queue_.PushLent(chunk, std::move(bytes));
  }
  void DropLent() { queue_.DropLent(); }
  // The peer's CREDIT. InvalidArgument, phrased about the peer: it took credit back.
  base::Status TakeCredit(std::uint64_t total) { return queue_.Grant(total); }

  // The record to write now. Nullopt: one is being written, nothing waits, or bulk must wait for
  // credit or for its turn. SendQueue::Next's errors.
  base::StatusOr<std::optional<SendQueue::Record>> Next();
  // The record of Next is written; returns how it is counted. REQUIRES: it was not yet reported.
  Traffic OnWritten();
  // The connection closes: frees the queue.
  void Drop();

  bool idle() const { return queue_.empty() && !writing_; }
  // True if the peer owes progress: it has a record of ours to read, or our bulk waits for its
  // credit.
  bool waits_for_peer() const;
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  const SendQueue& queue() const { return queue_; }

 private:
  // Sizes of the record being written.
  struct Writing {
    std::size_t head = 0;
    std::size_t body = 0;
    bool is_payload = false;
  };

  SendQueue queue_;
  const std::function<bool(bool lent)> may_send_bulk_;
  std::optional<Writing> writing_;
  bool dropped_ = false;
  std::uint64_t bytes_sent_ = 0;  // in records of all types
};

}  // namespace ostraka::net
