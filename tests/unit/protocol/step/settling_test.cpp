#include "node/protocol/step/settling.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "crypto/set_root.h"
#include "node/protocol/ground/stored_state.h"
#include "node/wire/bitmap.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::settling_test {
namespace {

using scene::DigestOf;
using wire::MessageType;
using What = Outcome::What;

constexpr std::uint64_t kStep = StepWorld::kStep;

// A member whose three seals are decided, with the work of all members sealed.
class SettlingTest : public testing::Test {
 protected:
  explicit SettlingTest(const StepWorld::Edit& edit = nullptr)
      : w_(edit),
        column_(w_, w_.charges, w_.reports, w_.facts),
        results_(w_, w_.facts),
        settling_(w_, w_.server, w_.charges, w_.reports, w_.duties, w_.duty_jobs, w_.followers,
                  w_.pace, w_.facts, column_, results_, clock_) {
    w_.ReadA();
    w_.ReadB();
    w_.ReadC();
  }
  void TearDown() override { settling_.CheckInvariants(); }

  void HoldResults(std::uint32_t but = UINT32_MAX) {
    for (std::uint32_t j = 0; j < w_.count(); ++j) {
      if (j != but) results_.Take(j, w_.ResultOf(j));
    }
    w_.out.actions().clear();
  }
  // The AGG of the column includes one worker: too few.
  void MakeVoid(std::uint32_t column) {
    wire::Aggregate& aggregate = *w_.facts.reading.sealed.aggregates[column];
    aggregate.included = wire::BitmapOf({w_.Id(1)}, w_.head().members);
    aggregate.commits_root = crypto::SetRoot({w_.Commit(1)->digest});
  }
  void Fault(std::size_t member, FaultKind kind) {
    NoteFault(w_.facts.reading.faults, w_.Id(member), kind, {.old_text = "a fault"});
  }
  void HoldParts() {
    for (std::size_t i = 0; i < w_.count(); ++i) {
      w_.Hear(w_.Commit(i));
      w_.HearPart(i, *w_.facts.my_column);
    }
    column_.Try();
    w_.out.actions().clear();
  }
  Outcome Settle(const std::optional<Digest>& own_root = std::nullopt) {
    settling_.Begin(DigestOf(600));
    return settling_.Try({own_root, std::nullopt});
  }
  // Runs the update that Settle started.
  Outcome Update() {
    for (const StartJob& job : w_.Taken<StartJob>()) {
      if (settling_.Owns(job.id)) return settling_.OnJob(w_.RunJob(job));
    }
    ADD_FAILURE() << "no update was started";
    return {};
  }

