#include "node/protocol/member/gate.h"

#include <algorithm>

#include "tests/unit/protocol/member/gate_fixture.h"

namespace ostraka::protocol::gate_test {
namespace {

using scene::DigestOf;
using scene::GateTest;
using scene::kMemberCount;
using scene::kSelf;
using scene::kStep;
using scene::kStranger;
using scene::Saying;
using wire::MessageType;
using wire::Phase;

// --- frames -------------------------------------------------------------------------------------

TEST_F(GateTest, FrameThatIsNoMessageIsSuspected) {
  const auto junk = std::make_shared<const base::Bytes>(base::Bytes(200, 7));
  EXPECT_FALSE(gate_.Open({IdOf(1), junk, nullptr}));
  EXPECT_EQ(SuspectedOf(IdOf(1)), "frame");
  EXPECT_FALSE(gate_.Open({IdOf(1), nullptr, nullptr}));
}

TEST_F(GateTest, MessageOfAnotherRunOrIncarnationIsSuspected) {
  for (const bool run : {true, false}) {
    wire::Envelope envelope = Sign({.from = 2})->envelope;
    (run ? envelope.slot.run_id = DigestOf(99), 0u : envelope.slot.incarnation = 1);
    const auto message = wire::Share(wire::Seal(std::move(envelope), *keys_[2]));
    EXPECT_FALSE(gate_.Open(Over(IdOf(1), message)));
    EXPECT_EQ(SuspectedOf(IdOf(1)), "slot") << "the link, not the signer";
  }
}

TEST_F(GateTest, LinkWithTooManyForgeriesIsNotHeardUntilItsSecondIsOver) {
  Pass(base::Seconds(1));
  for (std::uint64_t i = 0; i < Ration::kForgeriesASecond; ++i) {
    ASSERT_TRUE(gate_.Open(Over(IdOf(1), Sign({.from = 2}))));
    components().ration.CountForgery(components().turn.now(), IdOf(1));
  }
  EXPECT_FALSE(gate_.Open(Over(IdOf(1), Sign({.from = 2}))));
  EXPECT_EQ(SuspectedOf(IdOf(1)), "");
  EXPECT_TRUE(gate_.Open(Over(IdOf(3), Sign({.from = 2})))) << "another link";
  Pass(base::Seconds(1));
  EXPECT_TRUE(gate_.Open(Over(IdOf(1), Sign({.from = 2}))));
}

// Of genesis the newest message takes the place of the one before, so that two in turn are new each
// time.
TEST_F(GateTest, MessagesOfGenesisAreVerifiedWithinARation) {
  components().stage.Enter(Stage::kGenesis);
  Pass(base::Seconds(1));
  const Saying boot{.from = 1, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis};
  EXPECT_EQ(Judge(boot), Fate::kTakeIn);
  while (components().ration.TakeOddMessage(components().turn.now(), IdOf(1))) {
  }
  const std::size_t before = verifier_->asked;
  EXPECT_EQ(Judge(boot), Fate::kNothing);
  EXPECT_EQ(verifier_->asked, before);
  Pass(base::Seconds(1));
  EXPECT_EQ(Judge(boot), Fate::kTakeIn);
}

TEST_F(GateTest, RequestComesFromItsSenderAlone) {
  wire::Slot slot = ServiceSlot(kStep, Phase::kC, MessageType::kPull);
  slot.run_id = manifest_->run_id;
  const auto frame = wire::EncodeService({slot, Digest{}, IdOf(2), wire::Encode(wire::Pull{})});
  EXPECT_FALSE(gate_.Open({IdOf(1), frame, nullptr}));
  EXPECT_EQ(SuspectedOf(IdOf(1)), "relay");
  EXPECT_TRUE(gate_.Open({IdOf(2), frame, nullptr}));
  EXPECT_EQ(SuspectedOf(IdOf(2)), "");
}

TEST_F(GateTest, SignedMessageMayBePassedOn) {
  const auto opened = gate_.Open(Over(IdOf(1), Sign({.from = 2})));
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->envelope.sender, IdOf(2));
  EXPECT_EQ(SuspectedOf(IdOf(1)), "");
}

TEST_F(GateTest, MessageHasBulkDataIfAndOnlyIfItsKindHasSome) {
  const SharedBlob blob = FloatsBlob(8);
  const auto part = Sign(PartOf(1, 0, blob));
  const auto commit = Sign({.from = 1});
  EXPECT_TRUE(gate_.HasItsBlob(part->envelope, Over(IdOf(1), part, blob)));
  EXPECT_TRUE(gate_.HasItsBlob(commit->envelope, Over(IdOf(1), commit)));
  EXPECT_EQ(SuspectedOf(IdOf(1)), "");
  EXPECT_FALSE(gate_.HasItsBlob(part->envelope, Over(IdOf(1), part)));
  EXPECT_EQ(SuspectedOf(IdOf(1)), "blob");
  EXPECT_FALSE(gate_.HasItsBlob(commit->envelope, Over(IdOf(2), commit, blob)));
  EXPECT_EQ(SuspectedOf(IdOf(2)), "blob") << "the link that added it";
}

// --- whom it concerns ---------------------------------------------------------------------------

TEST_F(GateTest, PartOfAnOldStepMayBeAnExhibitWhoeverItsAuthorIs) {
  Block head = HeadBlock();
  head.members.pop_back();  // banned meanwhile
  BeginStep(head);
  const SharedBlob blob = FloatsBlob(8);
  EXPECT_EQ(Sort(PartOf(kMemberCount - 1, 0, blob, kStep - 1), 1), Fate::kExhibit);
  EXPECT_EQ(Sort(PartOf(kMemberCount - 1, 0, blob, kStep), 1), Fate::kNothing);
}

TEST_F(GateTest, RemovedMemberAndStrangerAreNotHeard) {
  Block head = HeadBlock();
  head.members.pop_back();
  BeginStep(head);
  EXPECT_EQ(Sort({.from = kMemberCount - 1}, 1), Fate::kNothing);
  EXPECT_EQ(Sort({.from = kStranger}, 1), Fate::kNothing);
  EXPECT_EQ(Sort({.from = 1}, 2), Fate::kTakeIn);
}

TEST_F(GateTest, MemberThatBelievesTheRunHasNotBegunAsks) {
  BeginStep();
  const Saying boot{.from = 1, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis};
  EXPECT_EQ(Sort(boot, 1), Fate::kGenesisQuestion);
  EXPECT_EQ(Sort(boot, 2), Fate::kNothing) << "passed on";
  UseUp(IdOf(1), 0);
  EXPECT_EQ(Sort(boot, 1), Fate::kNothing) << "its ration is used up";
}

TEST_F(GateTest, GenesisQuestionIsNotAnsweredByAMemberThatIsAway) {
  Follow();
  EXPECT_EQ(Sort({.from = 1, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis}, 1),
            Fate::kNothing);
}

TEST_F(GateTest, GenesisMessagesComeFromTheirSigners) {
  components().stage.Enter(Stage::kGenesis);
  const Saying boot{.from = 1, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis};
  EXPECT_EQ(Sort(boot, 1), Fate::kTakeIn);
  EXPECT_EQ(Sort(boot, 2), Fate::kNothing) << "it may be an old one";
}

// The two can have no link: what is carried is all that there is. [Were it not taken, no run with
// two such members would begin.]
TEST_F(GateTest, ACarriedBootCountsOfAMemberThatCanHaveNoLinkWithThisOne) {
  Block genesis = components().chain.head();
  genesis.reach = {{IdOf(kSelf), true, 0}, {IdOf(2), true, 0}};
  std::sort(genesis.reach.begin(), genesis.reach.end(),
            [](const auto& a, const auto& b) { return a.peer < b.peer; });
  SetHead(genesis);
  components().stage.Enter(Stage::kGenesis);
  const auto sort_carried = [&](std::uint32_t from) {
    components().ration.Carry(IdOf(from), IdOf(4), 1);
    const Fate fate =
        Sort({.from = from, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis}, from);
    components().ration.EndCarry();
    return fate;
  };
  EXPECT_EQ(sort_carried(2), Fate::kTakeIn);
  EXPECT_EQ(sort_carried(1), Fate::kNothing) << "it may be an old one: the link will bring the new";
}

TEST_F(GateTest, PassedOnGenesisEchoCountsIfItEqualsTheOwnOne) {
  components().stage.Enter(Stage::kGenesis);
  wire::Echo echo;
  echo.vector = DigestOf(3);
  Saying saying{.from = 1,
                .type = MessageType::kEcho,
                .step = 0,
                .phase = Phase::kGenesis,
                .body = wire::Encode(echo)};
  EXPECT_EQ(Sort(saying, 2), Fate::kNothing) << "not echoed here yet";
  components().genesis.OnOwnEcho(echo);
  EXPECT_EQ(Sort(saying, 2), Fate::kTakeIn);
  echo.vector = DigestOf(4);
  saying.body = wire::Encode(echo);
  EXPECT_EQ(Sort(saying, 2), Fate::kNothing);
  EXPECT_EQ(Sort(saying, 1), Fate::kTakeIn) << "from its signer";
}

// --- signatures and duplicates ------------------------------------------------------------------

TEST_F(GateTest, MessageIsVerifiedOnceAndADuplicateCostsNothing) {
  BeginStep();
  verifier_->asked = 0;
  const auto message = Sign({.from = 1});
  EXPECT_EQ(Judge(message, IdOf(2)), Fate::kTakeIn) << "a relayed frame counts as its author's";
  EXPECT_EQ(verifier_->asked, 1u);
  components().inbox.Add(message, nullptr);
  EXPECT_EQ(Judge(message, IdOf(3)), Fate::kNothing);
  EXPECT_EQ(verifier_->asked, 1u);
}

TEST_F(GateTest, ForgeryIsRefusedAndItsLinkSuspected) {
  BeginStep();
  EXPECT_EQ(Judge(Forged({.from = 1}), IdOf(2)), Fate::kNothing);
  EXPECT_EQ(SuspectedOf(IdOf(2)), "signature");
}

TEST_F(GateTest, SecondVersionIsTakenInAndAThirdOneOfNoSealIsNot) {
  BeginStep();
  Hold({.from = 1, .body = {1}});
  EXPECT_EQ(Judge({.from = 1, .body = {2}}), Fate::kTakeIn) << "it proves the equivocation";
  Hold({.from = 1, .body = {2}});
  EXPECT_EQ(Judge({.from = 1, .body = {3}}), Fate::kNothing);
}

TEST_F(GateTest, ThirdVersionOfASealsMessageGoesToTheSealAlone) {
  BeginStep();
  const auto echo = [&](std::uint8_t tag) {
    wire::Echo body;
    body.vector = DigestOf(tag);
    return Saying{.from = 1, .type = MessageType::kEcho, .body = wire::Encode(body)};
  };
  Hold(echo(1));
  Hold(echo(2));
  EXPECT_EQ(Judge(echo(3)), Fate::kOdd);
  step().sealing().Drop();
  EXPECT_EQ(Judge(echo(3)), Fate::kNothing) << "no seal is open";
}

TEST_F(GateTest, MessageOfADecidedSealIsPast) {
  BeginStep();
  components().past_seals.Add({kStep - 1, Phase::kC, 0}, {{}, {}, {{{}, {}, Sign({})->frame}}});
  EXPECT_EQ(Judge({.from = 1,
                   .type = MessageType::kStatus,
                   .step = kStep - 1,
                   .phase = Phase::kC,
                   .iteration = 1}),
            Fate::kPastSeal);
  EXPECT_EQ(Judge({.from = 1, .type = MessageType::kProof, .step = kStep - 1, .phase = Phase::kC}),
            Fate::kNothing)
      << "no message of the agreement itself";
}

// --- the window ---------------------------------------------------------------------------------

TEST_F(GateTest, MemberAheadIsInTheFirstPhaseOfTheNextStepAtMost) {
  BeginStep();
  const auto at = [&](std::uint64_t step, Phase phase, MessageType type) {
    return Judge({.from = 1, .type = type, .step = step, .phase = phase});
  };
  EXPECT_EQ(at(kStep + 1, Phase::kA, MessageType::kCommit), Fate::kTakeIn);
  EXPECT_EQ(at(kStep + 1, Phase::kA, MessageType::kAggregate), Fate::kTakeIn);
  EXPECT_EQ(at(kStep + 1, Phase::kA, MessageType::kClose), Fate::kTakeIn)
      << "it says that it is too late to echo";
  EXPECT_EQ(at(kStep + 1, Phase::kA, MessageType::kEcho), Fate::kNothing);
  EXPECT_EQ(at(kStep + 1, Phase::kB, MessageType::kReveal), Fate::kNothing);
  EXPECT_EQ(at(kStep + 1, Phase::kC, MessageType::kProof), Fate::kNothing);
  EXPECT_EQ(at(kStep - 1, Phase::kA, MessageType::kCommit), Fate::kNothing);
}

TEST_F(GateTest, MessageTwoStepsAheadShowsThatItsSignerIs) {
  BeginStep();
  EXPECT_EQ(Judge({.from = 1, .step = kStep + 2}), Fate::kAhead);
  EXPECT_EQ(Judge({.from = 2, .step = UINT64_MAX}), Fate::kAhead);
  EXPECT_EQ(Judge(Forged({.from = 3, .step = kStep + 2}), IdOf(4)), Fate::kNothing);
  EXPECT_EQ(SuspectedOf(IdOf(4)), "signature");
  gate_.NoteAhead(IdOf(1));
  verifier_->asked = 0;
  EXPECT_EQ(Judge({.from = 1, .step = kStep + 2}), Fate::kNothing);
  EXPECT_EQ(verifier_->asked, 0u) << "known, and not verified again";
}

TEST_F(GateTest, MemberIsOneDrawAheadAtMost) {
  BeginStep();
  const auto reveal = [&](std::uint32_t draw) {
    return Judge({.from = 1, .type = MessageType::kReveal, .phase = Phase::kB, .draw = draw});
  };
  EXPECT_EQ(reveal(0), Fate::kTakeIn);
  EXPECT_EQ(reveal(1), Fate::kTakeIn);
  EXPECT_EQ(reveal(2), Fate::kNothing);
}

TEST_F(GateTest, SlowPathIsThatOfTheSealInProgress) {
  BeginStep();
  const auto vote = [&](Phase phase, std::uint32_t iteration) {
    return Judge({.from = 1, .type = MessageType::kVote, .phase = phase, .iteration = iteration});
  };
  EXPECT_EQ(vote(Phase::kA, 8), Fate::kTakeIn) << "eight iterations ahead";
  EXPECT_EQ(vote(Phase::kA, 9), Fate::kNothing);
  EXPECT_EQ(vote(Phase::kB, 1), Fate::kNothing);
  EXPECT_EQ(Judge({.from = 1, .type = MessageType::kEcho, .phase = Phase::kB}), Fate::kTakeIn);
  EXPECT_EQ(Judge({.from = 1, .type = MessageType::kClose, .phase = Phase::kC}), Fate::kTakeIn);
}

TEST_F(GateTest, MemberThatIsAwayTakesInTheNextThreeStepsFirstPhase) {
  Follow();
  EXPECT_EQ(Judge({.from = 1, .step = kStep - 1}), Fate::kNothing);
  EXPECT_EQ(Judge({.from = 1, .step = kStep}), Fate::kTakeIn);
  EXPECT_EQ(Judge({.from = 1, .step = kStep + 2}), Fate::kTakeIn);
  EXPECT_EQ(Judge({.from = 1, .step = kStep + 3}), Fate::kNothing);
  EXPECT_EQ(Judge({.from = 1, .type = MessageType::kReveal, .phase = Phase::kB}), Fate::kNothing);
}

TEST_F(GateTest, FirstStepIsTakenInAtTheGenesis) {
  components().stage.Enter(Stage::kGenesis);
  EXPECT_EQ(Judge({.from = 1, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis}),
            Fate::kTakeIn);
  EXPECT_EQ(Judge({.from = 1, .step = 0}), Fate::kTakeIn);
  EXPECT_EQ(Judge({.from = 1, .type = MessageType::kEcho, .step = 0}), Fate::kNothing);
  EXPECT_EQ(Judge({.from = 1, .step = 1}), Fate::kNothing);
}

// --- old ballots --------------------------------------------------------------------------------

TEST_F(GateTest, OldBallotGoesToTheSealAndAPresentOneIntoTheInbox) {
  BeginStep();
  ReachIteration(4);
  ASSERT_EQ(step().sealing().seal().iteration(), 4u);
  EXPECT_EQ(Judge(Ballot(MessageType::kVote, 1)), Fate::kOdd);
  EXPECT_EQ(Judge(Ballot(MessageType::kLock, 1)), Fate::kOdd);
  EXPECT_EQ(Judge(Ballot(MessageType::kVote, 2)), Fate::kTakeIn);
  EXPECT_EQ(Judge(Ballot(MessageType::kVote, 4 + 8)), Fate::kTakeIn);
  EXPECT_EQ(Judge(Ballot(MessageType::kVote, 4 + 9)), Fate::kNothing);
  EXPECT_EQ(Judge({.from = 1, .type = MessageType::kStatus, .iteration = 1}), Fate::kNothing)
      << "no lock rests on a STATUS";
  EXPECT_EQ(Judge(Forged(Ballot(MessageType::kVote, 1)), IdOf(2)), Fate::kNothing);
  EXPECT_EQ(SuspectedOf(IdOf(2)), "signature");
}

// [A rival ballot that came before the lock that rests on it was lost to the seal.]
TEST_F(GateTest, BallotOfTheInboxThatTheSealPassedOverGoesToItOnceMore) {
  BeginStep();
  const Saying first = Ballot(MessageType::kVote, 1, 1, 5);
  const Saying rival = Ballot(MessageType::kVote, 1, 1, 6);
  step().OnAccepted(*Hold(first));
  step().OnAccepted(*Hold(rival));
  verifier_->asked = 0;
  EXPECT_EQ(Judge(first), Fate::kNothing) << "the seal holds it";
  EXPECT_EQ(Judge(rival), Fate::kPassedOver);
  EXPECT_EQ(verifier_->asked, 0u);
  step().sealing().Drop();
  EXPECT_EQ(Judge(rival), Fate::kNothing) << "no seal is open";
}

TEST_F(GateTest, OldBallotsAreCountedForTheLinkAndNotForTheirSigner) {
  BeginStep();
  ReachIteration(4);
  const auto ballot = Sign(Ballot(MessageType::kVote, 1, 1));
  const std::size_t quota = 256 + 8 * kMemberCount;
  for (std::size_t i = 0; i < quota; ++i) ASSERT_EQ(Judge(ballot, IdOf(2)), Fate::kOdd) << i;
  EXPECT_EQ(Judge(ballot, IdOf(2)), Fate::kNothing);
  EXPECT_EQ(Judge(Sign(Ballot(MessageType::kVote, 1, 3)), IdOf(2)), Fate::kNothing);
  EXPECT_EQ(Judge(ballot, IdOf(1)), Fate::kOdd) << "a relay uses up nobody else's quota";
}

// Attack: each guest had as much as a member, and none of them costs its sender a key.
TEST_F(GateTest, OldBallotsOfAllKeysThatAreNoMembersAreCountedTogether) {
  BeginStep();
  ReachIteration(4);
  const auto ballot = Sign(Ballot(MessageType::kVote, 1, 1));
  std::size_t verified = 0;
  for (std::uint32_t guest = 0; guest < 4; ++guest) {
    const PeerId from = scene::PeerNumber(100 + guest);
    components().ration.Host(from, {.keys = 4});
    for (std::size_t i = 0; i < 1000; ++i) verified += Judge(ballot, from) == Fate::kOdd ? 1 : 0;
    components().ration.EndHost();
  }
  EXPECT_EQ(verified, 256 + 8 * kMemberCount);
  EXPECT_EQ(Judge(ballot, IdOf(2)), Fate::kOdd) << "members have theirs";
}

// --- the end, and other steps -------------------------------------------------------------------

TEST_F(GateTest, AfterTheEndTheLastCommitsAndMembersThatAreStuckMatter) {
  SetHead(HeadBlock());
  components().past_seals.Add({kStep - 1, Phase::kC, 0}, {{}, {}, {{{}, {}, Sign({})->frame}}});
  const auto judge = [&](const Saying& saying) {
    return gate_.JudgeAfterEnd(Sign(saying), IdOf(saying.from));
  };
  EXPECT_EQ(judge({.from = 1}), Fate::kTakeIn);
  EXPECT_EQ(judge({.from = kStranger}), Fate::kNothing);
  EXPECT_EQ(judge({.from = 1, .step = kStep - 1}), Fate::kNothing);
  EXPECT_EQ(judge({.from = 1, .step = kStep + 1}), Fate::kNothing);
  EXPECT_EQ(judge({.from = 1, .type = MessageType::kAggregate}), Fate::kNothing);
  EXPECT_EQ(judge({.from = 1, .type = MessageType::kClose, .step = kStep - 1, .phase = Phase::kC}),
            Fate::kPastSeal);
  EXPECT_EQ(judge({.from = 1, .type = MessageType::kClose}), Fate::kNothing) << "not decided here";
  EXPECT_EQ(gate_.JudgeAfterEnd(Forged({.from = 2}), IdOf(3)), Fate::kNothing);
  EXPECT_EQ(SuspectedOf(IdOf(3)), "signature");
  Hold({.from = 1});
  EXPECT_EQ(judge({.from = 1}), Fate::kNothing) << "a duplicate";
  EXPECT_EQ(judge({.from = 1, .body = {2}}), Fate::kTakeIn) << "it equivocates";
}

TEST_F(GateTest, MembersAheadCountOnceMoreOfThemThanCanLie) {
  SetHead(HeadBlock());
  ASSERT_EQ(FaultBound(components().chain.head().thresholds), 1u);
  EXPECT_FALSE(gate_.NoteAhead(IdOf(1)));
  EXPECT_FALSE(gate_.NoteAhead(IdOf(1)));
  EXPECT_FALSE(gate_.NoteAhead(IdOf(kStranger)));
  EXPECT_TRUE(gate_.NoteAhead(IdOf(2)));
  gate_.ForgetAhead();
  EXPECT_FALSE(gate_.NoteAhead(IdOf(2)));
  gate_.BeginStep(kStep);
  EXPECT_FALSE(gate_.NoteAhead(IdOf(3))) << "each step counts anew";
}

TEST_F(GateTest, NextBlockIsTheOneThatMoreMembersShowThanCanLie) {
  SetHead(HeadBlock());
  ASSERT_EQ(FaultBound(components().chain.head().thresholds), 1u);
  const Digest block = DigestOf(1);
  const Digest other = DigestOf(2);
  EXPECT_FALSE(gate_.NoteNext(IdOf(1), block));
  EXPECT_FALSE(gate_.NoteNext(IdOf(1), block));
  EXPECT_FALSE(gate_.NoteNext(IdOf(kStranger), block));
  EXPECT_FALSE(gate_.NoteNext(IdOf(2), other)) << "a liar shows one of its own";
  EXPECT_TRUE(gate_.NoteNext(IdOf(2), block)) << "or it changes its mind";
  gate_.ForgetAhead();
  components().ration.Carry(IdOf(1), IdOf(4), 1);
  EXPECT_FALSE(gate_.NoteNext(IdOf(1), block)) << "the carrier says so";
  components().ration.EndCarry();
  EXPECT_FALSE(gate_.NoteNext(IdOf(2), block));
  gate_.BeginStep(kStep);
  EXPECT_FALSE(gate_.NoteNext(IdOf(3), block)) << "each step counts anew";
}

}  // namespace
}  // namespace ostraka::protocol::gate_test
