// The parts of a mesh, each alone: the choice of the link, dialing, the member table, the end, the
// tally.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/net/mesh/connection_pool.h"
#include "node/net/mesh/dialing.h"
#include "node/net/mesh/ending.h"
#include "node/net/mesh/link_choice.h"
#include "node/net/mesh/member_table.h"
#include "node/net/mesh/tally.h"
#include "node/net/records/outgoing_blobs.h"
#include "tests/unit/net/fake_connection.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net::mesh_parts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Verdict = LinkChoice::Verdict;

constexpr base::Time kStart{base::Seconds(1000).ns};

Hello HelloOf(std::uint64_t instance, std::uint64_t lost_link = 0) {
  Hello hello;
  hello.instance = instance;
  hello.lost_link = lost_link;
  return hello;
}

// --- LinkChoice ----------------------------------------------------------------------------------

TEST(LinkChoice, TheDeciderReplacesALinkOnlyWithProofThatItIsDead) {
  LinkChoice choice(true);
  EXPECT_EQ(choice.OnHello(HelloOf(1)), Verdict::kLink);
  choice.Begin(std::make_shared<FakeConnection>(), 77, 1, kStart);
  EXPECT_TRUE(choice.is_up());
  EXPECT_EQ(choice.OnHello(HelloOf(1)), Verdict::kDuplicate);
  EXPECT_EQ(choice.OnHello(HelloOf(1, 76)), Verdict::kDuplicate) << "it lost another link";
  EXPECT_EQ(choice.OnHello(HelloOf(2)), Verdict::kLink) << "it restarted";
  EXPECT_EQ(choice.OnHello(HelloOf(1, 77)), Verdict::kLink) << "it lost this link";
}

TEST(LinkChoice, AClosingLinkNeedsNoProof) {
  LinkChoice choice(true);
  const auto link = std::make_shared<FakeConnection>();
  choice.Begin(link, 77, 1, kStart);
  link->Abort({});
  EXPECT_FALSE(choice.is_up());
  EXPECT_NE(choice.link(), nullptr) << "it ends only by End";
  EXPECT_EQ(choice.OnHello(HelloOf(1)), Verdict::kLink);
}

TEST(LinkChoice, TheOtherSideFollowsEachGoThatIsNotLate) {
  LinkChoice choice(false);
  EXPECT_EQ(choice.OnGo(1, 10), Verdict::kLink);
  choice.Begin(std::make_shared<FakeConnection>(), 10, 1, kStart);
  EXPECT_EQ(choice.OnGo(1, 9), Verdict::kDuplicate) << "a later GO overtook it";
  EXPECT_EQ(choice.OnGo(1, 11), Verdict::kLink);
  EXPECT_EQ(choice.OnGo(2, 9), Verdict::kLink) << "ids of another process are not comparable";
}

TEST(LinkChoice, NamesTheLastLinkThatEndedAndHowLongItLived) {
  LinkChoice choice(false);
  EXPECT_EQ(choice.lost_link(), 0u);
  choice.Begin(std::make_shared<FakeConnection>(), 10, 1, kStart);
  EXPECT_EQ(choice.lost_link(), 0u);
  EXPECT_EQ(choice.End(kStart + base::Seconds(3)), base::Seconds(3));
  EXPECT_EQ(choice.lost_link(), 10u);
  EXPECT_EQ(choice.link(), nullptr);
}

TEST(LinkChoiceDeathTest, ASecondLinkIsABugOfOurs) {
  LinkChoice choice(true);
  choice.Begin(std::make_shared<FakeConnection>(), 1, 1, kStart);
  EXPECT_DEATH(choice.Begin(std::make_shared<FakeConnection>(), 2, 1, kStart), "CHECK failed");
  LinkChoice other(false);
  EXPECT_DEATH(other.OnHello(HelloOf(1)), "CHECK failed");
}

// --- Dialing -------------------------------------------------------------------------------------

class DialingTest : public ::testing::Test {
 protected:
  TransportBackoff Waits() const {
    return {.first = base::Milliseconds(1),
            .longest = base::Milliseconds(4),
            .jitter = 0,
            .head_start = base::Milliseconds(1)};
  }
  std::function<void()> Note(char what) {
    return [this, what] { order_ += what; };
  }

  boost::asio::io_context io_;
  std::string order_;
  Dialing dialing_{io_, Waits()};
};

