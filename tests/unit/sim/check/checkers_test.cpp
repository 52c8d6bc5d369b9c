// Every checker fires on the planted fault that it is for, and on nothing else.
#include "sim/check/checkers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::checkers_test {
namespace {

using testing::HasSubstr;

TEST(HonestNeverRemoved, FiresOnlyIfAnHonestPeerIsRemoved) {
  HonestNeverRemoved checker(ThreePeers());
  wire::Block block = ABlock(4);
  block.removals = {{Key(2)->id(), wire::RemovalKind::kVerdict, 4, {.old_text = "guilty"}}};
  EXPECT_TRUE(checker.OnAction(0, Done(block)).ok());
  block.removals.push_back({Key(1)->id(), wire::RemovalKind::kDrop, 4, {.old_text = "was silent"}});
  const std::string fault = Fault(checker.OnAction(0, Done(block)));
  EXPECT_THAT(fault, HasSubstr(Key(1)->id().Short()));
  EXPECT_THAT(fault, HasSubstr("drop, was silent"));
}

TEST(HonestNeverRemoved, AllowsDropsButNoBansOfPeersHitByAFault) {
  Roster roster = ThreePeers();
  roster.unlucky = {false, true, false};
  HonestNeverRemoved checker(roster);
  wire::Block block = ABlock(4);
  block.removals = {{Key(1)->id(), wire::RemovalKind::kDrop, 4, {.old_text = "was silent"}}};
  EXPECT_TRUE(checker.OnAction(0, Done(block)).ok());
  block.removals = {{Key(1)->id(), wire::RemovalKind::kVerdict, 4, {.old_text = "guilty"}}};
  EXPECT_FALSE(checker.OnAction(0, Done(block)).ok());
  block.removals = {{Key(0)->id(), wire::RemovalKind::kDrop, 4, {.old_text = "was silent"}}};
  EXPECT_FALSE(checker.OnAction(0, Done(block)).ok()) << "no fault hit it";
}

TEST(HonestNeverRemoved, FiresOnASuspensionOfAPeerHitByAFault) {
  Roster roster = ThreePeers();
  roster.unlucky = {false, true, true};
  HonestNeverRemoved checker(roster);
  wire::Block block = ABlock(4);
  block.removals = {
      {Key(1)->id(), wire::RemovalKind::kDrop, 4, {.old_text = "accused falsely: a first fault"}}};
  block.standings = {{.peer = Key(1)->id(), .drops = 1}, {.peer = Key(2)->id(), .erred = true}};
  EXPECT_TRUE(checker.OnAction(0, Done(block)).ok()) << "only a Byzantine peer is marked";
  block.standings.front().erred = true;
  EXPECT_THAT(Fault(checker.OnAction(0, Done(block))), HasSubstr("has suspended honest"));
}

TEST(BansKept, FiresOnABlockThatForgetsABan) {
  BansKept checker(ThreePeers());
  wire::Block ban = ABlock(4);
  ban.members = {Key(0)->id(), Key(1)->id()};
  std::sort(ban.members.begin(), ban.members.end());
  ban.removals = {{Key(2)->id(), wire::RemovalKind::kEvidence, 4, {.old_text = "signed two"}}};
  ban.standings = {{.peer = Key(2)->id(), .banned = true}};
  EXPECT_TRUE(checker.OnAction(0, Done(ban)).ok());
  EXPECT_TRUE(checker.OnAction(1, Done(ABlock(3))).ok()) << "behind: the ban is still to come";
  wire::Block later = ban;
  later.step = 5;
  later.removals.clear();
  EXPECT_TRUE(checker.OnAction(1, Done(later)).ok());
  later.standings.clear();
  EXPECT_THAT(Fault(checker.OnAction(1, Done(later))), HasSubstr("was banned in step 4"));
}

TEST(RebornRejoins, FiresIfALostDiskSignsMoreThanRejoin) {
  RebornRejoins checker(ThreePeers());
  const std::vector<protocol::Action> nothing;
  const auto start = [&](std::shared_ptr<const protocol::Restored> restored) {
    const protocol::Input input = protocol::Started{{}, 0, std::move(restored)};
    checker.OnStep({{}, 0, 0, input, nothing});
  };
  start(nullptr);
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(0, 1, 1))).ok()) << "a first start is no loss";
  EXPECT_TRUE(checker.OnAction(0, Done(ABlock(1))).ok());
  start(std::make_shared<const protocol::Restored>());
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(0, 2, 1))).ok()) << "its disk is there";
  start(nullptr);
  EXPECT_TRUE(checker.OnAction(0, SendOf(BootOf(0, 1))).ok());
  EXPECT_THAT(Fault(checker.OnAction(0, SendOf(Reveal(0, 3, 1)))), HasSubstr("lost its disk"));
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(2, 3, 1))).ok()) << "passes on another's";
  wire::Block admits = ABlock(9);
  admits.joined = {Key(0)->id()};
  EXPECT_TRUE(checker.OnAction(0, Done(admits)).ok());
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(0, 10, 1))).ok());
}

