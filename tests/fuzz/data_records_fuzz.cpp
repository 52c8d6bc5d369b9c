// Any bytes as a record about chunks of data (link_record.h).
#include <cstdint>

#include "node/net/records/data_records.h"
#include "tests/fuzz/link_record.h"

namespace ostraka::net {
namespace {

void CheckRecord(std::uint8_t kind, base::ByteView body) {
  constexpr RecordType kTypes[] = {RecordType::kDataAsk, RecordType::kDataTold, RecordType::kData};
  fuzz::CheckLinkRecord(kTypes[kind % 3], body, DecodeData, EncodeData, &RecordReader::Taken::data);
}

}  // namespace
}  // namespace ostraka::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) ostraka::net::CheckRecord(data[0], {data + 1, size - 1});
  return 0;
}
