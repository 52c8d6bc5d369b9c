// The end of a run that went well: who is awaited, who is not, and what arrives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <utility>

#include "node/net/mesh/transport.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net::transport_part_test {
namespace {

// Far beyond what a test may take: who waits for it fails.
constexpr Duration kForEver = base::Seconds(3600);

class TransportPart : public ::testing::Test {
 protected:
  void SetUp() override {
    for (TestNode* node : {&a_, &b_}) {
      node->on_link = [node](const PeerId& peer, bool up) {
        if (up) node->transport->Send(peer, Frame("last words"));
      };
    }
  }
  void Connect() {
    Introduce({&a_, &b_});
    a_.Start(io_);
    b_.Start(io_);
    ASSERT_TRUE(RunUntil(io_, [&] { return a_.messages.size() == 1 && b_.messages.size() == 1; }));
  }
  void Part(TestNode& node, Duration deadline = kForEver) {
    node.transport->Part(deadline, [this] { ++done_; });
    EXPECT_EQ(done_, 0) << "called from within Part";
  }
  // Runs for a while in which what must not happen would.
  void RunAWhile() {
    RunUntil(
        io_, [] { return false; }, base::Milliseconds(200));
  }

  boost::asio::io_context io_;
  TestNode a_{0}, b_{1};
  int done_ = 0;
};

TEST_F(TransportPart, AMemberThatIsAwayIsAwaitedAndToldTheLastWords) {
  Connect();
  b_.Kill();
  b_.messages.clear();
  ASSERT_TRUE(RunUntil(io_, [&] { return a_.Downs() == 1; }));
  Part(a_);
  RunAWhile();
  EXPECT_EQ(done_, 0) << "it did not wait";
  b_.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return done_ == 1; }));
  ASSERT_EQ(b_.messages.size(), 1u);
  EXPECT_EQ(b_.messages[0].frame, "last words");
}

TEST_F(TransportPart, AMemberThatOnlyDialsUsIsAwaitedToo) {
  a_.options.members = {{b_.id(), ""}};
  b_.options.members = {a_.AsMember()};
  a_.Start(io_);
  Part(a_);
  RunAWhile();
  EXPECT_EQ(done_, 0) << "it did not wait";
  b_.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return done_ == 1; }));
  ASSERT_EQ(b_.messages.size(), 1u);
}

TEST_F(TransportPart, AMemberThatNeitherCanDialNorBeDialedIsNotAwaited) {
  a_.options.members = {{b_.id(), ""}};
  close(std::exchange(a_.options.listen_fd, -1));
  a_.Start(io_);
  Part(a_);
  ASSERT_TRUE(RunUntil(io_, [&] { return done_ == 1; }));
  EXPECT_FALSE(a_.Noticed("may lack our last messages")) << a_.AllNotices();
}

// What the system has taken is not yet what the member has read.
TEST_F(TransportPart, ALinkThatIsLostBeforeAllWasReadIsMadeAnew) {
  Connect();
  a_.transport->Send(b_.id(), Frame("more"), TestBlob(1 << 20));
  Part(a_);
  b_.Kill();
  b_.messages.clear();
  RunAWhile();
  EXPECT_EQ(done_, 0) << "it took for read what nobody has read";
  b_.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return done_ == 1; }));
  ASSERT_EQ(b_.messages.size(), 1u);
  EXPECT_EQ(b_.messages[0].frame, "last words");
}

TEST_F(TransportPart, ALiveMemberIsToldOnceAndNotLetInAgain) {
  Connect();
  TestNode c(2);  // never starts: for its sake a goes on waiting
  a_.Kill();
  a_.options.members.push_back(c.AsMember());
  a_.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return b_.Ups() == 2; }));
  Part(a_);
  const std::uint64_t dialed = b_.transport->counters().dialed;
  ASSERT_TRUE(RunUntil(io_, [&] { return b_.transport->counters().dialed >= dialed + 3; }));
  EXPECT_EQ(b_.Ups(), 2u) << "linked again with a member that needs nothing more";
  EXPECT_EQ(b_.Downs(), 2u);
  EXPECT_EQ(done_, 0) << "it did not wait for the third";
}

TEST_F(TransportPart, BothAtOnce) {
  Connect();
  Part(a_);
  Part(b_);
  ASSERT_TRUE(RunUntil(io_, [&] { return done_ == 2; }));
  EXPECT_EQ(a_.Ups() + b_.Ups(), 2u);
}

TEST_F(TransportPart, BothAtOnceWithoutALink) {
  Introduce({&a_, &b_});
  a_.Start(io_);
  b_.Start(io_);
  Part(a_);
  Part(b_);
  ASSERT_TRUE(RunUntil(io_, [&] { return done_ == 2; }));
  EXPECT_GE(a_.Ups(), 1u);
  EXPECT_GE(b_.Ups(), 1u);
}

TEST_F(TransportPart, AMemberThatLeftIsNotAwaited) {
  Connect();
  Part(b_);
  ASSERT_TRUE(RunUntil(io_, [&] { return done_ == 1 && a_.Downs() == 1; }));
  b_.Kill();
  done_ = 0;
  Part(a_);
  EXPECT_TRUE(RunUntil(io_, [&] { return done_ == 1; }));
}

TEST_F(TransportPart, AMemberThatWeForgotOrThatForgotUsIsNotAwaited) {
  for (TestNode* forgetful : {&a_, &b_}) {
    TestNode* other = forgetful == &a_ ? &b_ : &a_;
    Connect();
    forgetful->transport->Forget(other->id());
    ASSERT_TRUE(RunUntil(io_, [&] { return a_.Downs() == 1 && b_.Downs() == 1; }));
    Part(a_);
    EXPECT_TRUE(RunUntil(io_, [&] { return done_ == 1; })) << (forgetful == &a_);
    done_ = 0;
    for (TestNode* node : {&a_, &b_}) {
      node->Kill();
      node->messages.clear();
      node->links.clear();
      node->options.members.clear();
    }
  }
}

TEST_F(TransportPart, AMemberThatComesBackAfterItLeftIsAwaitedAgain) {
  Connect();
  b_.transport->Shutdown(kForEver, [] {});
  ASSERT_TRUE(RunUntil(io_, [&] { return a_.Downs() == 1; }));
  b_.Kill();
  b_.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return a_.Ups() == 2; }));
  b_.Kill();
  ASSERT_TRUE(RunUntil(io_, [&] { return a_.Downs() == 2; }));
  Part(a_);
  RunAWhile();
  EXPECT_EQ(done_, 0) << "it did not wait";
}

TEST_F(TransportPart, TheDeadlineEndsTheWaitAndNamesWhoWasAway) {
  Connect();
  b_.Kill();
  ASSERT_TRUE(RunUntil(io_, [&] { return a_.Downs() == 1; }));
  Part(a_, base::Milliseconds(100));
  ASSERT_TRUE(RunUntil(io_, [&] { return done_ == 1; }));
  EXPECT_TRUE(a_.Noticed(b_.id().Short() + " may lack our last messages")) << a_.AllNotices();
}

TEST_F(TransportPart, NobodyToPartFromIsDoneAtOnce) {
  a_.Start(io_);
  Part(a_);
  EXPECT_TRUE(RunUntil(io_, [&] { return done_ == 1; }));
}

}  // namespace
}  // namespace ostraka::net::transport_part_test
