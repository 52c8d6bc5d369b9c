#include "node/protocol/step/step.h"

#include <gtest/gtest.h>

#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::step_test {
namespace {

using scene::DigestOf;
using wire::MessageType;
using wire::Phase;
using What = Outcome::What;

constexpr std::size_t kSelf = StepWorld::kSelf;

// Member 0 lives through a step. What the others say is made by hand.
class StepTest : public testing::Test {
 protected:
  StepTest() : step_(w_, w_, w_.stage, verifier_, std::nullopt) {
    w_.stage.Enter(Stage::kGenesis);
    w_.stage.Enter(Stage::kCollect);
    step_.Begin({});
  }

  void Accept(const wire::SharedMessage& message, const SharedBlob& blob = nullptr) {
    w_.Hear(message, blob);
    step_.OnAccepted(*message);
  }
  // Stores and jobs are done at once, and the step takes every transition that it can. Returns the
  // first outcome that is the member's to act on, else kWait.
  Outcome Pump() {
    for (bool more = true; more;) {
      more = false;
      for (const Journal::Own& own : w_.Utter()) {
        Accept(own.message, own.blob);
        more = true;
      }
      for (const StartJob& job : w_.Taken<StartJob>()) {
        more = true;
        const Outcome outcome = Finish(job);
        if (outcome.what != What::kWait) return outcome;
      }
      const Outcome outcome = step_.TryAdvance();
      step_.CheckInvariants();
      more = more || outcome.what == What::kGoOn;
      if (outcome.what == What::kGoOn) stages_.push_back(w_.stage.stage());
      if (outcome.what != What::kGoOn && outcome.what != What::kWait) return outcome;
    }
    return {};
  }
  Outcome Finish(const StartJob& job) {
    const auto taken = w_.jobs.Take(job.id);
    if (step_.Owns(job.id)) return step_.OnJob(job.id, *taken, w_.RunJob(job));
    w_.duty_jobs.Take(job.id, *taken, step_.number(), w_.RunJob(job));
    return {};
  }
  SealVector VectorNow() const {
    SealVector vector;
    const Entries& entries = step_.sealing().entries();
    for (std::size_t i = 0; i < entries.Count(); ++i) vector.push_back(entries.EntryNow(i));
    return vector;
  }
  // All others echo what this member holds.
  Outcome HearEchoes() {
    w_.facts = step_.facts();
    const wire::Slot slot = step_.sealing().slot();
    const base::Bytes body = wire::Encode(EchoOf(VectorNow()));
    for (std::size_t i = 1; i < w_.count(); ++i) {
      Accept(w_.Say(i, slot.phase, MessageType::kEcho, body, slot.draw));
    }
    return Pump();
  }
  void HearPhaseAOfOthers() {
    for (std::size_t i = 1; i < w_.count(); ++i) {
      Accept(w_.Commit(i));
      Accept(w_.Part(i, *w_.facts.my_column), w_.PartsOf(i)[*w_.facts.my_column]);
      Accept(w_.Aggregate(i));
      Accept(w_.Result(w_.ColumnOf(i)), w_.ResultOf(w_.ColumnOf(i)));
    }
  }
  void HearRevealsOfOthers(std::size_t but = 0) {
    w_.facts = step_.facts();
    const std::uint32_t draw = step_.sealing().slot().draw;
    for (std::size_t i = 1; i < w_.count(); ++i) {
      if (i != but) Accept(w_.Reveal(i, draw));
    }
  }
  void ReachSealB() {
    HearPhaseAOfOthers();
    Pump();
    HearEchoes();
    ASSERT_TRUE(w_.stage.is(Stage::kReveal));
  }
  void ReachSealC() {
    ReachSealB();
    HearRevealsOfOthers();
    Pump();
    HearEchoes();
    ASSERT_TRUE(w_.stage.is(Stage::kProve));
  }
  void HearProofsOfOthers() {
    w_.facts = step_.facts();
    for (std::size_t i = 1; i < w_.count(); ++i) Accept(w_.Proof(i));
  }
  std::optional<Time> TimerAt(TimerId id) {
    std::optional<Time> at;
    for (const SetTimer& timer : w_.Taken<SetTimer>()) {
      if (timer.id == id) at = timer.at;
    }
    return at;
  }

