#include "node/net/records/dial_back.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/base/little_endian.h"

namespace ostraka::net {
namespace {

constexpr std::size_t kPortBytes = 2;
constexpr std::size_t kAnswerHead = kPortBytes + 1;
constexpr std::array<const char*, 8> kNames = {"",          "reached", "refused",     "silent",
                                               "other_key", "no_node", "unreachable", "declined"};

base::StatusOr<DialBackRecord> DecodeAsk(base::ByteView body) {
  if (body.size() != kPortBytes) {
    return base::InvalidArgument("asked for a dial in a wrong length");
  }
  const auto port = static_cast<std::uint16_t>(base::ReadLittleEndian(body));
  if (port == 0) return base::InvalidArgument("asked for a dial of port 0");
  return DialBackRecord(DialBackAsk{port});
}

base::StatusOr<DialBackRecord> DecodeAnswer(base::ByteView body) {
  DialBackAnswer answer;
  if (body.size() != kAnswerHead + answer.host.size()) {
    return base::InvalidArgument("told of a dial in a wrong length");
  }
  answer.port = static_cast<std::uint16_t>(base::ReadLittleEndian(body.first(kPortBytes)));
  const std::uint8_t outcome = body[kPortBytes];
  if (answer.port == 0 || outcome == 0 || outcome >= kNames.size()) {
    return base::InvalidArgument("told of a dial that cannot be");
  }
  answer.outcome = static_cast<DialOutcome>(outcome);
  std::copy(body.begin() + kAnswerHead, body.end(), answer.host.begin());
  return DialBackRecord(answer);
}

}  // namespace

const char* DialOutcomeName(DialOutcome outcome) {
  return kNames.at(static_cast<std::size_t>(outcome));
}

RecordType TypeOf(const DialBackRecord& record) {
  return std::holds_alternative<DialBackAsk>(record) ? RecordType::kDialBack : RecordType::kDialed;
}

base::Bytes EncodeDialBack(const DialBackRecord& record) {
  base::Bytes body;
  if (const auto* ask = std::get_if<DialBackAsk>(&record)) {
    base::AppendLittleEndian(body, ask->port, kPortBytes);
    return body;
  }
  const auto& answer = std::get<DialBackAnswer>(record);
  base::AppendLittleEndian(body, answer.port, kPortBytes);
  body.push_back(static_cast<std::uint8_t>(answer.outcome));
  body.insert(body.end(), answer.host.begin(), answer.host.end());
  return body;
}

base::StatusOr<DialBackRecord> DecodeDialBack(RecordType type, base::ByteView body) {
  OSTRAKA_CHECK(type == RecordType::kDialBack || type == RecordType::kDialed);
  return type == RecordType::kDialBack ? DecodeAsk(body) : DecodeAnswer(body);
}

}  // namespace ostraka::net
