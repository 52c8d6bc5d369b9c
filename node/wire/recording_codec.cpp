#include "node/wire/recording_codec.h"

#include "node/wire/record_codec.h"
#include "recording.capnp.h"

namespace ostraka::wire {

Bytes EncodeRecordingHead(const RecordingHead& head) {
  return internal::EncodeRecord<schema::RecordingHead>(head);
}

Bytes EncodeRecordedInput(const RecordedInput& turn) {
  return internal::EncodeRecord<schema::RecordedInput>(turn);
}

Bytes EncodeRecordedOutcome(const RecordedOutcome& outcome) {
  return internal::EncodeRecord<schema::RecordedOutcome>(outcome);
}

base::StatusOr<RecordingHead> DecodeRecordingHead(base::ByteView bytes) {
  return internal::DecodeRecord<schema::RecordingHead, RecordingHead>("head of a recording", bytes,
                                                                      kMaxRecordedBytes);
}

base::StatusOr<RecordedInput> DecodeRecordedInput(base::ByteView bytes) {
  return internal::DecodeRecord<schema::RecordedInput, RecordedInput>("entry of a recording", bytes,
                                                                      kMaxRecordedBytes);
}

base::StatusOr<RecordedOutcome> DecodeRecordedOutcome(base::ByteView bytes) {
  return internal::DecodeRecord<schema::RecordedOutcome, RecordedOutcome>("outcome of a recording",
                                                                          bytes, kMaxRecordedBytes);
}

}  // namespace ostraka::wire