  StepWorld w_;
  OwnColumn column_;
  Results results_;
  StepClock clock_;
  Settling settling_;
};

class RootedSettlingTest : public SettlingTest {
 protected:
  RootedSettlingTest()
      : SettlingTest([](Manifest& manifest, Block&) { manifest.state_root_every = kStep; }) {
    for (auto& [member, proof] : w_.facts.reading.sealed.proofs) proof.state_root = DigestOf(1);
    HoldResults();
  }
};
class LastToTrainTest : public SettlingTest {
 protected:
  LastToTrainTest()
      : SettlingTest([](Manifest& manifest, Block&) { manifest.training.steps = kStep + 1; }) {}
};
class ClosingStepTest : public SettlingTest {
 protected:
  ClosingStepTest() : SettlingTest([](Manifest&, Block& head) { head.closing = 1; }) {}
};
class SixteenthBlockTest : public SettlingTest {
 protected:
  SixteenthBlockTest()
      : SettlingTest([](Manifest& manifest, Block& head) {
          manifest.state_root_every = 1;
          head.step = kStateEvery - 2;
        }) {}
};

// --- B1 ---

TEST_F(SettlingTest, BlockWaitsForTheResultOfEveryColumnThatItApplies) {
  HoldResults(2);
  EXPECT_EQ(Settle().what, What::kWait);
  EXPECT_TRUE(w_.Taken<Store>().empty());
  EXPECT_EQ(w_.head().step, kStep - 1);
  results_.Take(2, w_.ResultOf(2));
  w_.out.actions().clear();
  EXPECT_EQ(settling_.Try({}).what, What::kGoOn);
  EXPECT_EQ(w_.head().step, kStep);
  EXPECT_EQ(w_.head().decision, DigestOf(600));
  for (const auto fate : w_.head().columns) EXPECT_EQ(fate, wire::ColumnFate::kApplied);
}

TEST_F(SettlingTest, VoidColumnIsNotWaitedForAndNotApplied) {
  HoldResults(2);
  MakeVoid(2);
  EXPECT_EQ(Settle().what, What::kGoOn);
  EXPECT_EQ(w_.head().columns[2], wire::ColumnFate::kTooFewSenders);
}

TEST_F(SettlingTest, ResultOfAVoidColumnThatIsHeldIsNotApplied) {
  HoldResults();
  MakeVoid(2);
  ASSERT_EQ(Settle().what, What::kGoOn);
  for (const StartJob& job : w_.Taken<StartJob>()) {
    const auto* update = std::get_if<UpdateSpec>(job.spec.get());
    if (update == nullptr) continue;
    EXPECT_EQ(update->columns.size(), w_.facts.roles().parts.size() - 1);
    for (const auto& applied : update->columns) EXPECT_NE(applied.result, w_.ResultOf(2));
  }
}

// --- V1 ---

// After a restart parts of others may be held: a naming of one of these does not count, so the
// member would be dropped for the name that it owes.
TEST_F(SettlingTest, OwnerChecksOnlyTheSendersThatItsSealedAggIncludes) {
  HoldResults();
  HoldParts();
  MakeVoid(*w_.facts.my_column);
  const PeerId included = w_.Id(1);  // alone
  ASSERT_GT(column_.held().size(), 1U);
  ASSERT_EQ(Settle().what, What::kGoOn);
  std::vector<PeerId> checked;
  for (const StartJob& job : w_.Taken<StartJob>()) {
    const auto* check = std::get_if<CrossCheckSpec>(job.spec.get());
    if (check == nullptr) continue;
    for (const auto& claim : check->claims) checked.push_back(claim.peer);
  }
  EXPECT_EQ(checked, std::vector<PeerId>{included});
}

// --- B2 ---

TEST_F(SettlingTest, BlockIsStoredBeforeTheUpdateBegins) {
  HoldResults();
  ASSERT_EQ(Settle().what, What::kGoOn);
  EXPECT_TRUE(settling_.updating());
  std::optional<std::size_t> stored, updates;
  const auto& actions = w_.out.actions();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto* store = std::get_if<Store>(&actions[i]);
    if (store != nullptr && store->records[0].kind == RecordKind::kBlock) stored = i;
    const auto* job = std::get_if<StartJob>(&actions[i]);
    if (job != nullptr && settling_.Owns(job->id)) updates = i;
  }
  ASSERT_TRUE(stored && updates);
  EXPECT_LT(*stored, *updates);
  EXPECT_NE(w_.chain.recent().Find(HeightOf(w_.head())), nullptr);
}

TEST_F(SettlingTest, UpdateGivesTheNextState) {
  HoldResults();
  const ModelState before = w_.chain.state();
  Settle();
  EXPECT_EQ(w_.chain.state().parameters, before.parameters);
  EXPECT_EQ(Update().what, What::kBeginStep);
  EXPECT_NE(*w_.chain.state().parameters, *before.parameters);
  const auto seen = w_.Taken<Observe>();
  EXPECT_EQ(
      std::count_if(seen.begin(), seen.end(),
                    [](const Observe& one) { return std::holds_alternative<StepDone>(one.what); }),
      1);
  EXPECT_TRUE(w_.StoredRecords(RecordKind::kState).empty());
}

TEST_F(SixteenthBlockTest, StateIsStoredOnceInSixteenBlocks) {
  HoldResults();
  ASSERT_EQ(Settle().what, What::kGoOn);
  ASSERT_EQ(HeightOf(w_.head()), kStateEvery);
  Update();
  EXPECT_EQ(w_.StoredRecords(RecordKind::kState).size(), 1u);
}

