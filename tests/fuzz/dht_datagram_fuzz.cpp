// Any bytes as a query, a reply or a record of the DHT, and as the core of one whose header is
// right: refused with one line, or exactly the bytes that the decoded value encodes to.
#include <algorithm>
#include <cstdint>

#include "crypto/sign.h"
#include "dht/wire/limits.h"
#include "dht/wire/messages.h"
#include "node/base/check.h"
#include "tests/fuzz/byte_source.h"

namespace ostraka::dht {
namespace {

using base::Bytes;
using base::ByteView;

const crypto::SigningKey& AnyKey() {
  static const crypto::SigningKey key =
      crypto::SigningKey::FromSeed(Bytes(crypto::SigningKey::kSeedSize, 1));
  return key;
}

void CheckRefusal(const base::Status& status) {
  OSTRAKA_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  OSTRAKA_CHECK(base::MessageOf(status).find('\n') == std::string::npos);
}

void CheckQuery(ByteView datagram) {
  const auto opened = OpenQuery(datagram);
  if (!opened.ok()) return CheckRefusal(opened.status());
  const EncodedQuery again = EncodeQuery(ReadHeader(datagram)->nonce, opened->query);
  OSTRAKA_CHECK(
      std::equal(datagram.begin(), datagram.end(), again.datagram->begin(), again.datagram->end()));
  OSTRAKA_CHECK(again.digest == opened->digest);
}

void CheckReply(ByteView datagram) {
  auto opened = OpenReply(datagram, {});
  if (!opened.ok()) return CheckRefusal(opened.status());
  OSTRAKA_CHECK(opened->reply.contacts.size() <= kMaxContacts);
  OSTRAKA_CHECK(opened->reply.records.size() <= kMaxRecords);
  for (const Contact& contact : opened->reply.contacts) OSTRAKA_CHECK(IsUsable(contact.endpoint));
  // Under our own key, or it could not be signed again.
  const bool ours = opened->reply.sender == AnyKey().id();
  opened->reply.sender = AnyKey().id();
  const auto again = EncodeReply(ReadHeader(datagram)->nonce, {}, opened->reply, AnyKey());
  OSTRAKA_CHECK(again->size() == datagram.size());
  if (!ours) return;
  const std::size_t core = kHeaderBytes + crypto::Signature::kSize;
  OSTRAKA_CHECK(std::equal(datagram.begin() + core, datagram.end(), again->begin() + core));
}

void CheckRecord(ByteView bytes) {
  auto opened = OpenAnnouncement(bytes);
  if (!opened.ok()) return CheckRefusal(opened.status());
  const bool ours = opened->content.peer == AnyKey().id();
  opened->content.peer = AnyKey().id();
  const Bytes again = SignAnnouncement(opened->content, AnyKey());
  OSTRAKA_CHECK(again.size() == bytes.size());
  const std::size_t core = crypto::Signature::kSize;
  if (ours) OSTRAKA_CHECK(std::equal(bytes.begin() + core, bytes.end(), again.begin() + core));
}

// A datagram with a right header around any core.
Bytes Wrapped(bool is_reply, ByteView core) {
  Bytes datagram = {'O', 'S', 'T', 'D', 1, static_cast<std::uint8_t>(is_reply ? 1 : 0)};
  datagram.push_back(static_cast<std::uint8_t>(core.size() & 0xff));
  datagram.push_back(static_cast<std::uint8_t>(core.size() >> 8));
  datagram.resize(kHeaderBytes + (is_reply ? crypto::Signature::kSize : 0));
  datagram.insert(datagram.end(), core.begin(), core.end());
  if (!is_reply) datagram.resize(std::max(datagram.size(), kDatagramBytes));
  return datagram;
}

void CheckAll(ByteView bytes) {
  fuzz::ByteSource source(bytes);
  const std::uint8_t how = source.Byte() % 6;
  const ByteView rest = source.Take(2 * kDatagramBytes);
  switch (how) {
    case 0:
      return CheckQuery(rest);
    case 1:
      return CheckReply(rest);
    case 2:
      return CheckRecord(rest);
    case 3:
      return CheckQuery(Wrapped(false, rest));
    case 4:
      return CheckReply(Wrapped(true, rest));
    default: {
      Bytes record(crypto::Signature::kSize, 7);
      record.insert(record.end(), rest.begin(), rest.end());
      return CheckRecord(record);
    }
  }
}

}  // namespace
}  // namespace ostraka::dht

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  ostraka::dht::CheckAll({data, size});
  return 0;
}
