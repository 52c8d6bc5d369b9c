#include "node/net/records/record_writer.h"

#include "node/base/check.h"

namespace ostraka::net {

void RecordWriter::QueueRecord(RecordType type, base::Bytes body) {
  if (!dropped_) queue_.PushRecord(type, std::move(body));
}

base::Status RecordWriter::QueueMessage(base::SharedBytes frame,
                                        std::shared_ptr<OutgoingBlob> blob) {
  if (dropped_) return base::OkStatus();
  if (blob == nullptr) return queue_.PushControl(std::move(frame));
  return queue_.PushBulk(std::move(frame), std::move(blob));
}

Traffic RecordWriter::QueueCarried(const base::PeerId& peer, base::SharedBytes frame) {
  Traffic added;
  if (!dropped_) added.carried_dropped = queue_.PushCarried(peer, std::move(frame));
  return added;
}

base::StatusOr<std::optional<SendQueue::Record>> RecordWriter::Next() {
  if (writing_ || queue_.empty()) return std::optional<SendQueue::Record>();
  // The turn is asked for last: a turn that credit does not let us use would be lost to others.
  const bool bulk = queue_.wants_bulk() && may_send_bulk_(queue_.lends());
  if (!bulk && !queue_.has_control()) return std::optional<SendQueue::Record>();
  ASSIGN_OR_RETURN(SendQueue::Record record, queue_.Next(bulk));
  writing_ = Writing{record.head().size(), record.body.size(), record.is_payload};
  return std::optional(std::move(record));
}

Traffic RecordWriter::OnWritten() {
  OSTRAKA_CHECK(writing_.has_value());  // O1
  const Writing written = *writing_;
  writing_.reset();
  bytes_sent_ += written.head + written.body;
  Traffic added;
  added.control_sent = written.head + (written.is_payload ? 0 : written.body);
  added.payload_sent = written.is_payload ? written.body : 0;
  return added;
}

void RecordWriter::Drop() {
  queue_.Clear();
  dropped_ = true;
  OSTRAKA_CHECK(queue_.empty() && queue_.control_bytes() == 0 && queue_.bulk_bytes() == 0);  // O4
}

bool RecordWriter::waits_for_peer() const {
  const bool lacks_credit = !queue_.empty() && !queue_.has_control() && !queue_.has_credit();
  return writing_.has_value() || lacks_credit;
}

}  // namespace ostraka::net
