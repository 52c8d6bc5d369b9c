// The records of the channel: the content of one binary WebSocket message.
//
//   u8 type | body
//   HELLO    node/net/records/hello.h; the first record, both ways
//   GO       u64 link id: this connection is the link; sent by the smaller peer id
//   CONTROL  a message without a blob: its frame
//   ANNOUNCE u64 blob bytes | root (32) | frame; then LEAVES and CHUNKs until the blob is complete
//   LEAVES   leaf hashes (32 each), 2,048 per record, the last may be short; none under a zero root
//   CHUNK    the next 64 KiB of the blob; the last may be short
//   CREDIT   u64: total bytes of bulk records that the receiver allows on this link so far
//   DIALBACK, DIALED  node/net/records/dial_back.h
//   DATAASK, DATATOLD, DATA  node/net/records/data_records.h
//
// One blob at a time: an ANNOUNCE before the current blob is complete is an error. CONTROL may come
// between any two records, so control never waits for more than one chunk of its sender.
//
// Credit: ANNOUNCE, LEAVES, CHUNK and DATA are bulk. Both sides count the bytes of bulk records
// from the link's start, type byte included. A sender may send kInitialCredit bytes before the
// first CREDIT arrives. A CREDIT never lowers an earlier one. Sending more than the credit is an
// error, so the receiver bounds the bulk in transit in front of a control record.
//
// Thread safety: constants and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "crypto/merkle.h"
#include "node/base/ids.h"
#include "node/wire/limits.h"

namespace ostraka::net {

enum class RecordType : std::uint8_t {
  kHello = 1,
  kGo = 2,
  kControl = 3,
  kAnnounce = 4,
  kLeaves = 5,
  kChunk = 6,
  kCredit = 7,
  kDialBack = 8,
  kDialed = 9,
  kDataAsk = 10,
  kDataTold = 11,
  kData = 12,
};

constexpr bool IsBulk(RecordType type) {
  return type == RecordType::kAnnounce || type == RecordType::kLeaves ||
         type == RecordType::kChunk || type == RecordType::kData;
}

inline constexpr std::size_t kLeavesPerRecord = 2048;
inline constexpr std::size_t kAnnounceHeadBytes = 8 + base::Digest::kSize;
inline constexpr std::size_t kMaxRecordBytes = 1 + kAnnounceHeadBytes + wire::kMaxFrameBytes;
static_assert(kMaxRecordBytes > 1 + crypto::kChunkBytes);
static_assert(kMaxRecordBytes > 1 + kLeavesPerRecord * base::Digest::kSize);
// Larger than any bulk record, so no sender waits for ever for the credit of one record.
inline constexpr std::uint64_t kInitialCredit = 2 * kMaxRecordBytes;
// The longest record that is read from a peer before its HELLO is accepted.
inline constexpr std::size_t kMaxFirstRecordBytes = 256;

}  // namespace ostraka::net
