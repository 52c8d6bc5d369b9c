// Any bytes as a record about chunks of data: refused in one line, or exactly the bytes that the
// decoded value encodes to; and the reader of a link says the same.
#include <algorithm>
#include <cstdint>

#include "node/base/check.h"
#include "node/net/records/data_records.h"
#include "node/net/records/record_reader.h"

namespace ostraka::net {
namespace {

void CheckRecord(RecordType type, base::ByteView body) {
  const auto record = DecodeData(type, body);
  RecordReader reader(1 << 20, false, kInitialCredit);
  reader.OpenLink();
  const auto taken = reader.Take(type, body);
  const bool has_credit = type != RecordType::kData || body.size() < kInitialCredit;
  OSTRAKA_CHECK(!has_credit || taken.ok() == record.ok());
  if (!record.ok()) {
    OSTRAKA_CHECK(record.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(base::MessageOf(record.status()).find('\n') == std::string::npos);
    return;
  }
  OSTRAKA_CHECK(taken->data == *record && !taken->message && !taken->credit);
  OSTRAKA_CHECK(TypeOf(*record) == type);
  const base::Bytes again = EncodeData(*record);
  OSTRAKA_CHECK(std::equal(body.begin(), body.end(), again.begin(), again.end()));
}

}  // namespace
}  // namespace ostraka::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using ostraka::net::RecordType;
  if (size == 0) return 0;
  constexpr RecordType kTypes[] = {RecordType::kDataAsk, RecordType::kDataTold, RecordType::kData};
  ostraka::net::CheckRecord(kTypes[data[0] % 3], {data + 1, size - 1});
  return 0;
}
