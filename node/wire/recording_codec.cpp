#include "node/wire/recording_codec.h"

#include "node/wire/record_codec.h"
#include "recording.capnp.h"

namespace ostraka::wire {

Bytes EncodeRecordingHead(const RecordingHead& head) {
  return internal::EncodeRecord<schema::RecordingHead>(head);
}

Bytes EncodeRecordedTurn(const RecordedTurn& turn) {
  return internal::EncodeRecord<schema::RecordedTurn>(turn);
}

base::StatusOr<RecordingHead> DecodeRecordingHead(base::ByteView bytes) {
  return internal::DecodeRecord<schema::RecordingHead, RecordingHead>("head of a recording", bytes,
                                                                      kMaxRecordedBytes);
}

base::StatusOr<RecordedTurn> DecodeRecordedTurn(base::ByteView bytes) {
  return internal::DecodeRecord<schema::RecordedTurn, RecordedTurn>("entry of a recording", bytes,
                                                                    kMaxRecordedBytes);
}

}  // namespace ostraka::wire
