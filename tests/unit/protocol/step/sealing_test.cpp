#include "node/protocol/step/sealing.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::sealing_test {
namespace {

using scene::DigestOf;
using wire::MessageType;
using wire::Phase;

constexpr base::Duration kDeadline = base::Seconds(42);

class SealingTest : public testing::Test {
 protected:
  explicit SealingTest(const StepWorld::Edit& edit = nullptr)
      : w_(edit),
        sealing_(w_, w_.charges, w_.reports, w_.fork_watch, w_.past_seals, w_.pull, w_.facts) {}
  void TearDown() override { sealing_.CheckInvariants(); }

  void OpenA() {
    sealing_.Open(Phase::kA, 0, kDeadline, std::nullopt);
    w_.pull.Arm(base::Seconds(100));  // nothing to do with the seal
    w_.out.actions().clear();
  }
  void OpenB() {
    w_.ReadA();
    sealing_.Open(Phase::kB, 0, kDeadline, std::nullopt);
    w_.out.actions().clear();
  }
  void Accept(const wire::SharedMessage& message) {
    w_.Hear(message);
    sealing_.OnAccepted(*message);
  }
  // What this member says is stored, and comes back.
  std::vector<wire::SharedMessage> Utter() {
    const auto said = w_.UtterAndHear();
    for (const auto& message : said) sealing_.OnAccepted(*message);
    return said;
  }
  SealVector VectorNow() const {
    SealVector vector;
    const Entries& entries = sealing_.entries();
    for (std::size_t i = 0; i < entries.Count(); ++i) vector.push_back(entries.EntryNow(i));
    return vector;
  }
  wire::SharedMessage EchoBy(std::size_t member, const SealVector& vector) const {
    return w_.Say(member, sealing_.slot().phase, MessageType::kEcho, wire::Encode(EchoOf(vector)),
                  sealing_.slot().draw);
  }
  // All members hold all, and echo it.
  void DecideA() {
    w_.HearPhaseA();
    OpenA();
    EXPECT_FALSE(sealing_.Drive(true));
    Utter();
    const SealVector vector = VectorNow();
    for (std::size_t i = 1; i < w_.count(); ++i) Accept(EchoBy(i, vector));
    ASSERT_TRUE(sealing_.Drive(true));
  }
  std::size_t EchoesHeld() const { return sealing_.seal().Frames(MessageType::kEcho).size(); }
  std::vector<TimerId> Cancelled() {
    std::vector<TimerId> timers;
    for (const CancelTimer& cancel : w_.Taken<CancelTimer>()) timers.push_back(cancel.id);
    return timers;
  }

  StepWorld w_;
  Sealing sealing_;
};
using SealingDeathTest = SealingTest;

// --- S1 ---

TEST_F(SealingDeathTest, SecondSealDoesNotOpenBesideTheFirst) {
  OpenA();
  EXPECT_DEATH(sealing_.Open(Phase::kA, 0, kDeadline, std::nullopt), "CHECK failed");
}

TEST_F(SealingDeathTest, SealOpensOnlyUnderAParent) {
  EXPECT_DEATH(sealing_.Open(Phase::kB, 0, kDeadline, std::nullopt), "CHECK failed");
  EXPECT_DEATH(sealing_.Open(Phase::kGenesis, 0, kDeadline, std::nullopt), "CHECK failed");
}

TEST_F(SealingDeathTest, OnlyAnOpenSealIsDrivenAndRead) {
  EXPECT_DEATH(sealing_.Drive(true), "CHECK failed");
  EXPECT_DEATH(sealing_.seal(), "CHECK failed");
  EXPECT_DEATH(sealing_.entries(), "CHECK failed");
  OpenA();
  sealing_.Drop();
  EXPECT_DEATH(sealing_.entries(), "CHECK failed");
}

TEST_F(SealingDeathTest, OnlyADecidedSealIsClosedAndOnlyOnce) {
  OpenA();
  EXPECT_DEATH(sealing_.TakeWatches(), "CHECK failed");
  EXPECT_DEATH(sealing_.Close(), "CHECK failed");
  sealing_.Drop();
  DecideA();
  sealing_.TakeWatches();
  sealing_.Close();
  EXPECT_DEATH(sealing_.Close(), "CHECK failed");
}

TEST_F(SealingTest, OpeningSetsTheDeadlineAndCancelsTheTimersOfTheSealBefore) {
  sealing_.Open(Phase::kA, 0, kDeadline, std::nullopt);
  const auto timers = w_.Taken<SetTimer>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].id, kEchoTimer);
  EXPECT_EQ(timers[0].at, w_.now() + kDeadline);
  EXPECT_EQ(Cancelled(), (std::vector<TimerId>{kPullTimer, kSealTimer}));
  EXPECT_EQ(sealing_.entries().Count(), 2 * w_.count());
}