TEST(Agreement, FiresOnForkedSeals) {
  Agreement checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, SealedAs(1, 1, 5)).ok());
  EXPECT_TRUE(checker.OnAction(0, SealedAs(1, 2, 6)).ok());
  EXPECT_TRUE(checker.OnAction(1, SealedAs(1, 1, 5)).ok());
  EXPECT_THAT(Fault(checker.OnAction(1, SealedAs(1, 2, 7))), HasSubstr("step 1, phase 2"));
}

TEST(Agreement, PassesASealThatAnAbsentPeerSkipped) {
  Agreement checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, SealedAs(1, 2, 5)).ok());
  EXPECT_TRUE(checker.OnAction(0, SealedAs(1, 3, 6)).ok());
  EXPECT_TRUE(checker.OnAction(1, SealedAs(1, 3, 6)).ok());
}

TEST(Agreement, FiresOnForkedBlocksAndTellsGenesisFromStepZero) {
  Agreement checker(ThreePeers());
  wire::Block genesis = ABlock(0);
  genesis.genesis = true;
  EXPECT_TRUE(checker.OnAction(0, Done(genesis)).ok());
  EXPECT_TRUE(checker.OnAction(0, Done(ABlock(0))).ok());
  EXPECT_TRUE(checker.OnAction(1, Done(genesis)).ok());
  wire::Block fork = ABlock(0);
  fork.removals = {{Key(2)->id(), wire::RemovalKind::kVerdict, 0, {.old_text = "guilty"}}};
  EXPECT_THAT(Fault(checker.OnAction(1, Done(fork))), HasSubstr("different blocks in step 0"));
}

TEST(StateEquality, FiresOnOneBit) {
  for (const bool in_velocity : {false, true}) {
    StateEquality checker(ThreePeers());
    EXPECT_TRUE(checker.OnAction(0, Done(ABlock(1), AState({0}))).ok());
    EXPECT_TRUE(checker.OnAction(1, Done(ABlock(1), AState({0}))).ok());
    EXPECT_TRUE(checker.OnAction(0, Done(ABlock(2), AState({0}))).ok());
    protocol::ModelState other = AState({in_velocity ? 0.0F : -0.0F});
    if (in_velocity) {
      other.slots.at(0).values = std::make_shared<const std::vector<float>>(
          std::vector<float>{std::numeric_limits<float>::denorm_min()});
    }
    EXPECT_THAT(Fault(checker.OnAction(1, Done(ABlock(2), other))),
                HasSubstr("different states after step 2"));
  }
}

TEST(NoSelfEquivocation, FiresOnTwoBodiesForOneSlot) {
  NoSelfEquivocation checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(0, 1, 5))).ok());
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(0, 2, 6))).ok()) << "another slot";
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(0, 1, 5))).ok()) << "sent again";
  EXPECT_TRUE(checker.OnAction(1, SendOf(Reveal(1, 1, 6))).ok()) << "another author";
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(2, 1, 7))).ok()) << "passes on another's";
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(2, 1, 8))).ok()) << "both of them: evidence";
  EXPECT_THAT(Fault(checker.OnAction(0, SendOf(Reveal(0, 1, 9)))), HasSubstr("two bodies"));
}

