#include "dht/answerer.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::answerer_test {
namespace {

class AnswererTest : public testing::Test {
 protected:
  AnswererTest() {
    for (std::uint32_t i = 0; i < 30; ++i) table_.OnAnswer({}, NodeIn(rng_, 100 + i));
  }
  std::optional<Answerer::Answer> Ask(const Query& query, std::uint32_t prefix = 1,
                                      bool server = true) {
    const auto answer = answerer_.OnQuery({now_, 4000, From(prefix), server}, query, table_);
    answerer_.CheckInvariants();
    return answer;
  }
  static Endpoint From(std::uint32_t prefix) {
    return Endpoint::V4((std::uint32_t{21} << 24) + (prefix << 8) + 1, 7000);
  }
  Query Of(QueryKind kind) {
    Query query;
    query.kind = kind;
    query.network = TestNetwork();
    query.sender = KeyOf(50)->id();
    return query;
  }
  Token TokenFor(std::uint32_t prefix) { return Ask(Of(QueryKind::kFind), prefix)->reply.token; }
  Query PutOf(std::uint64_t key, std::uint32_t prefix) {
    Query put = Of(QueryKind::kPut);
    put.record = SignAnnouncement(SampleAnnouncement(*KeyOf(key)), *KeyOf(key));
    put.target = PeerKey(TestNetwork(), KeyOf(key)->id());
    put.token = TokenFor(prefix);
    return put;
  }

  base::Rng rng_{5};
  base::Time now_;
  crypto::PlainVerifier verifier_;
  RoutingTable table_{RandomDigest(rng_)};
  Answerer answerer_{TestNetwork(), KeyOf(1)->id(), &verifier_, NetworkOf("secret")};
};

TEST_F(AnswererTest, AClientAnswersPingsAlone) {
  EXPECT_TRUE(Ask(Of(QueryKind::kPing), 1, false).has_value());
  EXPECT_FALSE(Ask(Of(QueryKind::kPing), 1, false)->reply.server);
  EXPECT_FALSE(Ask(Of(QueryKind::kFind), 1, false).has_value());
  EXPECT_FALSE(Ask(PutOf(2, 1), 1, false).has_value());
}

TEST_F(AnswererTest, OtherNetworksAndOurOwnKeyAreNotAnswered) {
  Query query = Of(QueryKind::kPing);
  query.network = NetworkOf("other");
  EXPECT_FALSE(Ask(query).has_value());
  query = Of(QueryKind::kPing);
  query.sender = KeyOf(1)->id();
  EXPECT_FALSE(Ask(query).has_value());
}

TEST_F(AnswererTest, FindNamesTheNearestButNotTheAsker) {
  Query find = Of(QueryKind::kFind);
  find.target = RandomDigest(rng_);
  const auto nearest = table_.Nearest(find.target, 16, Scope::kPublic, false);
  const Reply reply = Ask(find)->reply;
  ASSERT_EQ(reply.contacts.size(), 16U);
  EXPECT_EQ(reply.contacts[0], nearest[0].contact);
  EXPECT_EQ(reply.seen, From(1));
  find.sender = nearest[0].contact.peer;
  EXPECT_EQ(Ask(find)->reply.contacts[0], nearest[1].contact);
}

TEST_F(AnswererTest, ARecordIsStoredForAGoodTokenAndSignatureAlone) {
  Query put = PutOf(2, 1);
  EXPECT_EQ(Ask(put, 2)->reply.verdict, Verdict::kBadToken) << "of another address";
  Query forged = put;
  forged.record[70] ^= 1;
  EXPECT_NE(Ask(forged)->reply.verdict, Verdict::kDone);
  forged = put;
  forged.record[5] ^= 1;
  EXPECT_EQ(Ask(forged)->reply.verdict, Verdict::kBadRecord) << "a false signature";
  Query elsewhere = put;
  elsewhere.target.bytes.fill(1);
  EXPECT_EQ(Ask(elsewhere)->reply.verdict, Verdict::kBadRecord);
  EXPECT_EQ(answerer_.store().size(), 0U);
  const auto answer = Ask(put);
  EXPECT_EQ(answer->reply.verdict, Verdict::kDone);
  EXPECT_EQ(answer->stored, put.target);
  EXPECT_EQ(answerer_.store().size(), 1U);
  now_ = now_ + base::Seconds(601);
  EXPECT_EQ(Ask(put)->reply.verdict, Verdict::kBadToken) << "too old";
}

TEST_F(AnswererTest, GetGivesTheRecordAndFewerContacts) {
  const Query put = PutOf(2, 1);
  Ask(put);
  Query get = Of(QueryKind::kGet);
  get.target = put.target;
  const Reply reply = Ask(get)->reply;
  ASSERT_EQ(reply.records.size(), 1U);
  EXPECT_EQ(reply.records[0], put.record);
  EXPECT_LE(reply.contacts.size(), ContactsBeside(reply.records));
  EXPECT_GE(reply.contacts.size(), 4U);
  answerer_.DropExpired(10'000);
  EXPECT_TRUE(Ask(get)->reply.records.empty());
}

TEST_F(AnswererTest, ChecksAndTriesNeedATokenAndAreRationed) {
  Query check = Of(QueryKind::kCheck);
  EXPECT_EQ(Ask(check)->reply.verdict, Verdict::kBadToken);
  check.token = TokenFor(1);
  EXPECT_EQ(Ask(check)->reply.verdict, Verdict::kDone);
  EXPECT_EQ(Ask(check)->reply.verdict, Verdict::kDone);
  EXPECT_EQ(Ask(check)->reply.verdict, Verdict::kBusy) << "two at once, one a minute";
  Query test = Of(QueryKind::kTry);
  test.endpoint = From(77);
  EXPECT_EQ(Ask(test)->reply.verdict, Verdict::kBadToken);
  int done = 0;
  for (std::uint32_t i = 0; i < 30; ++i) {
    test.token = TokenFor(i);
    done += Ask(test, i)->reply.verdict == Verdict::kDone ? 1 : 0;
  }
  EXPECT_EQ(done, 2) << "of one tested address, whoever asks";
  for (std::uint32_t i = 0; i < 30; ++i) {
    test.token = TokenFor(i);
    test.endpoint = From(100 + i);
    done += Ask(test, i)->reply.verdict == Verdict::kDone ? 1 : 0;
  }
  EXPECT_EQ(done, 8) << "in all";
}

}  // namespace
}  // namespace ostraka::dht::answerer_test
