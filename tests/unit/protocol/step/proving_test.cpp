#include "node/protocol/step/proving.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/protocol/ground/numbers.h"
#include "node/protocol/mail/timers.h"
#include "node/protocol/rules/recomputing.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::proving_test {
namespace {

using scene::DigestOf;
using wire::CaseKind;
using wire::MessageType;
using wire::Phase;

constexpr std::size_t kSelf = StepWorld::kSelf;
constexpr std::uint64_t kPast = 3;

// A member in phase C, whose gradient is there.
class ProvingTest : public testing::Test {
 protected:
  explicit ProvingTest(const StepWorld::Edit& edit = nullptr, std::uint32_t members = 6)
      : w_(edit, members),
        pairs_(w_, w_.server, w_.facts),
        gradient_(w_, w_.followers, w_.facts, pairs_),
        results_(w_, w_.facts),
        proving_(w_, w_.charges, w_.reports, w_.duties, w_.duty_jobs, w_.followers, w_.facts,
                 gradient_, results_, pairs_) {}
  void TearDown() override { proving_.CheckInvariants(); }

  void Work() {
    gradient_.Begin();
    for (const StartJob& job : w_.Taken<StartJob>()) gradient_.OnJob(w_.RunJob(job));
    for (const StartJob& job : w_.Taken<StartJob>()) gradient_.OnJob(w_.RunJob(job));
    w_.Utter();
    w_.out.actions().clear();
  }
  void ReachPhaseC() {
    w_.ReadA();
    w_.ReadB();
  }
  void HoldResults() {
    for (std::uint32_t j = 0; j < w_.facts.roles().parts.size(); ++j) {
      results_.Take(j, w_.ResultOf(j));
    }
    results_.TakeHeld();
    w_.StoredRecords(RecordKind::kResult);
  }
  // The job on the own numbers, which Try starts.
  void ProveNumbers() {
    EXPECT_FALSE(proving_.Try());
    const auto started = w_.Taken<StartJob>();
    ASSERT_EQ(started.size(), 1u);
    ASSERT_TRUE(std::holds_alternative<ProveSpec>(*started[0].spec));
    proving_.OnJob(started[0].id, w_.RunJob(started[0]));
  }
  std::optional<wire::Proof> Said() {
    const auto said = w_.UtterAndHear();
    if (said.size() != 1 || said[0]->envelope.slot.type != MessageType::kProof) return {};
    EXPECT_EQ(said[0]->envelope.entry, w_.facts.parent_c);
    return wire::Decode<wire::Proof>(said[0]->envelope.body).value();
  }
  // Step kPast is held, with a PROOF of every member and `result` in each column.
  void RememberStep(const SharedBlob& result) {
    PastStep past;
    past.members = w_.head().members;
    past.parameters = w_.chain.state().parameters;
    past.tau = 4.0;
    wire::Proof proof;
    for (std::uint32_t j = 0; j < w_.facts.roles().parts.size(); ++j) {
      past.columns.push_back({j, w_.facts.roles().parts[j], result, DigestOf(1)});
      past.fates.push_back(wire::ColumnFate::kSumCheck);
      proof.columns.emplace_back();
    }
    for (std::size_t i = 0; i < w_.count(); ++i) {
      past.proofs[w_.Id(i)] = w_.Say(i, Phase::kC, MessageType::kProof, wire::Encode(proof));
    }
    w_.chain.Remember(kPast, std::move(past));
  }