TEST(NoSelfEquivocation, PassesOneBootForEachStore) {
  NoSelfEquivocation checker(ThreePeers());
  const std::vector<protocol::Action> nothing;
  const auto start = [&](std::shared_ptr<const protocol::Restored> restored) {
    const protocol::Input input = protocol::Started{{}, 0, std::move(restored)};
    checker.OnStep({{}, 0, 0, input, nothing});
  };
  EXPECT_TRUE(checker.OnAction(0, SendOf(BootOf(0, 1))).ok());
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(0, 1, 1))).ok());
  start(nullptr);
  EXPECT_TRUE(checker.OnAction(0, SendOf(BootOf(0, 2))).ok());
  EXPECT_FALSE(checker.OnAction(0, SendOf(Reveal(0, 1, 2))).ok()) << "no word of genesis";
  start(std::make_shared<const protocol::Restored>());
  EXPECT_FALSE(checker.OnAction(0, SendOf(BootOf(0, 3))).ok()) << "its disk is there";
}

TEST(NoSelfEquivocation, FiresOnAFrameThatDoesNotOpen) {
  NoSelfEquivocation checker(ThreePeers());
  const auto garbage = std::make_shared<const base::Bytes>(100);
  EXPECT_FALSE(checker.OnAction(0, protocol::Send{Key(1)->id(), garbage, nullptr}).ok());
}

class WriteAheadTest : public testing::Test {
 protected:
  void Stored(std::uint32_t peer, protocol::StoreId id) {
    checker_.OnStep({{}, 0, peer, protocol::Stored{id}, none_});
  }
  static protocol::Action StoreOf(protocol::StoreId id, const wire::SignedEnvelope& message,
                                  protocol::RecordKind kind = protocol::RecordKind::kSlot) {
    return protocol::Store{id, {{kind, {1}, *wire::EncodeUnsigned(message.envelope)}}};
  }
  WriteAhead checker_{ThreePeers()};
  const std::vector<protocol::Action> none_ = {};
};

TEST_F(WriteAheadTest, PassesMessagesStoredBefore) {
  EXPECT_TRUE(checker_.OnAction(0, StoreOf(7, Reveal(0, 1, 5))).ok());
  Stored(0, 7);
  EXPECT_TRUE(checker_.OnAction(0, SendOf(Reveal(0, 1, 5))).ok());
  EXPECT_TRUE(checker_.OnAction(0, SendOf(Reveal(2, 1, 5))).ok()) << "another's needs no record";
}

TEST_F(WriteAheadTest, FiresWithoutARecord) {
  EXPECT_THAT(Fault(checker_.OnAction(0, SendOf(Reveal(0, 1, 5)))),
              HasSubstr("before its record was durable"));
}

TEST_F(WriteAheadTest, FiresWhileTheRecordIsNotDurableYet) {
  EXPECT_TRUE(checker_.OnAction(0, StoreOf(7, Reveal(0, 1, 5))).ok());
  Stored(0, 8);
  Stored(1, 7);
  EXPECT_FALSE(checker_.OnAction(0, SendOf(Reveal(0, 1, 5))).ok());
}

TEST_F(WriteAheadTest, FiresIfTheRecordHasAnotherMessageOrKind) {
  EXPECT_TRUE(checker_.OnAction(0, StoreOf(7, Reveal(0, 1, 6))).ok());
  EXPECT_TRUE(
      checker_.OnAction(0, StoreOf(8, Reveal(0, 1, 5), protocol::RecordKind::kEvidence)).ok());
  Stored(0, 7);
  Stored(0, 8);
  EXPECT_FALSE(checker_.OnAction(0, SendOf(Reveal(0, 1, 5))).ok());
}

TEST(CheatersRemoved, FiresIfAnAttackerIsStillAMember) {
  const auto coven = std::make_shared<Coven>(std::vector<base::PeerId>{Key(2)->id()}, 1);
  CheatersRemoved checker(ThreePeers(), coven);
  EXPECT_TRUE(checker.AtEnd().ok()) << "nobody cheated";
  coven->Confess(Key(2)->id(), 4);
  coven->Confess(Key(2)->id(), 6);
  EXPECT_THAT(Fault(checker.AtEnd()), HasSubstr("cheated 2 times in steps 4..6"));
  wire::Block block = ABlock(9);
  block.removals = {{Key(2)->id(), wire::RemovalKind::kVerdict, 9, {.old_text = "guilty"}}};
  EXPECT_TRUE(checker.OnAction(0, Done(block)).ok());
  EXPECT_TRUE(checker.AtEnd().ok());
}

