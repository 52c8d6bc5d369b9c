// HELLO: the first record on a connection, in both directions. It states a peer's protocol and run,
// so that two incompatible nodes close with a reason that a person understands.
//
//   "ostraka" 0x00 | u32 version | run id (32) | u64 capabilities | u64 instance | u64 lost link
//
// All little-endian. The first 12 bytes keep their meaning in every protocol version.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::net {

// Blobs come without a root and are not checked. Both sides must set it or neither.
inline constexpr std::uint64_t kCapabilityUnhashed = 1;
// Members may ask for chunks of the run's data (data_records.h).
inline constexpr std::uint64_t kCapabilityLendsData = 2;

struct Hello {
  std::uint32_t version = 0;
  base::Digest run_id;
  std::uint64_t capabilities = 0;  // unknown bits are ignored
  std::uint64_t instance = 0;      // random per process: reveals a restart
  std::uint64_t lost_link = 0;     // id of the last link with this peer that the sender saw go down
  bool operator==(const Hello&) const = default;
};

base::Bytes EncodeHello(const Hello& hello);

// If the version differs from ours, only `version` is filled, since the rest may have another
// format. InvalidArgument: not a HELLO, or one of our version with another length.
base::StatusOr<Hello> DecodeHello(base::ByteView body, std::uint32_t our_version);

// OK if the two can work together; else FailedPrecondition with a reason, phrased about the other
// side ("speaks protocol 2, we speak 1").
base::Status CheckCompatible(const Hello& ours, const Hello& theirs);

}  // namespace ostraka::net