  StepWorld w_;
  crypto::PlainVerifier verifier_;
  Step step_;
  std::vector<Stage> stages_;
};

TEST_F(StepTest, HonestStepTakesEveryStageInOrderAndEndsWithTheNextState) {
  ReachSealC();
  HearProofsOfOthers();
  Pump();
  const ModelState before = w_.chain.state();
  EXPECT_FALSE(step_.ended());
  const Outcome outcome = HearEchoes();
  EXPECT_EQ(outcome.what, What::kBeginStep);
  EXPECT_EQ(stages_,
            (std::vector<Stage>{Stage::kReveal, Stage::kProve, Stage::kSettle, Stage::kUpdate}));
  EXPECT_EQ(step_.ended(), w_.now());
  EXPECT_EQ(w_.head().step, StepWorld::kStep);
  EXPECT_TRUE(w_.head().removals.empty());
  for (const auto fate : w_.head().columns) EXPECT_EQ(fate, wire::ColumnFate::kApplied);
  EXPECT_NE(*w_.chain.state().parameters, *before.parameters);
  for (const Phase phase : {Phase::kA, Phase::kB, Phase::kC}) {
    EXPECT_NE(w_.past_seals.Find({StepWorld::kStep, phase, 0}), nullptr);
  }
}

TEST_F(StepTest, StepBeginsWithSealAItsTimersAndTheOwnGradient) {
  const auto timers = w_.Taken<SetTimer>();
  std::map<TimerId, Time> at;
  for (const SetTimer& timer : timers) at[timer.id] = timer.at;
  EXPECT_EQ(at.at(kEchoTimer), w_.now() + base::Seconds(42));
  EXPECT_EQ(at.at(kBulkTimer), w_.now() + base::Seconds(22));  // parts, and two Delta to forward
  EXPECT_EQ(step_.pairs().forward_until(), w_.now() + base::Seconds(20));
  EXPECT_TRUE(step_.sealing().open());
  const auto jobs = w_.Taken<StartJob>();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<GradientSpec>(*jobs[0].spec));
  EXPECT_EQ(w_.Observed<StepStarted>().size(), 1u);
}

TEST_F(StepTest, StepWaitsUntilTheSealIsDecided) {
  HearPhaseAOfOthers();
  EXPECT_EQ(Pump().what, What::kWait);
  EXPECT_TRUE(step_.sealing().seal().wait_ended());
  EXPECT_TRUE(w_.stage.is(Stage::kCollect));
  EXPECT_TRUE(w_.Sent(MessageType::kReveal).empty());  // no coin before seal A
}

TEST_F(StepTest, CoinIsRevealedUnderTheDecisionOfSealA) {
  ReachSealB();
  const auto reveals = w_.Sent(MessageType::kReveal);
  ASSERT_EQ(reveals.size(), w_.count() - 1);
  EXPECT_EQ(reveals[0].envelope.entry, step_.facts().parent_b);
  EXPECT_FALSE(step_.facts().parent_b.is_zero());
  EXPECT_TRUE(step_.facts().parent_c.is_zero());
}

// --- T3 ---

TEST_F(StepTest, MemberThatIsSealedAbsentLeaves) {
  HearPhaseAOfOthers();
  step_.sealing().OnEchoTimer();  // before the own gradient is there
  for (const Journal::Own& own : w_.Utter()) Accept(own.message, own.blob);
  const base::Bytes body = wire::Encode(EchoOf(VectorNow()));
  for (std::size_t i = 1; i < w_.count(); ++i) {
    Accept(w_.Say(i, Phase::kA, MessageType::kEcho, body));
  }
  const Outcome outcome = step_.TryAdvance();
  EXPECT_EQ(outcome.what, What::kLeave);
  EXPECT_TRUE(outcome.trust_state);
  EXPECT_EQ(outcome.reason, "what this node sent in phase A came too late");
  EXPECT_FALSE(step_.sealing().open());
}

TEST_F(StepTest, SpoiltDrawIsFollowedByTheNextWithoutTheMemberThatSpoiltIt) {
  ReachSealB();
  HearRevealsOfOthers(3);
  Pump();
  EXPECT_FALSE(step_.sealing().seal().wait_ended());
  step_.sealing().OnEchoTimer();
  Pump();
  w_.Taken<Send>();
  EXPECT_EQ(HearEchoes().what, What::kWait);
  EXPECT_TRUE(w_.stage.is(Stage::kReveal));
  EXPECT_EQ(step_.sealing().slot().draw, 1u);
  EXPECT_EQ(step_.facts().muted, (std::set<PeerId>{w_.Id(3)}));
  const auto reveals = w_.Sent(MessageType::kReveal);
  ASSERT_EQ(reveals.size(), w_.count() - 1);
  EXPECT_EQ(reveals[0].envelope.slot.draw, 1u);
  HearRevealsOfOthers(3);
  Pump();
  EXPECT_TRUE(step_.sealing().seal().wait_ended());
}