TEST_F(DialingTest, OneDialIsScheduledAtATime) {
  dialing_.Schedule(base::Milliseconds(1), Note('a'));
  dialing_.Schedule(base::Milliseconds(1), Note('b'));
  EXPECT_TRUE(dialing_.is_scheduled());
  io_.run();
  EXPECT_EQ(order_, "b");
  EXPECT_FALSE(dialing_.is_scheduled());
  dialing_.Schedule(base::Milliseconds(1), Note('c'));
  dialing_.Cancel();
  io_.restart();
  io_.run();
  EXPECT_EQ(order_, "b");
}

// Attack: a peer that announces new addresses again and again must not keep itself from being
// dialed, nor bring a dial forward that is due earlier.
TEST_F(DialingTest, ADialIsHastenedButNeverPutOff) {
  dialing_.Schedule(base::Seconds(3600), Note('a'));
  dialing_.ScheduleNoLater(base::Milliseconds(1), Note('b'));
  for (int i = 0; i < 10; ++i) dialing_.ScheduleNoLater(base::Seconds(1800), Note('c'));
  io_.run();
  EXPECT_EQ(order_, "b");
}

TEST_F(DialingTest, WaitsGrowUntilALinkWasStable) {
  base::Rng rng(1);
  EXPECT_EQ(dialing_.NextWait(rng), base::Milliseconds(1));
  EXPECT_EQ(dialing_.NextWait(rng), base::Milliseconds(2));
  EXPECT_EQ(dialing_.NextWait(rng), base::Milliseconds(4));
  EXPECT_EQ(dialing_.NextWait(rng), base::Milliseconds(4));
  dialing_.OnLinkEnded(base::Seconds(1));
  EXPECT_EQ(dialing_.NextWait(rng), base::Milliseconds(4));
  dialing_.OnLinkEnded(base::Seconds(10));
  EXPECT_EQ(dialing_.NextWait(rng), base::Milliseconds(1));
  dialing_.ResetBackoff();
  EXPECT_EQ(dialing_.NextWait(rng), base::Milliseconds(1));
  EXPECT_EQ(dialing_.FirstWait(), base::Milliseconds(1));
}

TEST_F(DialingTest, AFewAttemptsAtOnceEachAfterTheHeadStartOfTheLast) {
  std::vector<std::shared_ptr<FakeConnection>> attempts;
  std::function<void()> begin = [&] {
    order_ += 'b';
    if (!dialing_.MayBegin()) return;
    attempts.push_back(std::make_shared<FakeConnection>());
    dialing_.Begin(attempts.back(), begin);
  };
  begin();
  io_.run();
  EXPECT_EQ(order_, "bbbb") << "the first, and one after each head start";
  ASSERT_EQ(attempts.size(), Dialing::kMostAttempts);
  EXPECT_DEATH(dialing_.Begin(std::make_shared<FakeConnection>(), [] {}), "CHECK failed");
  EXPECT_EQ(dialing_.End(*attempts[1]), attempts[1]);
  EXPECT_FALSE(dialing_.IsAttempt(*attempts[1]));
  EXPECT_TRUE(dialing_.IsAttempt(*attempts[2]));
  EXPECT_DEATH(dialing_.End(*attempts[1]), "CHECK failed");
  EXPECT_EQ(dialing_.EndAll().size(), 2u);
  EXPECT_FALSE(dialing_.is_under_way());
}

TEST_F(DialingTest, NoHeadStartEndsAfterCancel) {
  dialing_.Begin(std::make_shared<FakeConnection>(), Note('x'));
  dialing_.Cancel();
  io_.run();
  EXPECT_EQ(order_, "");
  EXPECT_TRUE(dialing_.is_under_way());
}

// --- MemberTable
// --------------------------------------------------------------------------------------

class MemberTableTest : public ::testing::Test {
 protected:
  ~MemberTableTest() override { member_table_.CheckInvariants(); }
  base::Status Add(std::size_t rank, const std::vector<std::string>& addresses = {}) {
    return member_table_.Add(TestKey(rank)->id(), AddressSource::kManifest, addresses);
  }

  boost::asio::io_context io_;
  MemberTable member_table_{io_, TestKey(2)->id(), {}, 3};
};

TEST_F(MemberTableTest, WeDecideForLargerIds) {
  ASSERT_TRUE(Add(1, {"192.0.2.1:1"}).ok());
  ASSERT_TRUE(Add(3).ok());
  EXPECT_FALSE(member_table_.Find(TestKey(1)->id())->choice.we_decide());
  EXPECT_TRUE(member_table_.Find(TestKey(3)->id())->choice.we_decide());
  EXPECT_EQ(member_table_.book().Of(TestKey(1)->id()).size(), 1u);
}

