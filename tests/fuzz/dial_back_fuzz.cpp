// Any bytes as a record about a dial back: refused in one line, or exactly the bytes that the
// decoded value encodes to; and the reader of a link says the same.
#include <algorithm>
#include <cstdint>

#include "node/base/check.h"
#include "node/net/records/dial_back.h"
#include "node/net/records/record_reader.h"

namespace ostraka::net {
namespace {

void CheckRecord(RecordType type, base::ByteView body) {
  const auto record = DecodeDialBack(type, body);
  RecordReader reader(1 << 20, false, kInitialCredit);
  reader.OpenLink();
  const auto taken = reader.Take(type, body);
  OSTRAKA_CHECK(taken.ok() == record.ok());
  if (!record.ok()) {
    OSTRAKA_CHECK(record.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(base::MessageOf(record.status()).find('\n') == std::string::npos);
    return;
  }
  OSTRAKA_CHECK(taken->dial_back == *record && !taken->message && !taken->credit);
  OSTRAKA_CHECK(TypeOf(*record) == type);
  const base::Bytes again = EncodeDialBack(*record);
  OSTRAKA_CHECK(std::equal(body.begin(), body.end(), again.begin(), again.end()));
  if (const auto* answer = std::get_if<DialBackAnswer>(&*record)) {
    OSTRAKA_CHECK(answer->port != 0 && *DialOutcomeName(answer->outcome) != '\0');
  } else {
    OSTRAKA_CHECK(std::get<DialBackAsk>(*record).port != 0);
  }
}

}  // namespace
}  // namespace ostraka::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using ostraka::net::RecordType;
  if (size == 0) return 0;
  ostraka::net::CheckRecord(data[0] % 2 == 0 ? RecordType::kDialBack : RecordType::kDialed,
                            {data + 1, size - 1});
  return 0;
}
