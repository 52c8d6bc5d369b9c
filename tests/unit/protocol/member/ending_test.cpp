#include "node/protocol/member/ending.h"

#include "node/protocol/mail/timers.h"
#include "tests/unit/protocol/member/member_fixture.h"

namespace ostraka::protocol::ending_test {
namespace {

using base::Seconds;
using scene::kMemberCount;
using scene::kStep;
using scene::MemberTest;
using wire::MessageType;

// The head is the last block: that of step kStep - 1.
class EndingTest : public MemberTest {
 protected:
  EndingTest() {
    SetHead(FinalBlock());
    for (std::uint32_t i = 1; i < kMemberCount; ++i) ending_.OnLink(IdOf(i), true);
  }
  ~EndingTest() override { ending_.CheckInvariants(); }

  // A closing step that sealed the state.
  Block FinalBlock() const {
    Block block = HeadBlock();
    block.closing = 2;
    block.state_root = scene::DigestOf(9);
    return block;
  }
  Digest LastBlock() const { return wire::BlockDigest(components().chain.head()); }
  // The last COMMIT of a member, as the inbox takes it in.
  Outcome Finish(std::uint32_t member, const Digest& block) {
    Hold({.from = member, .parent = block});
    return ending_.OnCommit(IdOf(member));
  }
  void ExpectHalted(const Outcome& outcome) {
    EXPECT_EQ(outcome.what, Outcome::What::kHalt);
    EXPECT_EQ(outcome.why, Halted::Why::kFinished);
  }
  static void ExpectStays(const Outcome& outcome) { EXPECT_EQ(outcome.what, Outcome::What::kWait); }
  std::optional<Time> TimerSet() {
    std::optional<Time> at;
    for (const SetTimer& set : Taken<SetTimer>()) {
      if (set.id == kFollowTimer) at = set.at;
    }
    return at;
  }
  base::Duration Linger() const { return LingerFor(components().chain.delta()); }

  Ending ending_{components(), components().followers, components().charges};
};

TEST_F(EndingTest, MemberSaysOneCommitMoreThatNamesTheLastBlock) {
  components().followers.Note(IdOf(scene::kStranger), components().turn.now(), 0, 0);
  ExpectStays(ending_.Begin());
  Settle();
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), kMemberCount) << "to the other members and the follower";
  for (const Send& send : sends) {
    const wire::Envelope commit = EnvelopeOf(send);
    EXPECT_EQ(commit.slot.type, MessageType::kCommit);
    EXPECT_EQ(commit.slot.step, kStep);
    EXPECT_EQ(commit.entry, LastBlock());
    EXPECT_TRUE(wire::Decode<wire::Commit>(commit.body).ok());
  }
}

TEST_F(EndingTest, MemberStaysUntilEachOtherHasSaidItsLastCommit) {
  ExpectStays(ending_.Begin());
  EXPECT_EQ(ending_.Others().size(), kMemberCount - 1);
  for (std::uint32_t i = 1; i + 1 < kMemberCount; ++i) ExpectStays(Finish(i, LastBlock()));
  EXPECT_EQ(ending_.Others(), std::vector<PeerId>{IdOf(kMemberCount - 1)});
  ExpectHalted(Finish(kMemberCount - 1, LastBlock()));
}

TEST_F(EndingTest, CommitThatNamesAnotherBlockIsNoLastOne) {
  ending_.Begin();
  ExpectStays(Finish(1, scene::DigestOf(5)));
  EXPECT_EQ(ending_.Others().size(), kMemberCount - 1);
}

TEST_F(EndingTest, LastCommitsThatCameBeforeAreCounted) {
  for (std::uint32_t i = 1; i < kMemberCount; ++i) Hold({.from = i, .parent = LastBlock()});
  ExpectHalted(ending_.Begin());
}

TEST_F(EndingTest, FollowerIsWaitedForUntilItLacksNothing) {
  for (std::uint32_t i = 1; i < kMemberCount; ++i) Hold({.from = i, .parent = LastBlock()});
  const PeerId follower = IdOf(scene::kStranger);
  components().followers.Note(follower, components().turn.now(), 0, 0);
  ExpectStays(ending_.Begin());
  EXPECT_EQ(ending_.Others(), std::vector<PeerId>{follower});
  ExpectHalted(ending_.OnFinished(follower));
}