TEST_F(SealingTest, SealIsForItsOwnStepPhaseAndDrawOnly) {
  EXPECT_FALSE(sealing_.IsFor(w_.voice.SlotOf(StepWorld::kStep, Phase::kB, MessageType::kEcho)));
  OpenB();
  wire::Slot slot = sealing_.slot();
  EXPECT_TRUE(sealing_.IsFor(slot));
  slot.draw = 1;
  EXPECT_FALSE(sealing_.IsFor(slot));
  slot = sealing_.slot();
  slot.phase = Phase::kC;
  EXPECT_FALSE(sealing_.IsFor(slot));
  slot = sealing_.slot();
  ++slot.step;
  EXPECT_FALSE(sealing_.IsFor(slot));
}

// --- S2 ---

TEST_F(SealingTest, MessageOfAnotherParentIsNotFed) {
  OpenA();
  const base::Bytes body = wire::Encode(EchoOf(VectorNow()));
  Accept(w_.SayUnder(DigestOf(9), 1, Phase::kA, MessageType::kEcho, body));
  EXPECT_EQ(EchoesHeld(), 0u);
  Accept(w_.Say(2, Phase::kA, MessageType::kEcho, body));
  EXPECT_EQ(EchoesHeld(), 1u);
}

// The signer chooses the parent: a third ECHO of phase C with the parent of seal A must not count.
TEST_F(SealingTest, OddMessageOfAnotherSlotIsNotFedWhateverParentItNames) {
  OpenA();
  const base::Bytes body = wire::Encode(EchoOf(VectorNow()));
  sealing_.OnOdd(*w_.SayUnder(w_.facts.parent_a, 1, Phase::kC, MessageType::kEcho, body));
  sealing_.OnOdd(*w_.SayUnder(w_.facts.parent_a, 1, Phase::kB, MessageType::kEcho, body, 3));
  EXPECT_EQ(EchoesHeld(), 0u);
  sealing_.OnOdd(*w_.Say(1, Phase::kA, MessageType::kEcho, body));
  EXPECT_EQ(EchoesHeld(), 1u);
}

TEST_F(SealingTest, MessagesThatCameBeforeTheSealOpenedAreFed) {
  const base::Bytes body = wire::Encode(EchoOf(SealVector(2 * w_.count())));
  for (std::size_t i = 0; i < 4; ++i) w_.Hear(w_.Say(i, Phase::kA, MessageType::kEcho, body));
  w_.Hear(w_.SayUnder(DigestOf(9), 4, Phase::kA, MessageType::kEcho, body));
  OpenA();
  EXPECT_EQ(EchoesHeld(), 4u);
  EXPECT_TRUE(sealing_.seal().wait_ended());  // the own one, from before a crash
}

TEST_F(SealingTest, OwnSlowPathFromBeforeACrashIsFed) {
  std::vector<Record> slots;
  {
    StepWorld before;
    const wire::Slot slot =
        before.voice.SlotOf(StepWorld::kStep, Phase::kA, MessageType::kStatus, 0, 2);
    before.voice.Prepare(before.voice.MakeDraft(slot, before.facts.parent_a,
                                                wire::Encode(wire::SealStatus{0, DigestOf(3)}),
                                                before.head().members));
    slots = before.StoredRecords(RecordKind::kSlot);
  }
  ASSERT_TRUE(w_.journal.Restore(slots, w_.manifest->run_id, w_.head().members).ok());
  OpenA();
  EXPECT_EQ(sealing_.seal().iteration(), 2u);
}

