#include "dht/operation.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/small_net.h"

namespace ostraka::dht::operation_test {
namespace {

base::Time Ms(std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); }

class OperationTest : public testing::Test {
 protected:
  OperationTest() { size_.SetFloor(200); }
  Operation Make(Goal goal, const Digest& key) {
    Search search(key, RandomDigest(net_.rng()), {4, 2}, Table(), Scope::kPublic);
    return Operation(Ms(0), std::move(search), std::move(goal), 5);
  }
  const RoutingTable& Table() { return net_.TableOf(net_.self()); }
  Request RequestOf(const Operation::Errand& errand) const {
    Request request;
    request.to = errand.to.contact.endpoint;
    request.node = errand.to;
    request.purpose = errand.purpose;
    request.lookup = errand.lookup;
    return request;
  }
  // Answers every errand honestly; `reply_of` adds to the reply.
  template <typename ReplyOf>
  int Play(Operation& operation, ReplyOf reply_of) {
    int errands = 0;
    for (auto next = operation.Next(Ms(10), Table(), size_); !next.empty();
         next = operation.Next(Ms(10), Table(), size_)) {
      for (const Operation::Errand& errand : next) {
        ++errands;
        operation.OnReply(4000, RequestOf(errand), reply_of(errand),
                          net_.AnswerOf(errand.to, errand.query.target), verifier_);
        operation.CheckInvariants();
      }
    }
    return errands;
  }

  SmallNet net_{31, 200};
  NetworkSize size_;
  crypto::PlainVerifier verifier_;
};

TEST_F(OperationTest, AWriteGivesTheRecordToTheSixteenNearestWithTheirTokens) {
  const auto key = KeyOf(1);
  const base::Bytes record = SignAnnouncement(SampleAnnouncement(*key), *key);
  const Digest target = PeerKey(TestNetwork(), key->id());
  Operation operation = Make(WriteGoal{record}, target);
  std::vector<Digest> stores;
  Play(operation, [&](const Operation::Errand& errand) {
    Reply reply;
    reply.token[0] = errand.to.id.bytes[0];
    if (errand.query.kind == QueryKind::kPut) {
      EXPECT_EQ(errand.query.token[0], errand.to.id.bytes[0]);
      EXPECT_EQ(errand.query.record, record);
      EXPECT_EQ(errand.query.target, target);
      stores.push_back(errand.to.id);
      reply.verdict = stores.size() % 4 == 0 ? Verdict::kFull : Verdict::kDone;
    }
    return reply;
  });
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(stores, net_.NearestIds(target, 16));
  EXPECT_EQ(std::get<WriteGoal>(operation.goal()).stored, 12U);
  EXPECT_EQ(std::get<WriteGoal>(operation.goal()).refused, 4U);
  EXPECT_EQ(operation.effort().queries, operation.search().queries() + 16);
}

TEST_F(OperationTest, AReadGoesToTheEndThoughTheFirstNodesHaveARecord) {
  const auto key = KeyOf(1);
  const Digest target = PeerKey(TestNetwork(), key->id());
  Operation operation = Make(ReadGoal{Reading(TestNetwork(), target, true), 9}, target);
  int asked = 0;
  Play(operation, [&](const Operation::Errand& errand) {
    EXPECT_EQ(errand.query.kind, QueryKind::kGet);
    EXPECT_EQ(errand.query.start, 9U);
    Reply reply;
    // The last to be asked has the newest.
    const Announcement content = SampleAnnouncement(*key, 10 + static_cast<std::uint64_t>(asked++));
    reply.records = {SignAnnouncement(content, *key)};
    return reply;
  });
  EXPECT_TRUE(operation.done());
  EXPECT_GE(asked, 16);
  const auto records = std::get<ReadGoal>(operation.goal()).reading.Result();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].seq, 10U + static_cast<std::uint64_t>(asked) - 1);
}

TEST_F(OperationTest, ASearchThatIsNotAnsweredEndsInTime) {
  Operation operation = Make(LookGoal{}, RandomDigest(net_.rng()));
  const auto errands = operation.Next(Ms(0), Table(), size_);
  EXPECT_EQ(errands.size(), 8U);
  EXPECT_EQ(operation.deadline(), Ms(5000));
  EXPECT_TRUE(operation.Next(Ms(4999), Table(), size_).empty());
  EXPECT_FALSE(operation.done());
  EXPECT_TRUE(operation.Next(Ms(5000), Table(), size_).empty());
  EXPECT_TRUE(operation.done());
  for (const auto& errand : errands) operation.OnFate(Requests::Fate::kLost, RequestOf(errand));
  EXPECT_TRUE(operation.done());
}

TEST_F(OperationTest, LostWritesAreNotWaitedForForEver) {
  const auto key = KeyOf(1);
  const Digest target = PeerKey(TestNetwork(), key->id());
  Operation operation = Make(WriteGoal{SignAnnouncement(SampleAnnouncement(*key), *key)}, target);
  std::vector<Operation::Errand> writes;
  for (auto next = operation.Next(Ms(0), Table(), size_); !next.empty();
       next = operation.Next(Ms(0), Table(), size_)) {
    for (const Operation::Errand& errand : next) {
      if (errand.purpose == Purpose::kWrite) {
        writes.push_back(errand);
      } else {
        operation.OnReply(4000, RequestOf(errand), {},
                          net_.AnswerOf(errand.to, errand.query.target), verifier_);
      }
    }
  }
  ASSERT_EQ(writes.size(), 16U);
  for (const auto& write : writes) {
    EXPECT_FALSE(operation.done());
    operation.OnFate(Requests::Fate::kSlow, RequestOf(write));
    operation.OnFate(Requests::Fate::kLost, RequestOf(write));
  }
  EXPECT_TRUE(operation.Next(Ms(1), Table(), size_).empty());
  EXPECT_TRUE(operation.done());
}

}  // namespace
}  // namespace ostraka::dht::operation_test