  StepWorld w_;
  DisputedPairs pairs_;
  OwnGradient gradient_;
  Results results_;
  Proving proving_;
};

class ValidatorTest : public ProvingTest {
 protected:
  ValidatorTest() : ProvingTest(Validates(kSelf, 2, kPast)) {}
  // The PROOF, which is said only after the recomputation.
  std::optional<wire::Proof> SayAfter(const RecomputeResult& found) {
    RememberStep(nullptr);
    Work();
    proving_.Begin();
    const auto started = w_.Taken<StartJob>();
    EXPECT_EQ(started.size(), 1u);
    ReachPhaseC();
    HoldResults();
    EXPECT_FALSE(proving_.Try());
    proving_.OnJob(started.at(0).id, found);
    EXPECT_TRUE(proving_.Try());
    return Said();
  }
};
class ExactProvingTest : public ProvingTest {
 protected:
  ExactProvingTest()
      : ProvingTest([](Manifest& manifest, Block&) {
          manifest.compute_profile = kExact;
          manifest.eps_g = 0;
        }) {}
};
class RootStepTest : public ProvingTest {
 protected:
  RootStepTest() : ProvingTest([](Manifest& manifest, Block&) { manifest.state_root_every = 5; }) {}
};
class GradientCaseTest : public ProvingTest {
 protected:
  GradientCaseTest() : ProvingTest(CaseOpen(CaseKind::kGradient, 1, 2, kPast), 8) {}
};
class CoverCaseTest : public ProvingTest {
 protected:
  CoverCaseTest() : ProvingTest(CaseOpen(CaseKind::kCover, 1, 2, kPast)) {}
};

TEST_F(ProvingTest, ProofStatesTheOwnNumbersAndIsSaidOnce) {
  Work();
  ReachPhaseC();
  HoldResults();
  proving_.Begin();
  EXPECT_TRUE(w_.Taken<StartJob>().empty());  // no validator, no case, no root
  ProveNumbers();
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  const wire::Proof expected = w_.ProofBody(kSelf);
  ASSERT_EQ(proof->columns.size(), expected.columns.size());
  for (std::size_t j = 0; j < expected.columns.size(); ++j) {
    EXPECT_TRUE(SameBits(proof->columns[j], expected.columns[j]));
  }
  EXPECT_FALSE(proof->accusation);
  EXPECT_FALSE(proof->state_root);
  EXPECT_EQ(proof->lag_us, w_.head().delta_us / 4);
  EXPECT_FALSE(proving_.Try());
  EXPECT_TRUE(w_.Taken<Store>().empty());
}

TEST_F(ProvingTest, NumbersWaitForResultsUntilThatWaitEnds) {
  Work();
  ReachPhaseC();
  EXPECT_FALSE(proving_.Try());
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  results_.Expire();
  ProveNumbers();
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  for (const wire::ColumnNumbers& numbers : proof->columns) EXPECT_TRUE(numbers.missing);
}

TEST_F(ProvingTest, NothingIsProvenBeforeTheCoinIsKnown) {
  w_.ReadA();
  EXPECT_DEATH(proving_.Try(), "CHECK failed");
}

TEST_F(ProvingTest, NumbersWaitForTheOwnGradient) {
  ReachPhaseC();
  HoldResults();
  EXPECT_FALSE(proving_.Try());
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  Work();
  ProveNumbers();
  EXPECT_TRUE(proving_.Try());
}

TEST_F(ProvingTest, WorkerWhosePartsAreLostSaysNoProof) {
  wire::Commit before = w_.CommitBody(kSelf);
  before.gradient_root = DigestOf(4);
  w_.Hear(w_.Say(kSelf, Phase::kA, MessageType::kCommit, wire::Encode(before)));
  Work();
  ASSERT_TRUE(gradient_.parts_lost());
  ReachPhaseC();
  HoldResults();
  results_.Expire();
  EXPECT_FALSE(proving_.Try());
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  EXPECT_TRUE(w_.Taken<Store>().empty());
}

// After a restart the seals of the step are there, and the gradient before the root of the
// parameters: whether the parts are those of the COMMIT is not known yet.
TEST_F(ExactProvingTest, PartsAreNotUsedBeforeTheyAreKnownToBeThoseOfTheCommit) {
  wire::Commit before = w_.CommitBody(kSelf);
  before.parameters_root = DigestOf(4);
  w_.Hear(w_.Say(kSelf, Phase::kA, MessageType::kCommit, wire::Encode(before)));
  gradient_.Begin();
  const auto begun = w_.Taken<StartJob>();
  ASSERT_EQ(begun.size(), 2u);
  gradient_.OnJob(w_.RunJob(begun[1]));
  for (const StartJob& job : w_.Taken<StartJob>()) gradient_.OnJob(w_.RunJob(job));
  ASSERT_FALSE(gradient_.parts().empty());
  ReachPhaseC();
  HoldResults();
  EXPECT_FALSE(proving_.Try());
  EXPECT_TRUE(w_.Taken<StartJob>().empty()) << "no numbers of them are worked out";
  gradient_.OnJob(w_.RunJob(begun[0]));
  ASSERT_TRUE(gradient_.parts_lost());
  proving_.CheckInvariants();
  EXPECT_FALSE(proving_.Try());
}

TEST_F(ProvingTest, ProofWaitsForTheCrossCheckOfTheStepBefore) {
  Work();
  ReachPhaseC();
  HoldResults();
  w_.duties.BeginCrossCheck(StepWorld::kStep - 1);
  ProveNumbers();
  EXPECT_FALSE(proving_.Try());
  w_.duties.ForgetCrossCheck();
  EXPECT_TRUE(proving_.Try());
}

TEST_F(ProvingTest, ProofCarriesTheEvidenceThatThisMemberHolds) {
  Work();
  ReachPhaseC();
  HoldResults();
  w_.charges.Show(w_.Id(3), Bytes{1, 2, 3});
  w_.Taken<Store>();
  ProveNumbers();
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->evidence, (std::vector<Bytes>{{1, 2, 3}}));
}

