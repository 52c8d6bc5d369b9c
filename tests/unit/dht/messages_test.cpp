#include "dht/wire/messages.h"

#include <gtest/gtest.h>

#include "dht/wire/limits.h"
#include "tests/unit/dht/samples.h"

namespace ostraka::dht::messages_test {
namespace {

Nonce SomeNonce(std::uint8_t fill = 4) {
  Nonce nonce;
  nonce.fill(fill);
  return nonce;
}

Query SampleQuery(QueryKind kind) {
  const auto key = KeyOf(1);
  Query query;
  query.kind = kind;
  query.network = TestNetwork();
  query.sender = key->id();
  query.server = true;
  if (kind == QueryKind::kFind || kind == QueryKind::kGet || kind == QueryKind::kPut) {
    query.target.bytes.fill(8);
  }
  if (kind == QueryKind::kGet) query.start = 12345;
  if (kind == QueryKind::kPut) query.record = SignAnnouncement(SampleAnnouncement(*key), *key);
  if (kind >= QueryKind::kPut) query.token.fill(2);
  if (kind >= QueryKind::kCheck) query.mark.fill(3);
  if (kind == QueryKind::kTry) query.endpoint = Endpoint::V4(0x08080808, 53);
  return query;
}

Reply SampleReply(const crypto::SigningKey& key) {
  Reply reply;
  reply.sender = key.id();
  reply.server = true;
  reply.verdict = Verdict::kDone;
  reply.seen = Endpoint::V4(0x08080404, 5);
  reply.token.fill(6);
  reply.records = {SignAnnouncement(SampleAnnouncement(key), key)};
  reply.contacts.assign(ContactsBeside(reply.records), {key.id(), Endpoint::V4(0x08080405, 6)});
  return reply;
}

TEST(MessagesTest, QueriesOfEveryKindComeBackAndHaveOneSize) {
  for (unsigned kind = 0; kind < kQueryKindCount; ++kind) {
    const Query query = SampleQuery(static_cast<QueryKind>(kind));
    const EncodedQuery encoded = EncodeQuery(SomeNonce(), query);
    EXPECT_EQ(encoded.datagram->size(), kDatagramBytes);
    const auto opened = OpenQuery(*encoded.datagram);
    ASSERT_TRUE(opened.ok()) << kind << ": " << opened.status().message();
    EXPECT_EQ(opened->query, query);
    EXPECT_EQ(opened->digest, encoded.digest);
    EXPECT_EQ(ReadHeader(*encoded.datagram)->nonce, SomeNonce());
  }
}

TEST(MessagesTest, AQueryOfAnotherSizeIsRefused) {
  const EncodedQuery encoded = EncodeQuery(SomeNonce(), SampleQuery(QueryKind::kFind));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, kDatagramBytes - 1, kDatagramBytes + 1}) {
    base::Bytes cut = *encoded.datagram;
    cut.resize(size);
    EXPECT_FALSE(OpenQuery(cut).ok()) << size;
  }
}

TEST(MessagesTest, PaddingMustBeZero) {
  base::Bytes bytes = *EncodeQuery(SomeNonce(), SampleQuery(QueryKind::kPing)).datagram;
  bytes.back() = 1;
  EXPECT_FALSE(OpenQuery(bytes).ok());
}

TEST(MessagesTest, ARecordOfFullSizeFitsAPut) {
  Query query = SampleQuery(QueryKind::kPut);
  query.record.assign(kMaxRecordBytes, 7);
  EXPECT_TRUE(OpenQuery(*EncodeQuery(SomeNonce(), query).datagram).ok());
}

TEST(MessagesTest, RepliesComeBackAndAreNeverLongerThanAQuery) {
  const auto key = KeyOf(1);
  const Digest query = TestNetwork();
  for (std::size_t size = 0; size <= kMaxRecordBytes; size += 57) {
    Reply reply = SampleReply(*key);
    reply.records.clear();
    if (size > 0) reply.records.assign(size > 250 ? 1 : 3, base::Bytes(size, 1));
    reply.contacts.assign(ContactsBeside(reply.records), {key->id(), Endpoint::V4(0x08080405, 6)});
    const auto bytes = EncodeReply(SomeNonce(), query, reply, *key);
    EXPECT_LE(bytes->size(), kDatagramBytes) << size;
    const auto opened = OpenReply(*bytes, query);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    EXPECT_EQ(opened->reply, reply);
  }
}