TEST_F(MemberTableTest, AddTwiceItselfAndBeyondTheBound) {
  EXPECT_EQ(base::MessageOf(Add(2)), "is this node itself");
  ASSERT_TRUE(Add(0).ok());
  EXPECT_EQ(base::MessageOf(Add(0)), "is a member already");
  EXPECT_EQ(Add(1, {"no address"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(member_table_.Find(TestKey(1)->id()), nullptr) << "an error changes nothing";
  ASSERT_TRUE(Add(1).ok());
  ASSERT_TRUE(Add(3).ok());
  EXPECT_EQ(Add(4).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(member_table_.Remove(TestKey(1)->id()));
  EXPECT_TRUE(Add(4).ok());
}

TEST_F(MemberTableTest, AForgottenMemberKeepsItsPlaceAndARemovedOneDoesNot) {
  ASSERT_TRUE(Add(0, {"192.0.2.1:1"}).ok());
  member_table_.Find(TestKey(0)->id())->forgotten = true;
  EXPECT_FALSE(member_table_.IsMember(TestKey(0)->id()));
  EXPECT_EQ(base::MessageOf(Add(0)), "was removed from this run");
  EXPECT_TRUE(member_table_.HasPartedFromAll()) << "nobody awaits anything of us";
  EXPECT_TRUE(member_table_.Remove(TestKey(0)->id()));
  EXPECT_FALSE(member_table_.Remove(TestKey(0)->id()));
  EXPECT_FALSE(member_table_.book().Vouches("192.0.2.1"));
  EXPECT_TRUE(Add(0).ok());
  EXPECT_TRUE(member_table_.IsMember(TestKey(0)->id()));
  EXPECT_FALSE(member_table_.HasPartedFromAll());
}

// --- Ending --------------------------------------------------------------------------------------

TEST(Ending, TellsOnceAndNotWithinTheCall) {
  boost::asio::io_context io;
  Ending ending(io);
  int done = 0;
  int late = 0;
  ending.Begin(
      false, base::Seconds(3600), [&late] { ++late; }, [&done] { ++done; });
  EXPECT_TRUE(ending.begun() && !ending.parting() && !ending.stopping());
  EXPECT_TRUE(ending.Stop());
  EXPECT_FALSE(ending.Stop());
  ending.FinishSoon();
  EXPECT_EQ(done, 0);
  io.run();
  ending.Finish();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(late, 0);
}

TEST(Ending, TheDeadlineComesIfNothingElseDoes) {
  boost::asio::io_context io;
  Ending ending(io);
  int late = 0;
  ending.Begin(
      true, base::Milliseconds(1), [&late] { ++late; }, [] {});
  EXPECT_TRUE(ending.parting());
  io.run();
  EXPECT_EQ(late, 1);
  EXPECT_DEATH(ending.Begin(
                   true, {}, [] {}, [] {}),
               "CHECK failed");
  EXPECT_DEATH(ending.Finish(), "CHECK failed") << "it does not stop yet";
}

// --- Tally ---------------------------------------------------------------------------------------

TEST(Tally, CountsRefusalsByKindAndSaysWhatPeopleNeed) {
  std::vector<std::string> said;
  Tally tally(
      [&said](NoticeLevel level, const std::string& line) {
        if (level != NoticeLevel::kDebug) said.push_back(line);
      },
      1);
  tally.CountRefusal(Refusal::kSlow);
  tally.CountRefusal(Refusal::kQuota);
  tally.CountRefusal(Refusal::kQuota);
  EXPECT_EQ(tally.counters().refused, 3u);
  EXPECT_EQ(tally.counters().refused_by[static_cast<std::size_t>(Refusal::kQuota)], 2u);
  tally.LinkUp("a");
  EXPECT_EQ(tally.counters().links_up, 1u);
  tally.LinkDown(base::PeerId(), "a", {Closing::Why::kLost, "left"});
  EXPECT_EQ(tally.counters().links_up, 0u);
  EXPECT_EQ(tally.counters().links, 1u);
  tally.DialFailed("b", {Closing::Why::kLost, "is away"}, true);
  tally.DialFailed("b", {Closing::Why::kLost, "is away"}, false);
  for (int i = 0; i < 5; ++i) {
    tally.StrangerLeft(kStart, "c", {Closing::Why::kRefused, "lied"});
    tally.StrangerLeft(kStart, "d", {Closing::Why::kLost, "left"});
  }
  EXPECT_THAT(said,
              ElementsAre("linked with a", "link with a is down: it left", "b is away", "c lied"));
  EXPECT_DEATH(tally.LinkDown(base::PeerId(), "a", {}), "CHECK failed");
}

TEST(Tally, SaysOnceThatAnotherNodeHasThisKey) {
  std::vector<std::string> warned;
  Tally tally(
      [&warned](NoticeLevel level, const std::string& line) {
        if (level == NoticeLevel::kWarning) warned.push_back(line);
      },
      1);
  const auto lose = [&](std::uint8_t member) {
    base::PeerId peer;
    peer.bytes[0] = member;
    tally.LinkUp("a");
    tally.LinkDown(peer, "a", {Closing::Why::kDuplicate, "has another"});
  };
  for (int i = 0; i < 9; ++i) lose(1);
  EXPECT_THAT(warned, ElementsAre()) << "one member alone may say what is not so";
  for (int i = 0; i < 4; ++i) lose(2);
  EXPECT_THAT(warned, ElementsAre(HasSubstr("this node's key")));
}

// --- OutgoingBlobs -------------------------------------------------------------------------------

TEST(OutgoingBlobs, OneObjectForABlobAsLongAsAQueueHoldsIt) {
  OutgoingBlobs blobs;
  const crypto::SharedBlob blob = TestBlob(1000);
  auto first = blobs.Share(blob);
  EXPECT_EQ(blobs.Share(blob), first);
  const auto other = blobs.Share(TestBlob(1000));
  EXPECT_NE(other, first);
  EXPECT_EQ(blobs.size(), 2u);
  first.reset();
  const auto third = blobs.Share(TestBlob(2000));
  EXPECT_EQ(blobs.size(), 2u) << "nothing is kept of a blob that no queue holds";
}

// --- ConnectionPool ------------------------------------------------------------------------------

class NoOwner final : public ConnectionOwner {
 public:
  base::StatusOr<Hello> OnAuthenticated(Connection& /*which*/) override {
    ADD_FAILURE();
    return base::Internal("never");
  }
  void OnHello(Connection& /*which*/, const Hello& /*theirs*/) override { ADD_FAILURE(); }
  void OnGo(Connection& /*which*/, std::uint64_t /*link_id*/) override { ADD_FAILURE(); }
  void OnMessage(Connection& /*which*/, SharedBytes /*frame*/, SharedBlob /*blob*/) override {
    ADD_FAILURE();
  }
  void OnDialBack(Connection& /*which*/, const DialBackRecord& /*record*/) override {
    ADD_FAILURE();
  }
  void OnData(Connection& /*which*/, const DataRecord& /*record*/) override { ADD_FAILURE(); }
  void OnBytes(Connection& /*which*/, const Traffic& /*added*/) override { ADD_FAILURE(); }
  void OnClosing(Connection& /*which*/, const Closing& closing) override {
    reasons.push_back(closing.reason);
  }
  void OnGone(Connection& which) override { gone.push_back(&which); }

  std::vector<std::string> reasons;
  std::vector<const Connection*> gone;
};

TEST(ConnectionPool, HoldsAConnectionUntilItIsReleased) {
  boost::asio::io_context io;
  TransportOptions options;
  options.key = TestKey(0);
  NoOwner owner;
  ConnectionPool pool(io, options, *MakeTlsContext(*TestKey(0)), owner);
  // Nobody reads the address before Start.
  Connection& first = *pool.Dial(TestKey(1)->id(), "192.0.2.1:1");
  Connection& second = *pool.Dial(TestKey(2)->id(), "192.0.2.1:1");
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(pool.Of(TestKey(1)->id()).at(0).get(), &first);
  first.Close({Closing::Why::kLocal, "is not needed"}, CloseCode::kLeaving);
  EXPECT_TRUE(owner.reasons.empty()) << "an event came within a call";
  io.run();
  EXPECT_THAT(owner.reasons, ElementsAre("is not needed"));
  EXPECT_THAT(owner.gone, ElementsAre(&first));
  EXPECT_EQ(pool.At(first).get(), &first);
  pool.Release(first);
  ASSERT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool.All().at(0).get(), &second);
}

TEST(ConnectionPool, AfterItsEndNoConnectionCallsItsOwner) {
  boost::asio::io_context io;
  TransportOptions options;
  options.key = TestKey(0);
  NoOwner owner;
  auto pool = std::make_unique<ConnectionPool>(io, options, *MakeTlsContext(*TestKey(0)), owner);
  const std::shared_ptr<Connection> connection = pool->Dial(TestKey(1)->id(), "127.0.0.1:1");
  connection->Start();
  connection->Close({Closing::Why::kLocal, "is not needed"}, CloseCode::kLeaving);
  pool.reset();  // while its events wait to be called
  io.run();
  EXPECT_TRUE(owner.reasons.empty());
  EXPECT_TRUE(owner.gone.empty());
}

}  // namespace
}  // namespace ostraka::net::mesh_parts_test