// A restarted member has its ECHO, and not yet what the ECHO names.
TEST_F(SealingTest, LastMessageThatTheDecisionNamesCompletesIt) {
  StepWorld all;
  all.HearPhaseA();
  const Entries entries(Phase::kA, 0, all.facts, all, all.charges);
  SealVector vector;
  for (std::size_t i = 0; i < entries.Count(); ++i) vector.push_back(entries.EntryNow(i));
  for (std::size_t i = 0; i < w_.count(); ++i) {
    if (i != 5) w_.Hear(w_.Commit(i));
    w_.Hear(w_.Aggregate(i));
    w_.Hear(w_.Say(i, Phase::kA, MessageType::kEcho, wire::Encode(EchoOf(vector))));
  }
  OpenA();
  EXPECT_FALSE(sealing_.Drive(false));
  EXPECT_FALSE(sealing_.seal().Certificate().empty());
  Accept(w_.Commit(5));
  EXPECT_TRUE(sealing_.Drive(false));
}

// --- S4: what begins and ends a wait ---

TEST_F(SealingTest, MemberEchoesOnceThePhaseIsComplete) {
  w_.HearPhaseA();
  OpenA();
  EXPECT_FALSE(sealing_.Drive(false));
  EXPECT_FALSE(sealing_.seal().wait_ended());
  EXPECT_TRUE(Utter().empty());
  sealing_.Drive(true);
  EXPECT_TRUE(sealing_.seal().wait_ended());
  const auto said = Utter();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0]->envelope.body, wire::Encode(EchoOf(VectorNow())));
  EXPECT_EQ(said[0]->envelope.entry, w_.facts.parent_a);
  sealing_.Drive(true);
  EXPECT_TRUE(Utter().empty());
}

// With the ECHO goes its CLOSE: the deadline was the wait.
TEST_F(SealingTest, AtTheDeadlineMemberEchoesWhatItHoldsAndCloses) {
  w_.Hear(w_.Commit(1));
  OpenA();
  sealing_.OnEchoTimer();
  const auto said = Utter();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[1]->envelope.slot.type, MessageType::kClose);
  const auto echo = wire::Decode<wire::Echo>(said[0]->envelope.body);
  ASSERT_TRUE(echo.ok());
  EXPECT_EQ(StateIn(*echo, 1), SealEntry::State::kPresent);
  EXPECT_EQ(StateIn(*echo, 2), SealEntry::State::kAbsent);
}

class ShortPartWaitTest : public SealingTest {
 protected:
  ShortPartWaitTest()
      : SealingTest([](Manifest& manifest, Block& head) {
          manifest.part_timeout = base::Microseconds(static_cast<std::int64_t>(head.delta_us)) * 4 -
                                  base::Microseconds(1);
        }) {}
};

// An owner that waited P + 2 Delta for a part has no time left to aggregate.
TEST_F(ShortPartWaitTest, AtTheDeadlineMemberDoesNotCloseAtOnce) {
  w_.Hear(w_.Commit(1));
  OpenA();
  sealing_.OnEchoTimer();
  EXPECT_EQ(Utter().size(), 1u);
}

TEST_F(SealingTest, OnlyMemberLeftIsWaitedForAndHeadsAreAskedFor) {
  w_.ReadA();
  for (std::size_t i = 0; i < w_.count(); ++i) {
    if (i != 3) w_.facts.reading.false_revealers.insert(w_.Id(i));
  }
  ASSERT_EQ(w_.facts.reading.RevealersLeft(w_.head()), 1u);
  sealing_.Open(Phase::kB, 0, kDeadline, std::nullopt);
  w_.out.actions().clear();
  EXPECT_FALSE(sealing_.IsStuck());
  sealing_.OnEchoTimer();
  EXPECT_FALSE(sealing_.seal().wait_ended());
  EXPECT_TRUE(sealing_.IsStuck());
  const auto timers = w_.Taken<SetTimer>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].id, kEchoTimer);
  EXPECT_EQ(timers[0].at, w_.now() + StepWorld::kDelta * 2);
  const auto pulls = w_.Pulls();
  EXPECT_EQ(pulls.size(), w_.count() - 1);
  for (const auto& [to, pull] : pulls) EXPECT_EQ(pull.kind, wire::PullKind::kHead);
  Accept(w_.Reveal(3));
  sealing_.Drive(true);
  EXPECT_TRUE(sealing_.seal().wait_ended());
}

