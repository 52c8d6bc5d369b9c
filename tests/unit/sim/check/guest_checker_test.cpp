#include "sim/check/guest_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/check/queue_checker.h"
#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::guest_checker_test {
namespace {

using testing::HasSubstr;

// Peer 0 is a member, peer 1 comes later, and so does 2, which is Byzantine.
Roster OneAndTwoThatCome() {
  Roster roster = ThreePeers();
  roster.genesis = 1;
  return roster;
}

class GuestAnswersTest : public testing::Test {
 protected:
  GuestAnswersTest()
      : checker_(OneAndTwoThatCome(), {3, 2000}, {{ThreePeers().ids[2], 5}},
                 std::make_shared<wire::PlainOpener>()) {}
  void At(std::int64_t milliseconds) {
    checker_.OnStep({base::Time{base::Milliseconds(milliseconds).ns}, 1, 0, input_, {}});
  }
  // Of peer 0: a message that `author` signed, with so much bulk.
  base::Status Sends(std::uint32_t to, std::uint32_t author = 1, std::size_t bulk = 0) {
    const auto blob = bulk == 0 ? nullptr : crypto::MakeBlob(base::Bytes(bulk));
    return checker_.OnAction(
        0, protocol::Send{ThreePeers().ids[to], Reveal(author, ++step_, 1).frame, blob});
  }
  protocol::Input input_ = protocol::TimerFired{1};
  std::uint64_t step_ = 0;
  GuestAnswers checker_;
};

TEST_F(GuestAnswersTest, AnswersToAllOfThemAreCountedTogether) {
  At(1000);
  EXPECT_TRUE(Sends(1).ok());
  EXPECT_TRUE(Sends(2).ok());
  EXPECT_TRUE(Sends(2).ok());
  EXPECT_THAT(Fault(Sends(1)), HasSubstr("4 answers of"));
}

TEST_F(GuestAnswersTest, BytesAreCountedToo) {
  At(1000);
  EXPECT_TRUE(Sends(1, 1, 1500).ok());
  EXPECT_THAT(Fault(Sends(2, 1, 1500)), HasSubstr("more than the 3 and 2000"));
}

TEST_F(GuestAnswersTest, AWindowIsBelowASecond) {
  At(1000);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Sends(1).ok());
  At(1000 + 899);
  EXPECT_FALSE(Sends(1).ok());
  At(1000 + 900);
  EXPECT_TRUE(Sends(1).ok());
}

TEST_F(GuestAnswersTest, WhatAPeerSaysToAllAndWhatMembersGetIsNoAnswerToThem) {
  At(1000);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(Sends(1, 0).ok()) << "its own word";
  wire::Block block = ABlock(3);
  block.members = {ThreePeers().ids[0], ThreePeers().ids[2]};
  EXPECT_TRUE(checker_.OnAction(0, Done(block)).ok());
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(Sends(2).ok()) << "it came in";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Sends(1).ok());
  EXPECT_FALSE(Sends(1).ok());
}

TEST_F(GuestAnswersTest, WhoseInviteHasEndedGetsNoModel) {
  At(1000);
  const auto chunk = [](std::uint32_t to) {
    const wire::Slot slot{.phase = wire::Phase::kA, .type = wire::MessageType::kChunk};
    return protocol::Send{
        ThreePeers().ids[to],
        wire::EncodeService({slot, {}, ThreePeers().ids[0], wire::Encode(wire::Chunk{1, 0, 1})}),
        crypto::MakeBlob({1})};
  };
  wire::Block block = ABlock(3);  // of height 4
  block.members = {ThreePeers().ids[0]};
  EXPECT_TRUE(checker_.OnAction(0, Done(block)).ok());
  EXPECT_TRUE(checker_.OnAction(0, chunk(2)).ok());
  block.step = 4;
  EXPECT_TRUE(checker_.OnAction(0, Done(block)).ok());
  EXPECT_TRUE(checker_.OnAction(0, chunk(1)).ok());
  EXPECT_THAT(Fault(checker_.OnAction(0, chunk(2))), HasSubstr("whose invite ended with step 5"));
  EXPECT_TRUE(Sends(2).ok()) << "the head is shown to it";
}

TEST_F(GuestAnswersTest, BoundsFollowWhatGuestsMayHave) {
  const GuestBounds narrow = GuestBoundsOf(1000, 50'000);
  EXPECT_EQ(narrow.bytes, 2 * 50'000 + 2 * (8'000 + 65'536));
  EXPECT_GT(GuestBoundsOf(1000, 0).bytes, 2U * (16U << 20U));
  EXPECT_EQ(GuestBoundsOf(1000, 1U << 30U).bytes, GuestBoundsOf(1000, 0).bytes);
}

}  // namespace
}  // namespace ostraka::sim::guest_checker_test
