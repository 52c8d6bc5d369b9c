// The check of a record that two members write to each other beside the protocol.
#pragma once

#include <algorithm>
#include <optional>

#include "node/base/bytes.h"
#include "node/base/check.h"
#include "node/base/status.h"
#include "node/net/records/record_reader.h"

namespace ostraka::fuzz {

// `decode` refuses the bytes in one line, or gives a value that `encode` turns into exactly them;
// the RecordReader of a link agrees, and gives the value as `part`. The value, if there is one.
template <typename Record, typename Decode, typename Encode>
std::optional<Record> CheckLinkRecord(net::RecordType type, base::ByteView body,
                                      const Decode& decode, const Encode& encode,
                                      std::optional<Record> net::RecordReader::Taken::*part) {
  const base::StatusOr<Record> record = decode(type, body);
  net::RecordReader reader(1 << 20, false, net::kInitialCredit);
  reader.OpenLink();
  const auto taken = reader.Take(type, body);
  const bool has_credit = !net::IsBulk(type) || body.size() < net::kInitialCredit;
  OSTRAKA_CHECK(!has_credit || taken.ok() == record.ok());
  if (!record.ok()) {
    OSTRAKA_CHECK(record.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(base::MessageOf(record.status()).find('\n') == std::string::npos);
    return std::nullopt;
  }
  OSTRAKA_CHECK((*taken).*part == *record && !taken->message && !taken->credit);
  OSTRAKA_CHECK(TypeOf(*record) == type);
  const base::Bytes again = encode(*record);
  OSTRAKA_CHECK(std::equal(body.begin(), body.end(), again.begin(), again.end()));
  return *record;
}

}  // namespace ostraka::fuzz
