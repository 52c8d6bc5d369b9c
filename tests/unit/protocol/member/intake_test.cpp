#include "node/protocol/member/intake.h"

#include <algorithm>

#include "node/wire/bitmap.h"
#include "tests/unit/protocol/member/intake_fixture.h"

namespace ostraka::protocol::intake_test {
namespace {

using scene::IntakeTest;
using scene::kSelf;
using scene::kStep;
using scene::Saying;
using wire::MessageType;
using wire::Phase;

TEST_F(IntakeTest, MessageOfAnotherMemberIsVerifiedAndAnOwnOneIsNot) {
  BeginStep();
  EXPECT_EQ(On(Sign(Commit(1, 1)), 1).what, Outcome::What::kWait);
  EXPECT_TRUE(Holds(Commit(1, 1)));
  EXPECT_EQ(verifier_->asked, 1u);
  EXPECT_EQ(intake_.TakeOwn(Sign(Commit(kSelf, 1)), nullptr).what, Outcome::What::kWait);
  EXPECT_TRUE(Holds(Commit(kSelf, 1)));
  EXPECT_EQ(verifier_->asked, 1u);
}

TEST_F(IntakeTest, FirstEquivocationIsStoredAndSaidOnce) {
  BeginStep();
  On(Sign(Commit(1, 1)), 1);
  ForgetActions();
  On(Sign(Commit(1, 2)), 1);
  EXPECT_EQ(SuspectedFor(), "equivocation");
  EXPECT_EQ(Stored(RecordKind::kEvidence).size(), 1u);
  EXPECT_TRUE(components().charges.Against(IdOf(1)));
  On(Sign(Commit(1, 3)), 1);
  EXPECT_EQ(SuspectedFor(), "");
  EXPECT_TRUE(Stored(RecordKind::kEvidence).empty());
}

TEST_F(IntakeTest, SecondOwnMessageOfASlotHaltsWithoutEvidenceAgainstTheOwnKey) {
  BeginStep();
  intake_.TakeOwn(Sign(Commit(kSelf, 1)), nullptr);
  ForgetActions();
  const Outcome outcome = intake_.TakeOwn(Sign(Commit(kSelf, 2)), nullptr);
  EXPECT_EQ(outcome.what, Outcome::What::kHalt);
  EXPECT_EQ(outcome.why, Halted::Why::kFailed);
  EXPECT_TRUE(Stored(RecordKind::kEvidence).empty());
  EXPECT_FALSE(components().charges.Against(Self()));
}

TEST_F(IntakeTest, MalformedServiceIsSuspectedAndNothingElse) {
  BeginStep();
  for (const MessageType type :
       {MessageType::kPull, MessageType::kVector, MessageType::kChunk, MessageType::kBlock}) {
    const Outcome outcome = OnService(1, ServiceSlot(kStep, Phase::kA, type), {0xff, 0xff, 0xff},
                                      crypto::MakeBlob({1, 2, 3}));
    EXPECT_EQ(outcome.what, Outcome::What::kWait);
    EXPECT_EQ(SuspectedFor(), "service");
  }
}

// Those that dropped this member ask for its head in each of their steps.
TEST_F(IntakeTest, MemberLeavesAStepWhenMoreThanTheFaultBoundAskAboutOneTwoAhead) {
  BeginStep();
  const auto ask = [&](std::uint32_t from, std::uint64_t step) {
    return OnService(from, ServiceSlot(step, Phase::kC, MessageType::kPull),
                     wire::Encode(wire::Pull{.kind = wire::PullKind::kHead}));
  };
  EXPECT_EQ(ask(1, kStep + 1).what, Outcome::What::kWait) << "a little late";
  EXPECT_EQ(ask(2, kStep + 1).what, Outcome::What::kWait);
  EXPECT_EQ(ask(1, kStep + 2).what, Outcome::What::kWait) << "one voice";
  EXPECT_EQ(ask(1, kStep + 9).what, Outcome::What::kWait) << "the same voice";
  EXPECT_EQ(ask(2, kStep + 2).what, Outcome::What::kLeave);
}

TEST_F(IntakeTest, MemberLeavesAStepWhenMoreThanTheFaultBoundShowABlockTwoAhead) {
  BeginStep();
  EXPECT_EQ(ShowBlock(1, Ahead(1)).what, Outcome::What::kWait) << "a little late";
  EXPECT_EQ(ShowBlock(2, Ahead(1)).what, Outcome::What::kWait);
  EXPECT_EQ(ShowBlock(1, Ahead(2)).what, Outcome::What::kWait) << "one voice";
  EXPECT_EQ(ShowBlock(1, Ahead(2)).what, Outcome::What::kWait) << "the same voice";
  EXPECT_EQ(ShowBlock(2, Ahead(2)).what, Outcome::What::kLeave);
}

// A seal counts on them, so a block that has others is not our rules'.
TEST_F(IntakeTest, BlockWithOtherThresholdsThanItsMembershipsIsMalformed) {
  BeginStep();
  Block block = Ahead(2);
  block.thresholds.t_a = block.thresholds.n;
  EXPECT_EQ(ShowBlock(1, block).what, Outcome::What::kWait);
  EXPECT_EQ(SuspectedFor(), "service");
  EXPECT_EQ(ShowBlock(2, block).what, Outcome::What::kWait) << "no voice for leaving";
}

TEST_F(IntakeTest, BlockThatNamesAStrangerIsMalformed) {
  BeginStep();
  Block block = Ahead(2);
  block.members.push_back(IdOf(scene::kStranger));
  std::sort(block.members.begin(), block.members.end());
  block.thresholds = ThresholdsIn(*manifest_, block.members.size());
  EXPECT_EQ(ShowBlock(1, block).what, Outcome::What::kWait);
  EXPECT_EQ(SuspectedFor(), "service");
  EXPECT_EQ(ShowBlock(2, block).what, Outcome::What::kWait) << "no voice for leaving";
  block = Ahead(2);
  block.columns = {wire::ColumnFate::kApplied};
  block.result_roots = {scene::DigestOf(1)};
  block.aggregated = {{IdOf(1), {IdOf(scene::kStranger)}}};
  EXPECT_EQ(ShowBlock(3, block).what, Outcome::What::kWait);
  EXPECT_EQ(SuspectedFor(), "service");
}

// --- what a carrier brings -----------------------------------------------------------------------

TEST_F(IntakeTest, WhatIsCarriedIsItsAuthors) {
  BeginStep();
  EXPECT_EQ(Carried(1, 2, *Sign(Commit(1, 1))->frame).what, Outcome::What::kWait);
  EXPECT_TRUE(Holds(Commit(1, 1)));
  EXPECT_FALSE(components().ration.carries());
}

// Neither the member nor its carrier need have forged it: either may be honest.
TEST_F(IntakeTest, AForgedMessageThatIsCarriedMakesNobodySuspect) {
  BeginStep();
  Carried(1, 2, *Forged(Commit(1, 1))->frame);
  EXPECT_FALSE(Holds(Commit(1, 1)));
  Carried(1, 2, {1, 2, 3});
  EXPECT_EQ(SuspectedFor(), "");
}

TEST_F(IntakeTest, ACarrierThatForgesKeepsOutNeitherTheMemberNorAnotherCarrier) {
  BeginStep();
  for (std::uint64_t i = 0; i < Ration::kForgeriesASecond + 1; ++i) {
    Carried(1, 2, *Forged(Commit(1, 1))->frame);
  }
  Carried(1, 2, *Sign(Commit(1, 1))->frame);
  EXPECT_FALSE(Holds(Commit(1, 1))) << "this pair is not heard";
  Carried(1, 3, *Sign(Commit(1, 1))->frame);
  EXPECT_TRUE(Holds(Commit(1, 1)));
  On(Sign(Commit(2, 1)), 2);
  EXPECT_TRUE(Holds(Commit(2, 1))) << "the carrier's own link";
}

TEST_F(IntakeTest, ACarriedMessageHoldsNoOtherOne) {
  BeginStep();
  wire::Slot slot = ServiceSlot(0, Phase::kA, MessageType::kForward);
  slot.run_id = manifest_->run_id;
  const wire::Forward within{IdOf(3), Self(), *Sign(Commit(3, 1))->frame};
  const auto frame = wire::EncodeService({slot, Digest{}, IdOf(1), wire::Encode(within)});
  Carried(1, 2, *frame);
  EXPECT_FALSE(Holds(Commit(3, 1)));
}

// Member 4, which only dials, asks by way of members 1 and 2, and gets the COMMITs of member 1 and
// of this one.
class CarriedQuestionTest : public IntakeTest {
 protected:
  CarriedQuestionTest() {
    BeginStep();
    components().post.SetHead(components().chain.shared_head());
    for (const std::uint32_t link : {1U, 2U, 3U}) components().post.OnLink(IdOf(link), true);
    On(Sign(Commit(1, 1)), 1);
    ForgetActions();
  }
  base::SharedBytes Question(wire::PullKind kind, std::uint64_t step = kStep) const {
    wire::Slot slot = ServiceSlot(step, Phase::kA, MessageType::kPull);
    slot.run_id = manifest_->run_id;
    wire::Pull pull{.kind = kind, .type = MessageType::kCommit};
    pull.members = wire::BitmapOf(Members(), Members());
    return wire::EncodeService({slot, Digest{}, IdOf(4), wire::Encode(pull)});
  }
  void HoldOwnCommit() {
    intake_.TakeOwn(Sign(Commit(kSelf, 1)), nullptr);
    ForgetActions();
  }
  // To whom all goes that is said now. All but bulk data is by way of somebody.
  std::vector<PeerId> SaidTo() {
    std::vector<PeerId> to;
    for (const Send& send : Taken<Send>()) {
      to.push_back(send.to);
      if (send.to != IdOf(4)) {
        EXPECT_EQ(EnvelopeOf(send).slot.type, MessageType::kForward);
      }
    }
    return to;
  }
};

TEST_F(CarriedQuestionTest, IsAnsweredByTheCarrierThatBroughtItAlone) {
  HoldOwnCommit();
  Carried(4, 2, *Question(wire::PullKind::kMessages));
  EXPECT_EQ(SaidTo(), (std::vector<PeerId>{IdOf(2), IdOf(2)}));
  Carried(4, 1, *Question(wire::PullKind::kMessages));
  EXPECT_EQ(SaidTo(), (std::vector<PeerId>{IdOf(1), IdOf(1)}));
}

TEST_F(CarriedQuestionTest, IsAnsweredOverItsOwnLinkIfItCameByThat) {
  HoldOwnCommit();
  intake_.On({IdOf(4), Question(wire::PullKind::kMessages), nullptr});
  EXPECT_EQ(SaidTo(), (std::vector<PeerId>{IdOf(4), IdOf(4)}));
}

// A carrier that asks in a member's name costs this one a ration, and the member nothing of its
// own.
TEST_F(CarriedQuestionTest, IsAnsweredFromASmallRation) {
  HoldOwnCommit();
  std::size_t answers = 0;
  for (std::uint64_t i = 0; i < Ration::kAnswersASecond; ++i) {
    Carried(4, 2, *Question(wire::PullKind::kMessages));
    answers += SaidTo().size();
  }
  const std::size_t keys = manifest_->members.size();
  EXPECT_EQ(answers, Ration::kCarriedAnswersASecond / keys) << "the share of one of all keys";
  Carried(4, 1, *Question(wire::PullKind::kMessages));
  EXPECT_EQ(SaidTo().size(), 2u) << "by another carrier";
  intake_.On({IdOf(4), Question(wire::PullKind::kMessages), nullptr});
  EXPECT_EQ(SaidTo().size(), 2u) << "over its own link";
}

// A link that comes up at a carrier is a path by way of that carrier.
TEST_F(CarriedQuestionTest, WhatIsSaidAgainGoesByThePathThatIsUp) {
  Carried(4, 2, {});
  const std::vector<PeerId> to = SaidTo();
  ASSERT_FALSE(to.empty());
  EXPECT_EQ(std::count(to.begin(), to.end(), IdOf(2)), static_cast<std::ptrdiff_t>(to.size()));
}

TEST_F(CarriedQuestionTest, ToFollowIsNotBelievedAsToHowFarItsSenderIs) {
  const std::uint64_t far = kStep + 100;
  Carried(4, 2, *Question(wire::PullKind::kFollow, far));
  EXPECT_TRUE(components().followers.Contains(IdOf(4)));
  EXPECT_FALSE(components().followers.Has(IdOf(4), 1));
  intake_.On({IdOf(4), Question(wire::PullKind::kFollow, far), nullptr});
  EXPECT_TRUE(components().followers.Has(IdOf(4), far));
}

// "I wait" is the word of a member over its link, or of one that can have none with this one.
TEST_F(IntakeTest, ACarrierCannotSayThatAMemberWaits) {
  EnterGenesis();
  const auto lacks_waiting = [&](std::uint32_t from) {
    for (const auto& missing : components().genesis.MissingNow()) {
      if (missing.sender == IdOf(from) && missing.type == MessageType::kBlock) return true;
    }
    return false;
  };
  for (std::uint32_t i = 0; i < scene::kMemberCount; ++i) {
    Hold({.from = i, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis});
  }
  wire::Slot slot = ServiceSlot(0, Phase::kGenesis, MessageType::kBlock);
  slot.run_id = manifest_->run_id;
  const auto waits = wire::EncodeService(
      {slot, Digest{}, IdOf(1), wire::Encode(wire::BlockMessage{Digest{}, true})});
  ASSERT_TRUE(lacks_waiting(1));
  Carried(1, 2, *waits);
  EXPECT_TRUE(lacks_waiting(1));
  intake_.On({IdOf(1), waits, nullptr});
  EXPECT_FALSE(lacks_waiting(1));
}

TEST_F(IntakeTest, AStrangerIsNotCarriedFor) {
  BeginStep();
  Carried(scene::kStranger, 2, *Sign(Commit(1, 1))->frame);
  EXPECT_FALSE(Holds(Commit(1, 1)));
}

// Of a link, so many KB of them in a second: a forged one takes as long to decode as a true one.
TEST_F(IntakeTest, BlocksThatNothingProvesAreDecodedWithinARation) {
  BeginStep();
  Pass(base::Seconds(1));
  std::size_t left = 0;
  while (components().ration.TakeOddMessage(components().turn.now(), IdOf(1))) ++left;
  EXPECT_EQ(left, Ration::kOddMessagesASecond);
  EXPECT_EQ(ShowBlock(1, Ahead(2)).what, Outcome::What::kWait);
  EXPECT_EQ(ShowBlock(2, Ahead(2)).what, Outcome::What::kWait) << "one voice was heard";
  Pass(base::Seconds(1));
  EXPECT_EQ(ShowBlock(1, Ahead(2)).what, Outcome::What::kLeave);
}

TEST_F(IntakeTest, OneVoiceIsNotEnoughToLeaveTheGenesis) {
  EnterGenesis();
  EXPECT_EQ(ShowBlock(1, Ahead(0)).what, Outcome::What::kWait);
  EXPECT_EQ(ShowBlock(1, Ahead(1)).what, Outcome::What::kWait);
  EXPECT_EQ(ShowBlock(2, Ahead(0)).what, Outcome::What::kLeave);
}

TEST_F(IntakeTest, LastCommitWithBulkDataIsRefused) {
  SetHead(HeadBlock());
  components().stage.Enter(Stage::kRestore);
  components().stage.Enter(Stage::kLinger);
  ending_.Begin();
  const Saying last{.from = 1, .parent = wire::BlockDigest(components().chain.head())};
  ForgetActions();
  On(Sign(last), 1, crypto::MakeBlob({1}));
  EXPECT_EQ(SuspectedFor(), "blob");
  EXPECT_FALSE(Holds(last));
  On(Sign(last), 1);
  EXPECT_TRUE(Holds(last));
}

TEST_F(IntakeTest, FollowRequestIsNotedAndAnsweredWithTheHead) {
  BeginStep();
  ForgetActions();
  const wire::Slot slot = ServiceSlot(kStep, Phase::kC, MessageType::kPull);
  OnService(1, slot, wire::Encode(wire::Pull{.kind = wire::PullKind::kFollow}));
  EXPECT_TRUE(components().followers.Contains(IdOf(1)));
  const auto sends = Taken<Send>();
  ASSERT_FALSE(sends.empty());
  EXPECT_EQ(sends[0].to, IdOf(1));
  EXPECT_EQ(EnvelopeOf(sends[0]).slot.type, MessageType::kBlock);
}

// Its BOOT is checked no more once the run has begun, so it may send it as often as it likes.
TEST_F(IntakeTest, QuestionOfGenesisBringsTheEchoesOfAllWithinItsRation) {
  Block genesis = HeadBlock();
  genesis.genesis = true;
  genesis.step = 0;
  BeginStep(genesis);
  for (std::uint32_t i = 2; i < scene::kMemberCount; ++i) {
    Hold({.from = i, .type = MessageType::kEcho, .step = 0, .phase = Phase::kGenesis});
  }
  const auto boot =
      Sign({.from = 1, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis});
  const auto ask = [&] {
    std::size_t echoes = 0;
    On(boot, 1);
    for (const Send& send : Taken<Send>()) {
      EXPECT_EQ(send.to, IdOf(1));
      echoes += EnvelopeOf(send).slot.type == MessageType::kEcho ? 1 : 0;
    }
    return echoes;
  };
  EXPECT_EQ(ask(), 3U);
  std::size_t echoes = 0;
  for (std::size_t i = 0; i < Ration::kAnswersASecond; ++i) echoes += ask();
  EXPECT_GT(echoes, Ration::kAnswersASecond / 4);
  EXPECT_LT(echoes, Ration::kAnswersASecond);
}

TEST_F(IntakeTest, RejoinCountsOnlyOverTheLinkOfItsSigner) {
  Block head = HeadBlock();
  std::erase(head.members, IdOf(4));
  head.standings = {{.peer = IdOf(4), .drops = 1}};
  BeginStep(head);
  const Digest parent = wire::BlockDigest(components().chain.head());
  const auto rejoin = Sign({.from = 4,
                            .type = MessageType::kRejoin,
                            .phase = Phase::kC,
                            .body = wire::Encode(wire::Rejoin{}),
                            .parent = parent});
  On(rejoin, 1);
  EXPECT_FALSE(components().followers.HasRejoin(IdOf(4), kStep));
  Pass(base::Seconds(1));
  // It is no member, so it has its share of what such keys have together.
  components().ration.Host(IdOf(4), components().followers.ShareOf(IdOf(4), 1));
  while (components().ration.TakeOddMessage(components().turn.now(), IdOf(4))) {
  }
  components().ration.EndHost();
  On(rejoin, 4);
  EXPECT_FALSE(components().followers.HasRejoin(IdOf(4), kStep)) << "its ration is used up";
  Pass(base::Seconds(1));
  On(rejoin, 4);
  EXPECT_TRUE(components().followers.HasRejoin(IdOf(4), kStep));
}

TEST_F(IntakeTest, ACarrierThatShowsAnOldRejoinAgainTakesNoNewOneAway) {
  Block head = HeadBlock();
  std::erase(head.members, IdOf(4));
  head.standings = {{.peer = IdOf(4), .drops = 1}};
  BeginStep(head);
  const auto rejoin = [&](std::uint64_t step, const Digest& parent) {
    return Sign({.from = 4,
                 .type = MessageType::kRejoin,
                 .step = step,
                 .phase = Phase::kC,
                 .body = wire::Encode(wire::Rejoin{}),
                 .parent = parent});
  };
  const auto old = rejoin(kStep - 1, scene::DigestOf(7));
  Carried(4, 2, *old->frame);
  EXPECT_TRUE(components().followers.HasRejoin(IdOf(4), kStep - 1));
  Carried(4, 2, *rejoin(kStep, wire::BlockDigest(components().chain.head()))->frame);
  Carried(4, 3, *old->frame);
  RecentBlocks recent(8);
  recent.Add(components().chain.head());
  EXPECT_EQ(components().followers.ToConfirm(recent, [](const PeerId&) { return false; }),
            (Asking{{IdOf(4), std::nullopt}}));
}

}  // namespace
}  // namespace ostraka::protocol::intake_test