// After a partition honest members may be absent: a quorum stays unmuted beside the faulty ones.
TEST_F(StepTest, MoreAbsentMembersThanLeaveAQuorumAreNotMuted) {
  const wire::Thresholds& bounds = w_.head().thresholds;
  const std::size_t absent = bounds.t_s - bounds.t_a + 1;
  for (std::size_t i = 1; i < w_.count(); ++i) {
    if (i + absent >= w_.count()) continue;
    Accept(w_.Commit(i));
    Accept(w_.Part(i, *w_.facts.my_column), w_.PartsOf(i)[*w_.facts.my_column]);
    Accept(w_.Aggregate(i));
  }
  step_.OnBulkTimer();
  Pump();
  step_.sealing().OnEchoTimer();
  Pump();
  HearEchoes();
  ASSERT_TRUE(w_.stage.is(Stage::kReveal));
  EXPECT_EQ(step_.facts().reading.absent.size(), absent);
  EXPECT_TRUE(step_.facts().muted.empty());
}

// --- timers, jobs ---

TEST_F(StepTest, BulkTimerEndsTheWaitForPartsAndLaterForResults) {
  step_.OnBulkTimer();
  EXPECT_TRUE(step_.column().closed());
  EXPECT_FALSE(step_.results().expired());
  ReachSealC();
  EXPECT_FALSE(step_.results().expired());
  step_.OnBulkTimer();
  EXPECT_TRUE(step_.results().expired());
}

TEST_F(StepTest, FailedJobHaltsTheMember) {
  const auto jobs = w_.Taken<StartJob>();
  ASSERT_EQ(jobs.size(), 1u);
  const auto taken = w_.jobs.Take(jobs[0].id);
  ASSERT_TRUE(step_.Owns(jobs[0].id));
  const Outcome outcome = step_.OnJob(jobs[0].id, *taken, JobFailed{"no memory"});
  EXPECT_EQ(outcome.what, What::kHalt);
  EXPECT_EQ(outcome.why, Halted::Why::kFailed);
  EXPECT_EQ(outcome.reason, "step 5: no memory");
}

TEST_F(StepTest, FailedAggregationHaltsNobody) {
  HearPhaseAOfOthers();
  for (bool failed = false; !failed;) {
    for (const Journal::Own& own : w_.Utter()) Accept(own.message, own.blob);
    step_.TryAdvance();
    const auto jobs = w_.Taken<StartJob>();
    ASSERT_FALSE(jobs.empty());
    for (const StartJob& job : jobs) {
      failed = std::holds_alternative<AggregateSpec>(*job.spec);
      if (!failed) {
        Finish(job);
        continue;
      }
      const auto taken = w_.jobs.Take(job.id);
      EXPECT_EQ(step_.OnJob(job.id, *taken, JobFailed{"no memory"}).what, What::kWait);
    }
  }
  EXPECT_EQ(Pump().what, What::kWait);
  EXPECT_TRUE(step_.sealing().seal().wait_ended());
}

TEST_F(StepTest, PullTimerAsksAgainWhileSomethingIsMissing) {
  ReachSealC();
  HearProofsOfOthers();
  w_.out.actions().clear();
  step_.OnPullTimer();
  EXPECT_FALSE(TimerAt(kPullTimer));  // nothing is missing
  EXPECT_TRUE(w_.Taken<Send>().empty());
}

TEST_F(StepTest, ResultFromAnybodyIsTakenInPhaseC) {
  for (std::size_t i = 1; i < w_.count(); ++i) {
    Accept(w_.Commit(i));
    Accept(w_.Part(i, *w_.facts.my_column), w_.PartsOf(i)[*w_.facts.my_column]);
    Accept(w_.Aggregate(i));
  }
  Pump();
  HearEchoes();
  HearRevealsOfOthers();
  Pump();
  HearEchoes();
  ASSERT_TRUE(w_.stage.is(Stage::kProve));
  const std::uint32_t column = w_.ColumnOf(2);
  EXPECT_TRUE(step_.results().IsMissing(column));
  w_.out.actions().clear();
  step_.OnPullTimer();
  EXPECT_FALSE(w_.Pulls().empty());
  step_.TakeResult(column, w_.ResultOf(column));
  EXPECT_FALSE(step_.results().IsMissing(column));
}

}  // namespace
}  // namespace ostraka::protocol::step_test