TEST_F(SealingTest, TwoMembersLeftAreNotWaitedForBeyondTheDeadline) {
  w_.ReadA();
  for (std::size_t i = 2; i < w_.count(); ++i) {
    w_.facts.reading.false_revealers.insert(w_.Id(i));
  }
  sealing_.Open(Phase::kB, 0, kDeadline, std::nullopt);
  sealing_.OnEchoTimer();
  EXPECT_TRUE(sealing_.seal().wait_ended());
}

// --- what a link may bring ---

TEST_F(SealingTest, LinkBringsExactlyItsQuotaOfOddMessagesInASeal) {
  OpenA();
  const std::size_t quota = 256 + 8 * w_.count();
  for (std::size_t i = 0; i < quota; ++i) ASSERT_TRUE(sealing_.TakeOdd(w_.Id(1))) << i;
  EXPECT_FALSE(sealing_.TakeOdd(w_.Id(1)));
  EXPECT_TRUE(sealing_.TakeOdd(w_.Id(2)));  // a link does not use up another's
  sealing_.Drop();
  OpenB();
  EXPECT_TRUE(sealing_.TakeOdd(w_.Id(1)));
}

// The inbox takes it for a duplicate whenever it comes again.
TEST_F(SealingTest, ABallotThatCameBeforeTheLockThatRestsOnItGoesToTheSealAgain) {
  OpenA();
  const auto vote = [&](std::size_t member, std::uint64_t value) {
    return w_.Say(member, Phase::kA, MessageType::kVote,
                  wire::Encode(wire::SealVote{DigestOf(value), 0}), 0, 1);
  };
  const auto votes = [&] { return sealing_.seal().Frames(MessageType::kVote).size(); };
  Accept(vote(1, 5));
  Accept(vote(1, 6));
  EXPECT_EQ(votes(), 1u);
  EXPECT_FALSE(sealing_.IsPassedOver(*vote(1, 5))) << "the seal holds it";
  ASSERT_TRUE(sealing_.IsPassedOver(*vote(1, 6)));
  sealing_.OnPassedOver(*vote(1, 6));
  EXPECT_EQ(votes(), 1u) << "no lock rests on it";
  Accept(w_.Say(2, Phase::kA, MessageType::kLock, wire::Encode(wire::Lock{DigestOf(6)}), 0, 1));
  sealing_.OnPassedOver(*vote(1, 7));
  EXPECT_EQ(votes(), 1u) << "it never came, so nobody verified it";
  sealing_.OnPassedOver(*vote(1, 6));
  EXPECT_EQ(votes(), 2u);
  EXPECT_FALSE(sealing_.IsPassedOver(*vote(1, 6)));
}

TEST_F(SealingTest, WhatIsNotOfTheOpenSealIsNotPassedOver) {
  const auto echo = [&](const Digest& parent, Phase phase) {
    return w_.SayUnder(parent, 1, phase, MessageType::kEcho, wire::Encode(wire::Echo{}));
  };
  EXPECT_FALSE(sealing_.IsPassedOver(*echo(w_.facts.parent_a, Phase::kA))) << "none is open";
  OpenA();
  EXPECT_TRUE(sealing_.IsPassedOver(*echo(w_.facts.parent_a, Phase::kA)));
  EXPECT_FALSE(sealing_.IsPassedOver(*echo(DigestOf(9), Phase::kA)));
  EXPECT_FALSE(sealing_.IsPassedOver(*echo(w_.facts.parent_a, Phase::kC)));
  EXPECT_FALSE(sealing_.IsPassedOver(*w_.Commit(1)));
  w_.facts.muted = {w_.Id(1)};
  EXPECT_FALSE(sealing_.IsPassedOver(*echo(w_.facts.parent_a, Phase::kA)));
}

// --- S3 ---