TEST(CheatersRemoved, InTimeExcusesAttackersThatStoppedLongBeforeTheEnd) {
  const auto coven = std::make_shared<Coven>(std::vector<base::PeerId>{Key(2)->id()}, 1);
  CheatersRemoved checker(ThreePeers(), coven, true);
  coven->Confess(Key(2)->id(), 4);
  EXPECT_TRUE(checker.OnAction(0, Done(ABlock(14))).ok());
  EXPECT_FALSE(checker.AtEnd().ok()) << "it may go on";
  EXPECT_TRUE(checker.OnAction(0, Done(ABlock(15))).ok());
  EXPECT_TRUE(checker.AtEnd().ok());
}

TEST(Progress, FiresUnlessEveryHonestPeerReachesTheEnd) {
  Progress checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, Done(ABlock(0))).ok());
  EXPECT_TRUE(checker.OnAction(0, HaltedFor(protocol::Halted::Why::kFinished)).ok());
  EXPECT_FALSE(checker.AllFinished());
  EXPECT_THAT(Fault(checker.AtEnd()), HasSubstr("peer 1"));
  EXPECT_TRUE(checker.OnAction(1, HaltedFor(protocol::Halted::Why::kFinished)).ok());
  EXPECT_TRUE(checker.AllFinished());
  EXPECT_TRUE(checker.AtEnd().ok());
}

TEST(Progress, PassesWhileMoreMembersAreByzantineThanTheHeadBears) {
  Progress checker(ThreePeers());
  wire::Block block = ABlock(4);
  block.thresholds.t_s = 0;
  EXPECT_TRUE(checker.OnAction(0, Done(block)).ok());
  EXPECT_TRUE(checker.AtEnd().ok());
  EXPECT_TRUE(checker.OnAction(1, Done(ABlock(3))).ok());
  EXPECT_TRUE(checker.AtEnd().ok()) << "that was the view before";
  EXPECT_TRUE(checker.OnAction(1, Done(ABlock(5))).ok());
  EXPECT_FALSE(checker.AtEnd().ok()) << "who was dropped is a member again";
  block.step = 6;
  block.members = {Key(0)->id(), Key(1)->id()};
  EXPECT_TRUE(checker.OnAction(1, Done(block)).ok());
  EXPECT_FALSE(checker.AtEnd().ok()) << "nobody Byzantine is left";
}

TEST(Progress, FiresOnAnyOtherHalt) {
  for (const auto why : {protocol::Halted::Why::kBanned, protocol::Halted::Why::kStalled,
                         protocol::Halted::Why::kDiverged, protocol::Halted::Why::kFailed}) {
    Progress checker(ThreePeers());
    EXPECT_THAT(Fault(checker.OnAction(0, HaltedFor(why))), HasSubstr("step 3: because"));
  }
}

// --- the set ------------------------------------------------------------------------------------

class Grumpy final : public Checker {
 public:
  explicit Grumpy(std::string name, std::vector<std::uint32_t>* asked)
      : name_(std::move(name)), asked_(asked) {}
  std::string_view name() const override { return name_; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action&) override {
    asked_->push_back(peer);
    return base::FailedPrecondition(name_ + " is not pleased");
  }

 private:
  std::string name_;
  std::vector<std::uint32_t>* asked_;
};

TEST(CheckerSet, KeepsTheFirstFailureAndChecksOnlyHonestPeers) {
  std::vector<std::uint32_t> asked;
  CheckerSet set(ThreePeers());
  set.Add(std::make_unique<Grumpy>("one", &asked));
  set.Add(std::make_unique<Grumpy>("two", &asked));
  const std::vector<protocol::Action> actions = {protocol::CancelTimer{1}};
  set.OnStep({{5}, 70, 2, protocol::TimerFired{1}, actions});
  EXPECT_FALSE(set.failure());
  set.OnStep({{6}, 71, 1, protocol::TimerFired{1}, actions});
  ASSERT_TRUE(set.failure());
  EXPECT_EQ(set.failure()->checker, "one");
  EXPECT_EQ(set.failure()->message, "one is not pleased");
  EXPECT_EQ(set.failure()->at, base::Time{6});
  EXPECT_EQ(set.failure()->event, 71U);
  set.OnStep({{7}, 72, 0, protocol::TimerFired{1}, actions});
  set.Finish({8});
  EXPECT_EQ(set.failure()->event, 71U);
  for (const std::uint32_t peer : asked) EXPECT_EQ(peer, 1U);
}

}  // namespace
}  // namespace ostraka::sim::checkers_test