// It said so while this member was in the last step, and halted.
TEST_F(EndingTest, FollowerThatHadTheLastBlockBeforeIsNotWaitedFor) {
  for (std::uint32_t i = 1; i < kMemberCount; ++i) Hold({.from = i, .parent = LastBlock()});
  const PeerId follower = IdOf(scene::kStranger);
  components().followers.Note(follower, components().turn.now(), kStep - 1, kStep);
  ExpectHalted(ending_.Begin());
}

TEST_F(EndingTest, MemberThatFollowsAndLacksNothingNeedSayNoCommit) {
  ending_.Begin();
  for (std::uint32_t i = 1; i + 1 < kMemberCount; ++i) Finish(i, LastBlock());
  ExpectHalted(ending_.OnFinished(IdOf(kMemberCount - 1)));
}

TEST_F(EndingTest, MemberThatCatchesUpNowIsStayedForAnew) {
  for (std::uint32_t i = 1; i + 1 < kMemberCount; ++i) Hold({.from = i, .parent = LastBlock()});
  ending_.Begin();
  const Time begun = components().turn.now();
  Pass(Seconds(10));
  ending_.StayFor(IdOf(4));
  TimerSet();
  ExpectStays(ending_.OnTimer());
  EXPECT_EQ(TimerSet(), begun + Seconds(10) + Linger());
}

TEST_F(EndingTest, PeopleAreToldAfterTwoDeltaAndTheMemberHaltsWhenTheTimeIsOver) {
  ending_.Begin();
  const Time begun = components().turn.now();
  EXPECT_EQ(TimerSet(), begun + components().chain.delta() * 2);
  Pass(components().chain.delta() * 2);
  ExpectStays(ending_.OnTimer());
  const auto told = Observed<Staying>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].others.size(), kMemberCount - 1);
  EXPECT_EQ(told[0].step, kStep - 1);
  EXPECT_EQ(TimerSet(), begun + Linger());
  Pass(Linger() - components().chain.delta() * 2 - base::Duration{1});
  ExpectStays(ending_.OnTimer());
  Pass(base::Duration{1});
  ExpectHalted(ending_.OnTimer());
}

TEST_F(EndingTest, LinkThatComesUpSetsTheTimerForThePeersThatAreWaitedFor) {
  ending_.OnLink(IdOf(1), false);  // before the end
  ending_.Begin();
  const Time begun = components().turn.now();
  TimerSet();
  Finish(2, LastBlock());
  Pass(Seconds(5));
  ending_.OnLink(IdOf(2), true);
  ending_.Rearm(IdOf(2));
  EXPECT_FALSE(TimerSet()) << "it has finished";
  ending_.Rearm(IdOf(1));
  EXPECT_EQ(TimerSet(), begun + kStayAtMost) << "its link is down";
  ending_.OnLink(IdOf(1), true);
  ending_.Rearm(IdOf(1));
  EXPECT_EQ(TimerSet(), begun + Seconds(5) + Linger());
}

TEST_F(EndingTest, FormerMemberSaysNoCommitAndStaysForFollowersAlone) {
  Block head = FinalBlock();
  head.members.erase(head.members.begin());  // this member
  SetHead(head);
  ExpectHalted(ending_.Begin());
  EXPECT_TRUE(Taken<Store>().empty());
}

TEST_F(EndingTest, FormerMemberSeesThatAFollowerHasFinished) {
  Block head = FinalBlock();
  head.members.erase(head.members.begin());  // this member
  SetHead(head);
  components().followers.Note(IdOf(1), components().turn.now(), kStep - 1, 0);
  components().followers.Note(IdOf(2), components().turn.now(), kStep - 1, 0);
  Hold({.from = 1, .parent = LastBlock()});
  ExpectStays(ending_.Begin());
  EXPECT_EQ(ending_.Others(), std::vector<PeerId>{IdOf(2)});
  ExpectHalted(Finish(2, LastBlock()));
}

}  // namespace
}  // namespace ostraka::protocol::ending_test