// --- B3, and other ends ---

TEST_F(RootedSettlingTest, MemberWhoseStateDiffersLeavesAndTrustsItNoMore) {
  const Outcome outcome = Settle(DigestOf(2));
  EXPECT_EQ(outcome.what, What::kLeave);
  EXPECT_FALSE(outcome.trust_state);
  EXPECT_NE(outcome.reason.find("DIVERGED"), std::string::npos);
  EXPECT_TRUE(w_.Taken<Store>().empty());
  EXPECT_EQ(w_.head().step, kStep - 1);
}

TEST_F(RootedSettlingTest, MemberWithTheSealedStateGoesOn) {
  EXPECT_EQ(Settle(DigestOf(1)).what, What::kGoOn);
  EXPECT_EQ(w_.head().state_root, DigestOf(1));
}

TEST_F(RootedSettlingTest, MemberThatComputedNoRootGoesOn) {
  EXPECT_EQ(Settle(std::nullopt).what, What::kGoOn);
}

TEST_F(SettlingTest, BannedMemberHaltsAndKeepsTheBlockThatSaysSo) {
  HoldResults();
  Fault(StepWorld::kSelf, FaultKind::kBan);
  const Outcome outcome = Settle();
  EXPECT_EQ(outcome.what, What::kHalt);
  EXPECT_EQ(outcome.why, Halted::Why::kBanned);
  EXPECT_EQ(w_.StoredRecords(RecordKind::kBlock).size(), 1u);
  for (const StartJob& job : w_.Taken<StartJob>()) EXPECT_FALSE(settling_.Owns(job.id));
}

TEST_F(SettlingTest, DroppedMemberLeavesOnceItHasTheNextState) {
  HoldResults();
  Fault(StepWorld::kSelf, FaultKind::kDrop);
  EXPECT_EQ(Settle().what, What::kGoOn);
  const Outcome outcome = Update();
  EXPECT_EQ(outcome.what, What::kLeave);
  EXPECT_TRUE(outcome.trust_state);
  EXPECT_EQ(outcome.reason, "dropped: a fault");
}

TEST_F(SettlingTest, MessagesOfARemovedMemberAreForgottenAfterTheStepAndItsFileIsShownNoMore) {
  HoldResults();
  Fault(3, FaultKind::kBan);
  w_.charges.Show(w_.Id(3), Bytes{1});
  w_.Hear(w_.Commit(3));
  wire::Slot next = w_.Commit(3)->envelope.slot;
  ++next.step;
  w_.Hear(wire::Share(
      wire::Seal({next, DigestOf(1), w_.Id(3), wire::Encode(w_.CommitBody(3))}, *w_.keys[3])));
  const PeerId banned = w_.Id(3);
  ASSERT_EQ(Settle().what, What::kGoOn);
  EXPECT_FALSE(IsMember(w_.head().members, banned));
  EXPECT_EQ(w_.inbox.Find(Inbox::PlaceOf(next), banned), nullptr);
  EXPECT_NE(w_.inbox.Find(w_.facts.PlaceOf(wire::Phase::kA, MessageType::kCommit), banned),
            nullptr);
  EXPECT_FALSE(w_.charges.Against(banned));
}

TEST_F(LastToTrainTest, ClosingStepFollows) {
  HoldResults();
  Settle();
  EXPECT_EQ(Update().what, What::kBeginStep);
  EXPECT_EQ(w_.head().closing, 1);
  EXPECT_EQ(w_.Taken<Observe>().size(), 2u) << "its times and its end";
}

TEST_F(ClosingStepTest, RunWhoseStateIsSealedIsFinished) {
  for (auto& [member, proof] : w_.facts.reading.sealed.proofs) proof.state_root = DigestOf(1);
  Settle();
  EXPECT_EQ(Update().what, What::kFinish);
  EXPECT_EQ(w_.head().state_root, DigestOf(1));
}

