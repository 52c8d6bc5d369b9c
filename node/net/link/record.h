// The records of the channel: what one binary WebSocket message holds.
//
//   u8 type | body
//   HELLO    node/net/link/hello.h; the first record, both ways
//   GO       u64 link id: this connection is the link; from the smaller id to the larger
//   CONTROL  a message without a blob: its frame
//   ANNOUNCE u64 blob bytes | root (32) | frame; then LEAVES and CHUNKs until the blob is whole
//   LEAVES   leaf hashes (32 each), 2,048 a record, the last short; none if the root is zero
//   CHUNK    the next 64 KiB of the blob, the last short
//   CREDIT   u64: so many bytes of bulk records may have been sent on this link, ever
//
// One blob at a time: an ANNOUNCE before the blob at hand is whole is an error. CONTROL may come
// between any two records, so control never waits for more than one chunk of its sender.
//
// Credit: ANNOUNCE, LEAVES and CHUNK are bulk. Both sides count the bytes of bulk records from when
// the link came up, type byte included, and may send kInitialCredit before the first CREDIT comes.
// A CREDIT never takes back what one before it gave. To send more is an error, so the bulk that
// lies in front of a control record on its way is bounded by what the receiver chose.
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
};

constexpr bool IsBulk(RecordType type) {
  return type == RecordType::kAnnounce || type == RecordType::kLeaves || type == RecordType::kChunk;
}

inline constexpr std::size_t kLeavesPerRecord = 2048;
inline constexpr std::size_t kAnnounceHeadBytes = 8 + base::Digest::kSize;
inline constexpr std::size_t kMaxRecordBytes = 1 + kAnnounceHeadBytes + wire::kMaxFrameBytes;
static_assert(kMaxRecordBytes > 1 + crypto::kChunkBytes);
static_assert(kMaxRecordBytes > 1 + kLeavesPerRecord * base::Digest::kSize);
// The largest bulk record and more, so that nobody can wait for ever for the credit of one record.
inline constexpr std::uint64_t kInitialCredit = 2 * kMaxRecordBytes;
// Before HELLO has been accepted nothing longer is read from a stranger.
inline constexpr std::size_t kMaxFirstRecordBytes = 256;

}  // namespace ostraka::net
