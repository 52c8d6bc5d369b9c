#include "dht/wire/messages.h"

#include <algorithm>

#include "crypto/domains.h"
#include "dht.capnp.h"
#include "dht/wire/fields.h"
#include "dht/wire/limits.h"
#include "node/base/check.h"

namespace ostraka::dht {
namespace {

using base::Bytes;
using base::ByteView;
using crypto::Signature;
using internal::AsData;
using internal::AsView;
using internal::ReadId;
using internal::ReadSixteen;
using internal::Refuse;

constexpr std::array<std::uint8_t, 5> kMagic = {'O', 'S', 'T', 'D', 1};
constexpr std::size_t kKindAt = 5;
constexpr std::size_t kLengthAt = 6;
constexpr std::size_t kNonceAt = 8;
static_assert(kNonceAt + std::tuple_size_v<Nonce> == kHeaderBytes);

// Of a Reply's canonical form without its lists: a pointer to the root, one word of data, five
// pointers; the sender, the endpoint seen, the token.
constexpr std::size_t kReplyWords = 1 + 1 + 5 + 4 + 3 + 2;
constexpr std::size_t kRoomInReply =
    kDatagramBytes - kHeaderBytes - Signature::kSize - 8 * kReplyWords;

constexpr std::size_t Padded(std::size_t size) { return (size + 7) / 8 * 8; }

bool UsesTarget(QueryKind kind) {
  return kind == QueryKind::kFind || kind == QueryKind::kGet || kind == QueryKind::kPut;
}
bool UsesMark(QueryKind kind) { return kind == QueryKind::kCheck || kind == QueryKind::kTry; }
bool UsesToken(QueryKind kind) { return kind == QueryKind::kPut || UsesMark(kind); }

// A field that the kind does not use is neither written nor read: a value in one of them breaks
// the canonical form.
Bytes EncodeCore(const Query& query) {
  return internal::EncodeCanonical<schema::Query>([&](schema::Query::Builder root) {
    root.setKind(static_cast<schema::QueryKind>(query.kind));
    root.setServer(query.server);
    root.setNetwork(AsData(query.network));
    root.setSender(AsData(query.sender));
    if (UsesTarget(query.kind)) root.setTarget(AsData(query.target));
    if (query.kind == QueryKind::kGet) root.setStart(query.start);
    if (UsesToken(query.kind)) root.setToken(AsData(ByteView(query.token)));
    if (UsesMark(query.kind)) root.setMark(AsData(ByteView(query.mark)));
    Bytes endpoint;
    if (query.kind == QueryKind::kTry) {
      AppendEndpoint(endpoint, query.endpoint);
      root.setEndpoint(AsData(endpoint));
    }
    if (query.kind == QueryKind::kPut) root.setRecord(AsData(query.record));
  });
}

base::StatusOr<Query> ReadQuery(schema::Query::Reader root) {
  Query query;
  RETURN_IF_ERROR(internal::ReadEnum(root.getKind(), "kind", kQueryKindCount, query.kind));
  query.server = root.getServer();
  RETURN_IF_ERROR(ReadId(root.getNetwork(), "network", query.network));
  RETURN_IF_ERROR(ReadId(root.getSender(), "sender", query.sender));
  if (UsesTarget(query.kind)) RETURN_IF_ERROR(ReadId(root.getTarget(), "target", query.target));
  if (query.kind == QueryKind::kGet) query.start = root.getStart();
  if (UsesToken(query.kind)) RETURN_IF_ERROR(ReadSixteen(root.getToken(), "token", query.token));
  if (UsesMark(query.kind)) RETURN_IF_ERROR(ReadSixteen(root.getMark(), "mark", query.mark));
  if (query.kind == QueryKind::kTry) {
    RETURN_IF_ERROR(internal::ReadUsable(AsView(root.getEndpoint()), "endpoint", query.endpoint));
  }
  if (query.kind == QueryKind::kPut) {
    if (root.getRecord().size() == 0) return Refuse("record", "is missing");
    RETURN_IF_ERROR(
        wire::internal::ReadBytes(root.getRecord(), "record", kMaxRecordBytes, query.record));
  }
  return query;
}

Bytes EncodeCore(const Reply& reply) {
  return internal::EncodeCanonical<schema::Reply>([&](schema::Reply::Builder root) {
    root.setVerdict(static_cast<schema::Verdict>(reply.verdict));
    root.setServer(reply.server);
    root.setSender(AsData(reply.sender));
    Bytes seen;
    AppendEndpoint(seen, reply.seen);
    root.setSeen(AsData(seen));
    if (reply.token != Token{}) root.setToken(AsData(ByteView(reply.token)));
    if (!reply.contacts.empty()) root.setContacts(AsData(internal::Joined(reply.contacts)));
    if (reply.records.empty()) return;
    auto records = root.initRecords(static_cast<unsigned>(reply.records.size()));
    for (unsigned i = 0; i < records.size(); ++i) records.set(i, AsData(reply.records[i]));
  });
}

base::StatusOr<Reply> ReadReply(schema::Reply::Reader root) {
  Reply reply;
  RETURN_IF_ERROR(internal::ReadEnum(root.getVerdict(), "verdict", kVerdictCount, reply.verdict));
  reply.server = root.getServer();
  RETURN_IF_ERROR(ReadId(root.getSender(), "sender", reply.sender));
  RETURN_IF_ERROR(internal::ReadUsable(AsView(root.getSeen()), "seen", reply.seen));
  if (root.getToken().size() != 0) {
    RETURN_IF_ERROR(ReadSixteen(root.getToken(), "token", reply.token));
  }
  RETURN_IF_ERROR(
      internal::ReadContacts(root.getContacts(), "contacts", kMaxContacts, reply.contacts));
  const auto records = root.getRecords();
  RETURN_IF_ERROR(wire::internal::CheckCount(records.size(), "records", kMaxRecords));
  for (const auto record : records) {
    if (record.size() == 0) return Refuse("record", "is empty");
    RETURN_IF_ERROR(
        wire::internal::ReadBytes(record, "record", kMaxRecordBytes, reply.records.emplace_back()));
  }
  return reply;
}

void AppendHeader(Bytes& out, bool is_reply, std::size_t core_size, const Nonce& nonce) {
  out.insert(out.end(), kMagic.begin(), kMagic.end());
  out.push_back(is_reply ? 1 : 0);
  out.push_back(static_cast<std::uint8_t>(core_size & 0xff));
  out.push_back(static_cast<std::uint8_t>(core_size >> 8));
  out.insert(out.end(), nonce.begin(), nonce.end());
}

std::size_t CoreSize(ByteView datagram) {
  return datagram[kLengthAt] | static_cast<std::size_t>(datagram[kLengthAt + 1]) << 8;
}

Digest ReplyDigest(const Digest& query, ByteView core) {
  return crypto::Hasher(crypto::kDomainDhtReply).Update(query).Update(core).Finish();
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  static constexpr const char* kNames[] = {
      "no answer to a request",  "done", "token refused", "record refused", "time refused",
      "a newer record is there", "full", "busy"};
  static_assert(std::size(kNames) == kVerdictCount);
  return kNames[static_cast<unsigned>(verdict)];
}

std::size_t ContactsBeside(const std::vector<Bytes>& records) {
  std::size_t room = kRoomInReply;
  for (const Bytes& record : records) room -= std::min(room, 8 + Padded(record.size()));
  return std::min(kMaxContacts, room / 8 * 8 / Contact::kSize);
}

EncodedQuery EncodeQuery(const Nonce& nonce, const Query& query) {
  const Bytes core = EncodeCore(query);
  auto datagram = std::make_shared<Bytes>();
  datagram->reserve(kDatagramBytes);
  AppendHeader(*datagram, /*is_reply=*/false, core.size(), nonce);
  datagram->insert(datagram->end(), core.begin(), core.end());
  OSTRAKA_CHECK(datagram->size() <= kDatagramBytes);
  datagram->resize(kDatagramBytes);
  const Digest digest = crypto::Hash(crypto::kDomainDhtQuery, *datagram);
  return {std::move(datagram), digest};
}

base::SharedBytes EncodeReply(const Nonce& nonce, const Digest& query, const Reply& reply,
                              const crypto::SigningKey& key) {
  OSTRAKA_CHECK(key.id() == reply.sender);
  const Bytes core = EncodeCore(reply);
  const Signature signature = key.Sign(ReplyDigest(query, core));
  auto datagram = std::make_shared<Bytes>();
  datagram->reserve(kHeaderBytes + Signature::kSize + core.size());
  AppendHeader(*datagram, /*is_reply=*/true, core.size(), nonce);
  datagram->insert(datagram->end(), signature.bytes.begin(), signature.bytes.end());
  datagram->insert(datagram->end(), core.begin(), core.end());
  OSTRAKA_CHECK(datagram->size() <= kDatagramBytes);
  return datagram;
}

base::StatusOr<Header> ReadHeader(ByteView datagram) {
  if (datagram.size() < kHeaderBytes) return Refuse("datagram", "shorter than a header");
  if (datagram.size() > kDatagramBytes) return Refuse("datagram", "too long");
  if (!std::equal(kMagic.begin(), kMagic.end(), datagram.begin())) {
    return Refuse("datagram", "of another protocol or version");
  }
  if (datagram[kKindAt] > 1) return Refuse("datagram", "neither query nor reply");
  Header header;
  header.is_reply = datagram[kKindAt] == 1;
  std::copy_n(datagram.begin() + kNonceAt, header.nonce.size(), header.nonce.begin());
  return header;
}

base::StatusOr<OpenedQuery> OpenQuery(ByteView datagram) {
  ASSIGN_OR_RETURN(const Header header, ReadHeader(datagram));
  if (header.is_reply) return Refuse("query", "is a reply");
  if (datagram.size() != kDatagramBytes) {
    return Refuse("query", "must be 1200 bytes, so that no reply is longer");
  }
  const std::size_t size = CoreSize(datagram);
  const ByteView rest = datagram.subspan(kHeaderBytes);
  if (size > rest.size()) return Refuse("query", "shorter than it says");
  const ByteView padding = rest.subspan(size);
  if (std::any_of(padding.begin(), padding.end(), [](std::uint8_t b) { return b != 0; })) {
    return Refuse("query", "padded with other bytes than zeros");
  }
  OpenedQuery opened;
  ASSIGN_OR_RETURN(opened.query, (internal::DecodeCanonical<schema::Query, Query>(
                                     "query", rest.first(size), kDatagramBytes, ReadQuery,
                                     [](const Query& query) { return EncodeCore(query); })));
  opened.digest = crypto::Hash(crypto::kDomainDhtQuery, datagram);
  return opened;
}

base::StatusOr<OpenedReply> OpenReply(ByteView datagram, const Digest& query) {
  ASSIGN_OR_RETURN(const Header header, ReadHeader(datagram));
  if (!header.is_reply) return Refuse("reply", "is a query");
  const std::size_t begin = kHeaderBytes + Signature::kSize;
  if (datagram.size() < begin || datagram.size() - begin != CoreSize(datagram)) {
    return Refuse("reply", "of another length than it says");
  }
  const ByteView core = datagram.subspan(begin);
  OpenedReply opened;
  ASSIGN_OR_RETURN(opened.reply, (internal::DecodeCanonical<schema::Reply, Reply>(
                                     "reply", core, kDatagramBytes, ReadReply,
                                     [](const Reply& reply) { return EncodeCore(reply); })));
  std::copy_n(datagram.begin() + kHeaderBytes, Signature::kSize, opened.signature.bytes.begin());
  opened.digest = ReplyDigest(query, core);
  return opened;
}

}  // namespace ostraka::dht