TEST_F(ClosingStepTest, RunWhoseStateIsNotSealedAsksOnceMore) {
  Settle();
  EXPECT_EQ(Update().what, What::kBeginStep);
  EXPECT_EQ(w_.head().closing, 2);
}

// --- what the step leaves behind ---

TEST_F(SettlingTest, NumbersOfAllWorkersAreCheckedAgainstThePartsOfTheOwnColumn) {
  HoldResults();
  HoldParts();
  Settle();
  std::size_t checks = 0;
  for (const StartJob& job : w_.Taken<StartJob>()) {
    const auto* check = std::get_if<CrossCheckSpec>(job.spec.get());
    if (check == nullptr) continue;
    ++checks;
    EXPECT_EQ(check->column.part_index, *w_.facts.my_column);
    EXPECT_EQ(check->claims.size(), w_.facts.roles().workers.size());
    EXPECT_TRUE(std::get<CrossCheckResult>(w_.RunJob(job)).liars.empty());
  }
  EXPECT_EQ(checks, 1u);
  EXPECT_TRUE(w_.duties.AwaitsCrossCheck());
}

TEST_F(SettlingTest, StepIsRememberedWithThePartsOfTheOwnColumn) {
  HoldResults();
  HoldParts();
  const Digest randomness = w_.head().randomness;
  const ModelState before = w_.chain.state();
  Settle();
  const PastStep* past = w_.chain.Past(kStep);
  ASSERT_NE(past, nullptr);
  EXPECT_EQ(past->parameters, before.parameters);
  EXPECT_EQ(past->batches.randomness, randomness);
  EXPECT_EQ(past->columns.size(), w_.facts.roles().parts.size());
  EXPECT_EQ(past->proofs.size(), w_.facts.roles().workers.size());
  EXPECT_EQ(past->parts.size(), w_.facts.roles().workers.size());
  EXPECT_TRUE(past->parts.contains({*w_.facts.my_column, w_.facts.roles().workers[1]}));
}

TEST_F(SettlingTest, FollowerIsShownTheNewHead) {
  const PeerId follower = scene::PeerNumber(77);
  w_.followers.Note(follower, w_.now(), 0, 0);
  HoldResults();
  Settle();
  Update();
  const auto heads = w_.Sent(MessageType::kBlock);
  ASSERT_EQ(heads.size(), 1u);
  EXPECT_EQ(heads[0].to, follower);
  EXPECT_EQ(heads[0].envelope.slot.step, kStep);
}

TEST_F(SettlingTest, FollowerThatAsksForNothingIsGoneAfterItsTime) {
  const PeerId follower = scene::PeerNumber(77);
  w_.followers.Note(follower, w_.now(), 0, 0);
  w_.Go(base::Seconds(60 + 6) + base::Nanoseconds(1));  // a minute, and a Delta a member
  HoldResults();
  Settle();
  Update();
  EXPECT_FALSE(w_.followers.Contains(follower));
}

TEST_F(SettlingTest, MemberWithOtherParametersThanTheRunLeavesAndTrustsThemNoMore) {
  HoldResults();
  w_.facts.reading.sealed.parameters_root = DigestOf(1);
  settling_.Begin(DigestOf(600));
  const Outcome outcome = settling_.Try({.state = std::nullopt, .parameters = DigestOf(2)});
  EXPECT_EQ(outcome.what, What::kLeave);
  EXPECT_FALSE(outcome.trust_state);
  EXPECT_EQ(w_.head().step, kStep - 1);
  EXPECT_EQ(settling_.Try({.state = std::nullopt, .parameters = DigestOf(1)}).what, What::kGoOn);
}

TEST_F(SettlingTest, CommitsOfWorkersAreKeptAsTheySignedThem) {
  HoldResults();
  ASSERT_EQ(Settle().what, What::kGoOn);
  const PastStep* past = w_.chain.Past(kStep);
  ASSERT_NE(past, nullptr);
  ASSERT_EQ(past->commit_frames.size(), w_.count());
  EXPECT_EQ(*past->commit_frames.at(w_.Id(2)), *w_.Commit(2)->frame);
}

}  // namespace
}  // namespace ostraka::protocol::settling_test