TEST_F(RootStepTest, ProofWaitsForTheStateRootAndTheStateIsServed) {
  proving_.Begin();
  const auto started = w_.Taken<StartJob>();
  ASSERT_EQ(started.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<RootSpec>(*started[0].spec));
  Work();
  ReachPhaseC();
  HoldResults();
  ProveNumbers();
  EXPECT_FALSE(proving_.Try());
  EXPECT_FALSE(proving_.state_root());
  EXPECT_TRUE(proving_.Owns(started[0].id));
  proving_.OnJob(started[0].id, w_.RunJob(started[0]));
  EXPECT_FALSE(proving_.Owns(started[0].id));
  EXPECT_EQ(proving_.state_root(), StateRoot(w_.chain.state(), w_.layout));
  EXPECT_NE(w_.chain.ServedAt(StepWorld::kStep), nullptr);
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->state_root, proving_.state_root());
}

TEST_F(ValidatorTest, ProofWaitsForTheRecomputationAndAccusesByIt) {
  RecomputeResult found;
  found.accuse = true;
  const auto proof = SayAfter(found);
  ASSERT_TRUE(proof);
  ASSERT_TRUE(proof->accusation);
  EXPECT_EQ(proof->accusation->target, w_.Id(2));
  EXPECT_EQ(proof->accusation->step, kPast);
}

TEST_F(ValidatorTest, RecomputationThatAgreesAccusesNobody) {
  const auto proof = SayAfter({});
  ASSERT_TRUE(proof);
  EXPECT_FALSE(proof->accusation);
}

TEST_F(ValidatorTest, StepThatIsNotHeldIsNotRecomputed) {
  Work();
  ReachPhaseC();
  results_.Expire();
  proving_.Begin();
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  EXPECT_TRUE(proof->columns.empty());  // no worker
}

TEST_F(GradientCaseTest, ProofWaitsForTheVotesThatThisStepAskedFor) {
  RememberStep(nullptr);
  Work();
  proving_.Begin();
  const auto started = w_.Taken<StartJob>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_TRUE(w_.duty_jobs.Owns(started[0].id));
  EXPECT_FALSE(proving_.Owns(started[0].id));
  ReachPhaseC();
  HoldResults();
  ProveNumbers();
  EXPECT_FALSE(proving_.Try());
  RecomputeResult found;
  found.convict = true;
  w_.duty_jobs.Take(started[0].id, {kPast, StepWorld::kStep}, StepWorld::kStep, found);
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  ASSERT_EQ(proof->votes.size(), 1u);
  EXPECT_EQ(proof->votes[0].verdict, wire::Verdict::kGuilty);
}

