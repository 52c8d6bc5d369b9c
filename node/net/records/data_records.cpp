#include "node/net/records/data_records.h"

#include "node/base/check.h"
#include "node/base/little_endian.h"

namespace ostraka::net {
namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kOffsetBytes = 4;
static_assert(kDataHeadBytes == kNumberBytes + kOffsetBytes);

struct ShortBody {
  std::uint8_t kind = 0;
  std::uint64_t chunk = 0;
};

base::Bytes EncodeShort(std::uint8_t kind, std::uint64_t chunk) {
  base::Bytes body = {kind};
  base::AppendLittleEndian(body, chunk, kNumberBytes);
  return body;
}

base::StatusOr<ShortBody> DecodeShort(base::ByteView body, std::uint8_t kinds) {
  if (body.size() != 1 + kNumberBytes || body[0] == 0 || body[0] > kinds) {
    return base::InvalidArgument("said of a chunk of data what cannot be said");
  }
  return ShortBody{body[0], base::ReadLittleEndian(body.subspan(1))};
}

}  // namespace

base::Bytes DataHead(std::uint64_t chunk, std::size_t offset) {
  base::Bytes head;
  base::AppendLittleEndian(head, chunk, kNumberBytes);
  base::AppendLittleEndian(head, offset, kOffsetBytes);
  return head;
}

RecordType TypeOf(const DataRecord& record) {
  if (std::holds_alternative<DataAsk>(record)) return RecordType::kDataAsk;
  return std::holds_alternative<DataTold>(record) ? RecordType::kDataTold : RecordType::kData;
}

base::Bytes EncodeData(const DataRecord& record) {
  if (const auto* ask = std::get_if<DataAsk>(&record)) {
    return EncodeShort(static_cast<std::uint8_t>(ask->what), ask->chunk);
  }
  if (const auto* told = std::get_if<DataTold>(&record)) {
    return EncodeShort(static_cast<std::uint8_t>(told->answer), told->chunk);
  }
  const auto& piece = std::get<DataPiece>(record);
  base::Bytes body = DataHead(piece.chunk, piece.offset);
  body.insert(body.end(), piece.bytes.begin(), piece.bytes.end());
  return body;
}

base::StatusOr<DataRecord> DecodeData(RecordType type, base::ByteView body) {
  if (type == RecordType::kDataAsk) {
    ASSIGN_OR_RETURN(const ShortBody ask, DecodeShort(body, 2));
    return DataRecord(DataAsk{static_cast<DataAsk::What>(ask.kind), ask.chunk});
  }
  if (type == RecordType::kDataTold) {
    ASSIGN_OR_RETURN(const ShortBody told, DecodeShort(body, 3));
    return DataRecord(DataTold{static_cast<DataTold::Answer>(told.kind), told.chunk});
  }
  OSTRAKA_CHECK(type == RecordType::kData);
  if (body.size() <= kDataHeadBytes || body.size() > kDataHeadBytes + kDataPieceBytes) {
    return base::InvalidArgument("sent a piece of data of a wrong length");
  }
  const base::ByteView piece = body.subspan(kDataHeadBytes);
  return DataRecord(DataPiece{
      base::ReadLittleEndian(body.first(kNumberBytes)),
      static_cast<std::uint32_t>(base::ReadLittleEndian(body.subspan(kNumberBytes, kOffsetBytes))),
      base::Bytes(piece.begin(), piece.end())});
}

}  // namespace ostraka::net
