// Any bytes as a record about a dial back (link_record.h).
#include <cstdint>

#include "node/base/check.h"
#include "node/net/records/dial_back.h"
#include "tests/fuzz/link_record.h"

namespace ostraka::net {
namespace {

void CheckRecord(RecordType type, base::ByteView body) {
  const auto record = fuzz::CheckLinkRecord(type, body, DecodeDialBack, EncodeDialBack,
                                            &RecordReader::Taken::dial_back);
  if (!record) return;
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