// Attack: members with slower machines were charged for every case that opened.
TEST_F(GradientCaseTest, ProofGoesOutWithoutTheVoteWhenOthersWouldFindItLate) {
  RememberStep(nullptr);
  Work();
  proving_.Begin();
  const auto started = w_.Taken<StartJob>();
  ASSERT_EQ(started.size(), 1u);
  ReachPhaseC();
  w_.out.actions().clear();
  proving_.BeginWait();
  const auto timers = w_.Taken<SetTimer>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].id, kProofTimer);
  EXPECT_EQ(timers[0].at - w_.now(),
            w_.manifest->patience + CaseTimeAfter(w_.head(), *w_.manifest));
  HoldResults();
  ProveNumbers();
  EXPECT_FALSE(proving_.Try());
  proving_.EndWait();
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  EXPECT_TRUE(proof->votes.empty());
  EXPECT_TRUE(w_.duty_jobs.Owns(started[0].id)) << "it votes in a later PROOF";
}

TEST_F(ValidatorTest, AnAccusationThatIsNotReadyInTimeIsGivenUp) {
  RememberStep(nullptr);
  Work();
  proving_.Begin();
  const auto started = w_.Taken<StartJob>();
  ASSERT_EQ(started.size(), 1u);
  ReachPhaseC();
  HoldResults();
  proving_.BeginWait();
  EXPECT_FALSE(proving_.Try());
  proving_.EndWait();
  EXPECT_TRUE(proving_.Try());
  const auto stopped = w_.Taken<StopJob>();
  ASSERT_EQ(stopped.size(), 1u);
  EXPECT_EQ(stopped[0].id, started[0].id);
  EXPECT_FALSE(proving_.Owns(started[0].id));
  const auto proof = Said();
  ASSERT_TRUE(proof);
  EXPECT_FALSE(proof->accusation);
}

TEST_F(GradientCaseTest, MemberThatHoldsNothingOfTheCaseAbstainsAndWaitsForNothing) {
  Work();
  proving_.Begin();
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  ReachPhaseC();
  HoldResults();
  ProveNumbers();
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  EXPECT_TRUE(proof->votes.empty());
}

TEST_F(CoverCaseTest, ExhibitsAreWaitedForAsLongAsOtherBulk) {
  Work();
  RememberStep(w_.ResultOf(0));
  ReachPhaseC();
  HoldResults();
  ASSERT_TRUE(w_.duties.AwaitsExhibits());
  ProveNumbers();
  EXPECT_FALSE(proving_.Try());
  results_.Expire();
  EXPECT_TRUE(proving_.Try());
}

TEST_F(CoverCaseTest, ExhibitThatComesIsJudgedBeforeTheProofIsSaid) {
  Work();
  RememberStep(w_.ResultOf(0));
  ReachPhaseC();
  HoldResults();
  ProveNumbers();
  w_.chain.KeepPart(kPast, {0, w_.Id(1)}, {nullptr, w_.PartsOf(1)[0]});
  EXPECT_FALSE(proving_.Try());
  const auto started = w_.Taken<StartJob>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<CrossCheckSpec>(*started[0].spec));
  w_.duty_jobs.Take(started[0].id, {StepWorld::kStep, StepWorld::kStep}, StepWorld::kStep,
                    CrossCheckResult{});
  EXPECT_TRUE(proving_.Try());
  const auto proof = Said();
  ASSERT_TRUE(proof);
  ASSERT_EQ(proof->votes.size(), 1u);
  EXPECT_EQ(proof->votes[0].verdict, wire::Verdict::kInnocent);
}

}  // namespace
}  // namespace ostraka::protocol::proving_test
