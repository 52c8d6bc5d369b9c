#include "node/net/records/greeting.h"

#include <utility>

#include "node/base/check.h"
#include "node/base/little_endian.h"

namespace ostraka::net {
namespace {

constexpr std::size_t kGoBytes = 8;

}  // namespace

base::Bytes EncodeGo(std::uint64_t link_id) {
  base::Bytes body;
  base::AppendLittleEndian(body, link_id, kGoBytes);
  return body;
}

Greeting::Event Greeting::Take(RecordType type, base::ByteView body) {
  OSTRAKA_CHECK(stage_ < Stage::kOver);
  if (stage_ == Stage::kAccepted) {
    if (type != RecordType::kGo || body.size() != kGoBytes) {
      return Refused{Refusal::kRecord, "said something else before GO"};
    }
    return GoCame{base::ReadLittleEndian(body)};
  }
  if (type != RecordType::kHello) {
    return Refused{Refusal::kHandshake, "said something else before HELLO"};
  }
  const base::StatusOr<Hello> theirs = DecodeHello(body, ours_.version);
  if (!theirs.ok()) return Refused{Refusal::kHandshake, base::MessageOf(theirs.status())};
  const base::Status compatible = CheckCompatible(ours_, *theirs);
  if (!compatible.ok()) return Refused{Refusal::kIdentity, base::MessageOf(compatible)};
  theirs_ = *theirs;
  Advance(Stage::kAccepted);
  return HelloCame{};
}

void Greeting::End() { Advance(Stage::kOver); }

const Hello& Greeting::theirs() const {
  OSTRAKA_CHECK(stage_ >= Stage::kAccepted);  // G3
  return theirs_;
}

void Greeting::Advance(Stage next) {
  OSTRAKA_CHECK(static_cast<int>(next) == static_cast<int>(stage_) + 1);  // G1
  stage_ = next;
}

}  // namespace ostraka::net
