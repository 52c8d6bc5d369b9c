// Links of strangers: peers that nobody added, where the run lets others come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>

#include "tests/unit/net/transport_net.h"

namespace ostraka::net::transport_strangers_test {
namespace {

using ::testing::IsEmpty;

// a_ is of the run and has places for strangers; the others know it, and it knows none of them.
class TransportStrangers : public ::testing::Test {
 protected:
  void StartAll(std::size_t places) {
    a_.options.strangers = places;
    a_.Start(io_);
    for (TestNode* node : {&b_, &c_}) {
      node->options.members = {a_.AsMember()};
      node->Start(io_);
    }
  }
  bool Linked(const TestNode& node) const {
    return a_.transport->IsUp(node.id()) && node.transport->IsUp(a_.id());
  }
  void Link(const TestNode& node) {
    ASSERT_TRUE(RunUntil(io_, [&] { return Linked(node); })) << a_.AllNotices();
  }

  boost::asio::io_context io_;
  TestNode a_{1}, b_{0}, c_{2};  // one that decides about the link with a_, and one that does not
};

TEST_F(TransportStrangers, AStrangerIsLinkedAndHeardAndLeavesNothing) {
  StartAll(2);
  Link(b_);
  Link(c_);
  b_.transport->Send(a_.id(), Frame("may I"));
  a_.transport->Send(c_.id(), Frame("who are you"));
  ASSERT_TRUE(RunUntil(io_, [this] { return !a_.messages.empty() && !c_.messages.empty(); }));
  EXPECT_EQ(a_.messages[0].from, b_.id());
  b_.Kill();
  c_.Kill();
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Downs() == 2; }));
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.transport->counters().by_peer.empty(); }));
  EXPECT_EQ(a_.transport->counters().dialed, 0u);
}

TEST_F(TransportStrangers, OneThatIsAddedKeepsItsLinkAndHasNoPlaceAnyMore) {
  StartAll(1);
  Link(b_);
  ASSERT_TRUE(a_.transport->Add(b_.id(), {}).ok());
  EXPECT_EQ(a_.transport->Add(b_.id(), {}).code(), absl::StatusCode::kFailedPrecondition);
  Link(c_);
  EXPECT_TRUE(Linked(b_));
  EXPECT_EQ(a_.Downs(), 0u);
  b_.Kill();
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Downs() == 1; }));
  EXPECT_EQ(a_.transport->counters().by_peer.count(b_.id()), 1u) << "a member stays one";
  b_.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Ups() == 3; }));
}

TEST_F(TransportStrangers, WithoutAPlaceItIsTurnedAwayAndComesAgain) {
  StartAll(1);
  ASSERT_TRUE(RunUntil(io_, [this] { return Linked(b_) || Linked(c_); }));
  TestNode& in = Linked(b_) ? b_ : c_;
  TestNode& out = Linked(b_) ? c_ : b_;
  ASSERT_TRUE(RunUntil(io_, [&] { return out.Noticed("came while 1 other strangers are linked"); }))
      << out.AllNotices();
  EXPECT_THAT(out.links, IsEmpty());
  in.Kill();
  Link(out);
}

TEST_F(TransportStrangers, RemovedItIsGoneAndForgottenItIsTold) {
  StartAll(2);
  Link(b_);
  Link(c_);
  EXPECT_TRUE(a_.transport->Remove(b_.id()));
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Downs() == 1; }));
  Link(b_);  // it dials again, as any stranger may
  a_.transport->Forget(c_.id());
  ASSERT_TRUE(RunUntil(io_, [this] { return c_.Downs() == 1; }));
  ASSERT_TRUE(RunUntil(io_, [this] { return c_.transport->counters().dialed >= 3; }));
  EXPECT_FALSE(a_.transport->IsUp(c_.id()));
}

TEST_F(TransportStrangers, TheEndAwaitsNoStrangerThatIsGone) {
  StartAll(2);
  Link(b_);
  Link(c_);
  b_.Kill();
  bool done = false;
  a_.transport->Part(base::Seconds(3600), [&done] { done = true; });
  ASSERT_TRUE(RunUntil(io_, [&done] { return done; })) << a_.AllNotices();
}

TEST_F(TransportStrangers, WithoutPlacesNobodyIsLetIn) {
  StartAll(0);
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.Noticed("is not a member of this run"); }));
  EXPECT_THAT(a_.links, IsEmpty());
}

}  // namespace
}  // namespace ostraka::net::transport_strangers_test