TEST(MessagesTest, SixteenContactsFitAReplyWithoutRecords) {
  EXPECT_EQ(ContactsBeside({}), kMaxContacts);
  EXPECT_GE(ContactsBeside({base::Bytes(kMaxRecordShareBytes)}), 8U);
}

TEST(MessagesTest, AReplyAnswersOneQueryOnly) {
  const auto key = KeyOf(1);
  const Digest query = EncodeQuery(SomeNonce(), SampleQuery(QueryKind::kFind)).digest;
  const Digest other = EncodeQuery(SomeNonce(9), SampleQuery(QueryKind::kFind)).digest;
  const auto bytes = EncodeReply(SomeNonce(), query, SampleReply(*key), *key);
  crypto::PlainVerifier verifier;
  const auto good = OpenReply(*bytes, query);
  EXPECT_TRUE(verifier.Verify(key->id(), good->digest, good->signature));
  const auto replayed = OpenReply(*bytes, other);
  EXPECT_FALSE(verifier.Verify(key->id(), replayed->digest, replayed->signature));
}

TEST(MessagesTest, EveryChangedByteOfAReplyIsRefusedOrBreaksTheSignature) {
  const auto key = KeyOf(1);
  const Digest query = TestNetwork();
  const auto bytes = EncodeReply(SomeNonce(), query, SampleReply(*key), *key);
  crypto::PlainVerifier verifier;
  // The nonce is not signed: it is part of the query that is.
  for (std::size_t i = kHeaderBytes; i < bytes->size(); i += 3) {
    base::Bytes bent = *bytes;
    bent[i] ^= 0x11;
    const auto opened = OpenReply(bent, query);
    if (!opened.ok()) continue;
    EXPECT_FALSE(verifier.Verify(key->id(), opened->digest, opened->signature)) << "byte " << i;
  }
}

TEST(MessagesTest, AFieldThatTheKindDoesNotUseIsRefused) {
  // As a FIND with the bytes of a GET's field: the decoder encodes again, without it.
  base::Bytes bytes = *EncodeQuery(SomeNonce(), SampleQuery(QueryKind::kGet)).datagram;
  // The kind is the first 16-bit field of the core's data, after one word for the root pointer.
  const std::size_t kind = kHeaderBytes + 8;
  ASSERT_EQ(bytes[kind], static_cast<std::uint8_t>(QueryKind::kGet));
  bytes[kind] = static_cast<std::uint8_t>(QueryKind::kFind);
  EXPECT_FALSE(OpenQuery(bytes).ok());
}

TEST(MessagesTest, HeadersOfOthersAreRefused) {
  EXPECT_FALSE(ReadHeader({}).ok());
  EXPECT_FALSE(ReadHeader(base::Bytes(100, 0)).ok());
  base::Bytes bytes = *EncodeQuery(SomeNonce(), SampleQuery(QueryKind::kPing)).datagram;
  bytes[4] = 2;  // version
  EXPECT_FALSE(ReadHeader(bytes).ok());
  bytes[4] = 1;
  bytes[5] = 2;  // kind
  EXPECT_FALSE(ReadHeader(bytes).ok());
}

TEST(MessagesTest, ALengthBeyondTheDatagramIsRefused) {
  base::Bytes bytes = *EncodeQuery(SomeNonce(), SampleQuery(QueryKind::kPing)).datagram;
  bytes[6] = 0xff;
  bytes[7] = 0xff;
  EXPECT_FALSE(OpenQuery(bytes).ok());
}

TEST(MessagesTest, VerdictsHaveNames) {
  for (unsigned verdict = 0; verdict < kVerdictCount; ++verdict) {
    EXPECT_GT(std::string(VerdictName(static_cast<Verdict>(verdict))).size(), 3U);
  }
}

}  // namespace
}  // namespace ostraka::dht::messages_test
