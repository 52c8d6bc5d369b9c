#include "sim/check/queue_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::queue_checker_test {
namespace {

using testing::HasSubstr;

class QueuesTest : public testing::Test {
 protected:
  QueuesTest()
      : checker_(ThreePeers(), {2, 2, 2, 2, 1000, 3, 2000}, std::make_shared<wire::PlainOpener>()) {
  }
  base::Status Does(const protocol::Action& action) { return checker_.OnAction(0, action); }
  void Sees(std::uint32_t peer, const protocol::Input& input) {
    checker_.OnStep({now_, 1, peer, input, {}});
  }
  // Peer 0 sends the Byzantine peer a message that `author` signed.
  base::Status PassesOn(std::uint32_t author, std::uint64_t step, std::size_t bulk_bytes = 0) {
    const auto blob = bulk_bytes == 0 ? nullptr : crypto::MakeBlob(base::Bytes(bulk_bytes));
    return Does(protocol::Send{ThreePeers().ids[2], Reveal(author, step, 1).frame, blob});
  }
  static protocol::Send ToPeerOne(std::size_t bytes = 10) {
    return {ThreePeers().ids[1], std::make_shared<const base::Bytes>(bytes), nullptr};
  }
  // Peer 1 receives it from peer 0.
  void Comes(const protocol::Send& send) {
    Sees(1, protocol::MessageReceived{ThreePeers().ids[0], send.frame, send.blob});
  }
  base::Time now_{1};
  Queues checker_;
};

TEST_F(QueuesTest, UncancelledTimersAreCounted) {
  EXPECT_TRUE(Does(protocol::SetTimer{1, {}}).ok());
  EXPECT_TRUE(Does(protocol::SetTimer{1, {}}).ok()) << "set again";
  EXPECT_TRUE(Does(protocol::SetTimer{2, {}}).ok());
  EXPECT_TRUE(Does(protocol::CancelTimer{1}).ok());
  EXPECT_TRUE(Does(protocol::SetTimer{3, {}}).ok());
  Sees(0, protocol::TimerFired{3});
  EXPECT_TRUE(Does(protocol::SetTimer{4, {}}).ok());
  EXPECT_THAT(Fault(Does(protocol::SetTimer{5, {}})), HasSubstr("3 timers, more than the 2"));
}

TEST_F(QueuesTest, JobsAndStoresAreCountedUntilTheyAreDone) {
  for (protocol::JobId id = 1; id <= 10; ++id) {
    EXPECT_TRUE(Does(protocol::StartJob{id, nullptr}).ok());
    EXPECT_TRUE(Does(protocol::Store{id, {}}).ok());
    if (id == 1) continue;  // the first never ends
    Sees(0, protocol::JobDone{id, nullptr});
    Sees(0, protocol::Stored{id});
  }
  EXPECT_TRUE(Does(protocol::StartJob{20, nullptr}).ok());
  EXPECT_TRUE(Does(protocol::Store{20, {}}).ok());
  EXPECT_THAT(Fault(Does(protocol::StartJob{21, nullptr})), HasSubstr("3 jobs"));
  EXPECT_THAT(Fault(Does(protocol::Store{21, {}})), HasSubstr("3 stores"));
  Sees(0, protocol::Started{});
  EXPECT_TRUE(Does(protocol::Store{22, {}}).ok()) << "a crash empties them";
}

TEST_F(QueuesTest, MessagesAreCountedUntilTheyArriveOrTheLinkGoesDown) {
  for (int i = 0; i < 10; ++i) {
    const protocol::Send send = ToPeerOne();
    EXPECT_TRUE(Does(send).ok());
    Comes(send);
    Comes(send);  // twice
  }
  EXPECT_TRUE(Does(ToPeerOne()).ok());
  EXPECT_TRUE(Does(ToPeerOne()).ok());
  EXPECT_THAT(Fault(Does(ToPeerOne())), HasSubstr("3 messages on the way"));
  Sees(1, protocol::LinkChanged{ThreePeers().ids[0], false});
  EXPECT_TRUE(Does(ToPeerOne()).ok());
  EXPECT_EQ(checker_.peaks().messages, 3U);
}

TEST_F(QueuesTest, BytesAreCountedToo) {
  EXPECT_TRUE(Does(ToPeerOne(900)).ok());
  EXPECT_THAT(Fault(Does(ToPeerOne(101))), HasSubstr("1001 bytes on the way"));
}

TEST_F(QueuesTest, MessagesToALinkThatIsDownAreNotCounted) {
  Sees(0, protocol::LinkChanged{ThreePeers().ids[1], false});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Does(ToPeerOne()).ok());
  Sees(0, protocol::LinkChanged{ThreePeers().ids[1], true});
  EXPECT_TRUE(Does(ToPeerOne()).ok());
  EXPECT_TRUE(Does(ToPeerOne()).ok());
  EXPECT_FALSE(Does(ToPeerOne()).ok());
}

TEST_F(QueuesTest, AnswersToAByzantinePeerAreCountedByTheSecond) {
  for (std::uint64_t step = 0; step < 3; ++step) EXPECT_TRUE(PassesOn(1, step).ok());
  EXPECT_THAT(Fault(PassesOn(1, 3)), HasSubstr("4 answers to one peer"));
  now_ = now_ + kAnswerWindow;
  Sees(0, protocol::Stored{1});
  EXPECT_TRUE(PassesOn(1, 4).ok()) << "another second";
  EXPECT_THAT(Fault(PassesOn(1, 5, 2000)), HasSubstr("bytes of answers"));
}

TEST_F(QueuesTest, BroadcastsToAByzantinePeerAreCountedInTransit) {
  EXPECT_TRUE(PassesOn(0, 1).ok());
  EXPECT_TRUE(PassesOn(0, 2).ok());
  EXPECT_THAT(Fault(PassesOn(0, 3)), HasSubstr("3 messages on the way"));
  EXPECT_EQ(checker_.peaks().answers, 0U);
}

// A peer that restarts while the network is cut gets no LinkChanged for links that are down, so all
// count as down.
TEST_F(QueuesTest, LinksAreDownUntilLinkChangedReportsThem) {
  Sees(0, protocol::Started{});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Does(ToPeerOne()).ok());
  EXPECT_EQ(checker_.peaks().messages, 0U);
}

TEST(QueueBoundsTest, GrowWithTheRunAndNotWithItsLength) {
  constexpr base::Duration kDelta = base::Milliseconds(250);
  const QueueBounds small = BoundsOf(4, 100, {}, kDelta);
  const QueueBounds large = BoundsOf(32, 100'000, {}, kDelta);
  EXPECT_EQ(small.timers, large.timers);
  EXPECT_LT(small.stores, large.stores);
  EXPECT_LT(small.messages, large.messages);
  EXPECT_LT(small.message_bytes, large.message_bytes);
  const QueueBounds held = BoundsOf(4, 100, base::Seconds(1), kDelta);
  EXPECT_EQ(held.stores, small.stores);
  EXPECT_EQ(held.messages, small.messages + 4 * (16 + 6 * 4));
  EXPECT_GT(held.message_bytes, small.message_bytes);
}

}  // namespace
}  // namespace ostraka::sim::queue_checker_test
