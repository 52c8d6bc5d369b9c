// HELLO: the first record on a connection, both ways. It says what a peer runs, so that two nodes
// that cannot work together part with a reason that a person understands.
//
//   "ostraka" 0x00 | u32 version | run id (32) | u64 capabilities | u64 instance | u64 lost link
//
// All little-endian. The first 12 bytes mean the same in every protocol version.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::net {

// Blobs come without a root and are not checked. Both sides have it or neither has.
inline constexpr std::uint64_t kCapabilityUnhashed = 1;

struct Hello {
  std::uint32_t version = 0;
  base::Digest run_id;
  std::uint64_t capabilities = 0;  // bits that we do not know are ignored
  std::uint64_t instance = 0;      // drawn at random by each process: a restart shows
  std::uint64_t lost_link = 0;     // the last link with this peer that the sender saw go down
  bool operator==(const Hello&) const = default;
};

base::Bytes EncodeHello(const Hello& hello);

// Of a version other than ours only `version` is filled, for what follows may have changed.
// InvalidArgument: no HELLO at all, or one of our version with another length.
base::StatusOr<Hello> DecodeHello(base::ByteView body, std::uint32_t our_version);

// FailedPrecondition with a reason, as said of the other side ("speaks protocol 2, we speak 1"),
// unless the two can work together.
base::Status CheckCompatible(const Hello& ours, const Hello& theirs);

}  // namespace ostraka::net
