#include "node/net/records/send_queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "node/base/check.h"
#include "node/net/records/data_records.h"

namespace ostraka::net {
namespace {

std::size_t LeafCount(const OutgoingBlob& blob) {
  return blob.blob().root.is_zero() ? 0 : crypto::ChunkCount(blob.blob().size());
}

SendQueue::Record StartRecord(RecordType type) {
  SendQueue::Record record;
  record.head_bytes[0] = static_cast<std::uint8_t>(type);
  record.head_size = 1;
  return record;
}

}  // namespace

const std::vector<base::Digest>& OutgoingBlob::leaves() {
  if (!blob_->leaves.empty()) return blob_->leaves;
  OSTRAKA_CHECK(blob_->source == nullptr);
  if (!hashed_) leaves_ = crypto::ChunkLeaves(blob_->data);
  hashed_ = true;
  return leaves_;
}

void SendQueue::PushRecord(RecordType type, base::Bytes body) {
  control_bytes_ += body.size();
  control_.push_back({type, std::make_shared<const base::Bytes>(std::move(body))});
}

base::Status SendQueue::PushControl(base::SharedBytes frame) {
  if (control_bytes_ + frame->size() > max_control_bytes_) {
    return base::FailedPrecondition("takes our messages too slowly: more than " +
                                    std::to_string(max_control_bytes_) + " bytes wait");
  }
  control_bytes_ += frame->size();
  control_.push_back({RecordType::kControl, std::move(frame)});
  return base::OkStatus();
}

base::Status SendQueue::PushBulk(base::SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) {
  const std::uint64_t bytes = frame->size() + blob->blob().size();
  if (bulk_bytes_ + bytes > max_bulk_bytes_) {
    return base::FailedPrecondition("takes our blobs too slowly: more than " +
                                    std::to_string(max_bulk_bytes_) + " bytes wait");
  }
  bulk_bytes_ += bytes;
  bulk_.push_back({.frame = std::move(frame), .blob = std::move(blob)});
  return base::OkStatus();
}

bool SendQueue::PushLent(std::uint64_t chunk, base::SharedBytes bytes) {
  OSTRAKA_CHECK(!bytes->empty());
  if (lent_ || !bulk_.empty()) return false;
  lent_ = Lent{.chunk = chunk, .bytes = std::move(bytes)};
  return true;
}

base::Status SendQueue::Grant(std::uint64_t total) {
  if (total < credit_) return base::InvalidArgument("took back credit that it gave");
  credit_ = total;
  return base::OkStatus();
}

std::uint64_t SendQueue::NextSize() const {
  if (lends()) {
    return 1 + kDataHeadBytes + std::min(kDataPieceBytes, lent_->bytes->size() - lent_->sent);
  }
  const Bulk& bulk = bulk_.front();
  if (!bulk.announced) return 1 + kAnnounceHeadBytes + bulk.frame->size();
  const std::size_t leaves = LeafCount(*bulk.blob) - bulk.leaves_sent;
  if (leaves > 0) return 1 + std::min(kLeavesPerRecord, leaves) * base::Digest::kSize;
  return 1 +
         std::min<std::uint64_t>(crypto::kChunkBytes, bulk.blob->blob().size() - bulk.bytes_sent);
}

SendQueue::Record SendQueue::RecordOf(RecordType type, base::SharedBytes body) {
  Record record = StartRecord(type);
  record.body = *body;
  record.owner = std::move(body);
  return record;
}

base::StatusOr<SendQueue::Record> SendQueue::Next(bool may_send_bulk) {
  OSTRAKA_CHECK(has_control() || (may_send_bulk && has_credit()));
  if (!control_.empty()) {
    Control next = std::move(control_.front());
    control_.pop_front();
    OSTRAKA_CHECK(control_bytes_ >= next.body->size());  // Q1
    control_bytes_ -= next.body->size();
    return RecordOf(next.type, std::move(next.body));
  }
  const bool is_bulk = may_send_bulk && wants_bulk();
  bulk_is_next_ = !is_bulk;
  if (!is_bulk) return RecordOf(RecordType::kControl, carried_.Next());
  bulk_sent_ += NextSize();
  OSTRAKA_CHECK(bulk_sent_ <= credit_);  // Q3
  if (lends()) return NextOfLent();
  Bulk& bulk = bulk_.front();
  ASSIGN_OR_RETURN(Record record, NextOf(bulk));
  if (IsDone(bulk)) {
    bulk_bytes_ -= bulk.frame->size() + bulk.blob->blob().size();
    bulk_.pop_front();
    OSTRAKA_CHECK(!bulk_.empty() || bulk_bytes_ == 0);  // Q1
  }
  return record;
}

void SendQueue::Clear() {
  control_ = {};
  carried_.Clear();
  bulk_ = {};
  lent_.reset();
  control_bytes_ = 0;
  bulk_bytes_ = 0;
}

void SendQueue::CheckInvariants() const {
  std::size_t control = 0;
  std::uint64_t bulk = 0;
  for (const Control& waiting : control_) control += waiting.body->size();
  for (const Bulk& waiting : bulk_) {
    bulk += waiting.frame->size() + waiting.blob->blob().size();
  }
  carried_.CheckInvariants();
  OSTRAKA_CHECK(control == control_bytes_ && bulk == bulk_bytes_);  // Q1
  OSTRAKA_CHECK(bulk_bytes_ <= max_bulk_bytes_);                    // Q2
  OSTRAKA_CHECK(bulk_sent_ <= credit_);                             // Q3
}

SendQueue::Record SendQueue::NextOfLent() {
  const std::size_t size = std::min(kDataPieceBytes, lent_->bytes->size() - lent_->sent);
  Record record = StartRecord(RecordType::kData);
  const base::Bytes head = DataHead(lent_->chunk, lent_->sent);
  std::copy(head.begin(), head.end(), record.head_bytes.begin() + 1);
  record.head_size = 1 + kDataHeadBytes;
  record.body = base::ByteView(*lent_->bytes).subspan(lent_->sent, size);
  record.owner = lent_->bytes;
  record.is_payload = true;
  lent_->sent += size;
  if (lent_->sent == lent_->bytes->size()) lent_.reset();
  return record;
}

base::StatusOr<SendQueue::Record> SendQueue::NextOf(Bulk& bulk) {
  const crypto::Blob& blob = bulk.blob->blob();
  if (!bulk.announced) {
    bulk.announced = true;
    Record record = StartRecord(RecordType::kAnnounce);
    std::uint8_t* at = record.head_bytes.data() + 1;
    for (int shift = 0; shift < 64; shift += 8) {
      *at++ = static_cast<std::uint8_t>(blob.size() >> shift);
    }
    std::copy(blob.root.bytes.begin(), blob.root.bytes.end(), at);
    record.head_size = 1 + kAnnounceHeadBytes;
    record.body = *bulk.frame;
    record.owner = bulk.frame;
    return record;
  }
  if (bulk.leaves_sent < LeafCount(*bulk.blob)) {
    const std::span<const base::Digest> leaves = bulk.blob->leaves();
    const std::size_t count = std::min(kLeavesPerRecord, leaves.size() - bulk.leaves_sent);
    Record record = StartRecord(RecordType::kLeaves);
    record.body = base::AsBytes(leaves.subspan(bulk.leaves_sent, count));
    record.owner = bulk.blob;
    bulk.leaves_sent += count;
    return record;
  }
  return ChunkOf(bulk);
}

base::StatusOr<SendQueue::Record> SendQueue::ChunkOf(Bulk& bulk) {
  const crypto::Blob& blob = bulk.blob->blob();
  const std::size_t at = bulk.bytes_sent;
  const std::size_t size = std::min<std::uint64_t>(crypto::kChunkBytes, blob.size() - at);
  Record record = StartRecord(RecordType::kChunk);
  if (blob.source == nullptr) {
    record.body = base::ByteView(blob.data).subspan(at, size);
    record.owner = bulk.blob;
  } else {
    auto chunk = std::make_shared<base::Bytes>(size);
    RETURN_IF_ERROR(blob.source->Read(at, *chunk));
    // The other side would take a spoilt chunk for our lie.
    if (!blob.root.is_zero() &&
        crypto::ChunkLeaf(*chunk) != bulk.blob->leaves()[at / crypto::kChunkBytes]) {
      return blob.source->Spoilt();
    }
    record.body = *chunk;
    record.owner = std::move(chunk);
  }
  record.is_payload = true;
  bulk.bytes_sent += size;
  return record;
}

bool SendQueue::IsDone(const Bulk& bulk) {
  return bulk.announced && bulk.leaves_sent == LeafCount(*bulk.blob) &&
         bulk.bytes_sent == bulk.blob->blob().size();
}

}  // namespace ostraka::net
