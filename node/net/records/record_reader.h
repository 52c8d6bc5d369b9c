// What comes in on one connection, one record at a time: its limits, the credit of the sender, and
// the blob under assembly.
//
// Promises:
//   I1  Before OpenLink a record has at most kMaxFirstRecordBytes, after it kMaxRecordBytes.
//   I2  A message leaves only when it is whole; a blob only when it was checked to the last chunk
//       (blob_receiver.h).
//   I3  Bulk beyond the credit is refused before it is kept.
//   I4  After an error nothing more is taken; the caller closes the connection.
//
// May not know: sockets, pace, the meaning of a frame.
//
// Memory: one blob (blob_receiver.h). The record itself lies with the caller.
//
// What an attacker can do here: break the rules of a record, which closes its link with a reason.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/net/records/blob_receiver.h"
#include "node/net/records/data_records.h"
#include "node/net/records/dial_back.h"
#include "node/net/records/receive_credit.h"
#include "node/net/records/record.h"
#include "node/net/records/traffic.h"

namespace ostraka::net {

class RecordReader {
 public:
  // `window`: maximum bulk bytes in transit. REQUIRES: window >= kInitialCredit.
  RecordReader(std::uint64_t max_blob_bytes, bool allow_unhashed, std::uint64_t window)
      : receiver_(max_blob_bytes, allow_unhashed), credit_(window) {}

  // The connection is the link from here. REQUIRES: called once.
  void OpenLink();

  // `added` more bytes of a record have arrived; it has `size` so far. InvalidArgument, phrased
  // about the other side: the record is too long.
  base::Status CountBytes(std::size_t added, std::size_t size);

  // What a record of a link brought.
  struct Taken {
    std::optional<BlobReceiver::Message> message;  // a null blob for a message without one
    std::optional<std::uint64_t> credit;           // the body of CREDIT, for the writer
    std::optional<DialBackRecord> dial_back;
    std::optional<DataRecord> data;
  };
  // An error is the reason to close the connection, phrased about the other side. REQUIRES:
  // OpenLink was called.
  base::StatusOr<Taken> Take(RecordType type, base::ByteView body);

  // True once CREDIT should be sent, so that the other side need not wait.
  bool wants_grant() const { return credit_.wants_grant(); }
  // The body of the CREDIT to send.
  base::Bytes Grant();

  // True if a blob is incomplete and the sender has the credit to go on.
  bool owes_blob() const { return receiver_.active() && credit_.left() >= kMaxRecordBytes; }
  std::size_t max_record_bytes() const { return max_record_bytes_; }
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  base::Status TakeBulk(RecordType type, base::ByteView body);

  BlobReceiver receiver_;
  ReceiveCredit credit_;
  std::size_t max_record_bytes_ = kMaxFirstRecordBytes;
  std::uint64_t bytes_received_ = 0;  // in records of all types
};

// How a record of `size` bytes and this first byte is counted.
Traffic TrafficOfReceived(RecordType type, std::size_t size);

}  // namespace ostraka::net
