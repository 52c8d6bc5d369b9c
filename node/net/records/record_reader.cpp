#include "node/net/records/record_reader.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "node/base/check.h"
#include "node/base/little_endian.h"

namespace ostraka::net {
namespace {

constexpr std::size_t kCreditBytes = 8;

}  // namespace

Traffic TrafficOfReceived(RecordType type, std::size_t size) {
  Traffic added;
  std::size_t head = size;
  if (type == RecordType::kChunk) head = 1;
  if (type == RecordType::kData) head = 1 + kDataHeadBytes;
  added.control_received = std::min(head, size);
  added.payload_received = size - added.control_received;
  return added;
}

void RecordReader::OpenLink() {
  OSTRAKA_CHECK(max_record_bytes_ == kMaxFirstRecordBytes);  // I1
  max_record_bytes_ = kMaxRecordBytes;
}

base::Status RecordReader::CountBytes(std::size_t added, std::size_t size) {
  bytes_received_ += added;
  if (size <= max_record_bytes_) return base::OkStatus();
  return base::InvalidArgument("sent a record of more than " + std::to_string(max_record_bytes_) +
                               " bytes");
}

base::StatusOr<RecordReader::Taken> RecordReader::Take(RecordType type, base::ByteView body) {
  OSTRAKA_CHECK(max_record_bytes_ == kMaxRecordBytes);  // I1
  Taken taken;
  if (type == RecordType::kData) {
    RETURN_IF_ERROR(credit_.Take(1 + body.size()));  // I3
    ASSIGN_OR_RETURN(taken.data, DecodeData(type, body));
    return taken;
  }
  if (IsBulk(type)) {
    RETURN_IF_ERROR(TakeBulk(type, body));
    taken.message = receiver_.Take();
    return taken;
  }
  switch (type) {
    case RecordType::kControl:
      if (body.empty() || body.size() > wire::kMaxFrameBytes) {
        return base::InvalidArgument("sent a message of " + std::to_string(body.size()) + " bytes");
      }
      taken.message = BlobReceiver::Message{
          std::make_shared<const base::Bytes>(body.begin(), body.end()), nullptr};
      return taken;
    case RecordType::kCredit:
      if (body.size() != kCreditBytes) {
        return base::InvalidArgument("sent a credit of a wrong length");
      }
      taken.credit = base::ReadLittleEndian(body);
      return taken;
    case RecordType::kDialBack:
    case RecordType::kDialed: {
      ASSIGN_OR_RETURN(taken.dial_back, DecodeDialBack(type, body));
      return taken;
    }
    case RecordType::kDataAsk:
    case RecordType::kDataTold: {
      ASSIGN_OR_RETURN(taken.data, DecodeData(type, body));
      return taken;
    }
    default:
      return base::InvalidArgument("sent a record of unknown type " +
                                   std::to_string(static_cast<unsigned>(type)));
  }
}

base::Status RecordReader::TakeBulk(RecordType type, base::ByteView body) {
  RETURN_IF_ERROR(credit_.Take(1 + body.size()));  // I3
  switch (type) {
    case RecordType::kAnnounce:
      return receiver_.Announce(body);
    case RecordType::kLeaves:
      return receiver_.Leaves(body);
    default:
      return receiver_.Chunk(body);
  }
}

base::Bytes RecordReader::Grant() {
  base::Bytes body;
  base::AppendLittleEndian(body, credit_.Grant(), kCreditBytes);
  return body;
}

}  // namespace ostraka::net
