// DATAASK, DATATOLD and DATA: a member asks another, over their link, for a chunk of the run's data
// (docs/wire.md, "Channel"). Only members whose HELLO has kCapabilityLendsData are asked.
//
//   DATAASK   u8 what (1 have you, 2 send) | u64 chunk
//   DATATOLD  u8 answer (1 has, 2 lacks, 3 busy) | u64 chunk
//   DATA      u64 chunk | u32 offset | the 1 to 65,536 bytes of the chunk from there on
//
// All little-endian. An ask to send is answered by DATATOLD, or by DATA until the chunk is
// complete. Any ask may stay unanswered. One chunk at a time is on its way over a link in each
// direction. DATA is bulk (record.h), and goes when no blob waits.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/net/records/record.h"

namespace ostraka::net {

struct DataAsk {
  enum class What : std::uint8_t { kHave = 1, kSend = 2 };
  What what = What::kHave;
  std::uint64_t chunk = 0;
  bool operator==(const DataAsk&) const = default;
};
struct DataTold {
  enum class Answer : std::uint8_t {
    kHas = 1,
    kLacks = 2,
    kBusy = 3,  // it lends no more now
  };
  Answer answer = Answer::kLacks;
  std::uint64_t chunk = 0;
  bool operator==(const DataTold&) const = default;
};
struct DataPiece {
  std::uint64_t chunk = 0;
  std::uint32_t offset = 0;
  base::Bytes bytes;
  bool operator==(const DataPiece&) const = default;
};
using DataRecord = std::variant<DataAsk, DataTold, DataPiece>;

inline constexpr std::size_t kDataHeadBytes = 8 + 4;
inline constexpr std::size_t kDataPieceBytes = crypto::kChunkBytes;

// What comes before the bytes of a piece.
base::Bytes DataHead(std::uint64_t chunk, std::size_t offset);

RecordType TypeOf(const DataRecord& record);
base::Bytes EncodeData(const DataRecord& record);
// InvalidArgument, phrased about the other side: not the bytes of such a record. REQUIRES: `type`
// is kDataAsk, kDataTold or kData.
base::StatusOr<DataRecord> DecodeData(RecordType type, base::ByteView body);

}  // namespace ostraka::net