TEST_F(SealingTest, DecidedSealKeepsItsCertificateAndIsWatchedForAFork) {
  DecideA();
  const SealVector vector = *sealing_.seal().decision();
  const wire::Slot slot = sealing_.slot();
  sealing_.TakeWatches();
  w_.out.actions().clear();
  const Digest decision = sealing_.Close();
  EXPECT_FALSE(sealing_.open());
  EXPECT_EQ(decision, DecisionDigest(slot, EchoOf(vector).vector, w_.facts.parent_a));
  const PastSeal* past = w_.past_seals.Find(SealKeyOf(slot));
  ASSERT_NE(past, nullptr);
  EXPECT_EQ(past->vector, vector);
  EXPECT_EQ(past->certificate.size(), w_.count());
  ASSERT_NE(w_.fork_watch.ParentOf(SealKeyOf(slot)), nullptr);
  EXPECT_EQ(*w_.fork_watch.ParentOf(SealKeyOf(slot)), w_.facts.parent_a);
  EXPECT_FALSE(w_.fork_watch.ProofsOf(StepWorld::kStep).empty());
  EXPECT_EQ(Cancelled(), (std::vector<TimerId>{kEchoTimer, kSealTimer, kPullTimer}));
  const auto sealed = w_.Observed<protocol::Sealed>();
  ASSERT_EQ(sealed.size(), 1u);
  EXPECT_EQ(sealed[0].decision, decision);
  EXPECT_EQ(sealed[0].iteration, 0u);
}

TEST_F(SealingTest, MutedMemberIsNoWitnessOfAFork) {
  w_.facts.muted = {w_.Id(5)};
  w_.HearPhaseA();
  OpenA();
  sealing_.Drive(true);
  Utter();
  const SealVector vector = VectorNow();
  const auto rival_of_4 = EchoBy(4, SealVector(2 * w_.count()));
  const auto rival_of_5 = EchoBy(5, SealVector(2 * w_.count()));
  for (std::size_t i = 1; i < 5; ++i) Accept(EchoBy(i, vector));
  ASSERT_TRUE(sealing_.Drive(true));
  sealing_.TakeWatches();
  sealing_.Close();
  EXPECT_TRUE(w_.fork_watch.IsRival(*rival_of_4));
  EXPECT_FALSE(w_.fork_watch.IsRival(*rival_of_5));
}

TEST_F(SealingTest, NothingReachesASealThatIsClosed) {
  DecideA();
  sealing_.TakeWatches();
  sealing_.Close();
  w_.out.actions().clear();
  sealing_.OnEchoTimer();
  sealing_.OnSealTimer();
  sealing_.OnVector(w_.voice.SlotOf(StepWorld::kStep, Phase::kA, MessageType::kVector), {});
  sealing_.OnAccepted(*w_.Commit(1));
  EXPECT_FALSE(sealing_.IsStuck());
  EXPECT_TRUE(w_.out.actions().empty());
}

// --- what it measures ---

// Honest members open seal A when they have settled the step before, which takes some longer: a
// member that did not see that step end says nothing of their haste.
TEST_F(SealingTest, EchoBeforeTheDeadlineIsHastyOnlyIfThisMemberSawTheStepBeforeEnd) {
  for (const bool saw : {false, true}) {
    StepWorld w;
    Sealing sealing(w, w.charges, w.reports, w.fork_watch, w.past_seals, w.pull, w.facts);
    sealing.Open(Phase::kA, 0, kDeadline, saw ? std::optional(w.now()) : std::nullopt);
    const SealVector empty(2 * w.count());
    const auto early = w.Say(1, Phase::kA, MessageType::kEcho, wire::Encode(EchoOf(empty)));
    w.Hear(early);
    sealing.OnAccepted(*early);
    w.Go(base::Seconds(5));
    w.reports.TakeSeal(w.head().members, DigestOf(1), true, w.now(),
                       [](const Digest&) { return true; });
    wire::Proof proof;
    w.reports.StateIn(proof, w.head().members, 0);
    EXPECT_EQ(std::count_if(proof.hasty.begin(), proof.hasty.end(),
                            [](std::uint8_t byte) { return byte != 0; }),
              saw ? 1 : 0);
  }
}

TEST_F(SealingTest, EchoOfAnotherMemberArmsThePullTimer) {
  sealing_.Open(Phase::kA, 0, kDeadline, std::nullopt);
  w_.out.actions().clear();
  Accept(EchoBy(1, VectorNow()));
  std::optional<Time> pull_at;
  for (const SetTimer& timer : w_.Taken<SetTimer>()) {
    if (timer.id == kPullTimer) pull_at = timer.at;
  }
  EXPECT_EQ(pull_at, w_.now() + MomentOf(*w_.manifest));
}

}  // namespace
}  // namespace ostraka::protocol::sealing_test
